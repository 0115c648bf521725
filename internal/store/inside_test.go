package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hearth/internal/health"
	"hearth/internal/home"
)

type put struct{ key string }

func (p put) Write(tx *Tx) error {
	_, err := tx.Exec("INSERT INTO blob (key, data, saved_ms) VALUES (?, zeroblob(2000), 0)", p.key)
	return err
}

func openTest(t *testing.T, h *health.Registry) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "hearth.db")}, nil, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestDisk_RefusesAndRecovers makes SQLite itself answer "full" and "read-only".
func TestDisk_RefusesAndRecovers(t *testing.T) {
	for name, pragma := range map[string][2]string{
		"full":      {"PRAGMA max_page_count = 60", "PRAGMA max_page_count = 1000000"},
		"read-only": {"PRAGMA query_only = 1", "PRAGMA query_only = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			h := new(health.Registry)
			db := openTest(t, h)
			if _, err := db.conn.ExecContext(t.Context(), pragma[0]); err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				if !db.Append(put{fmt.Sprintf("k%d", i)}) {
					t.Fatal("refused although there is room in memory")
				}
			}
			err := db.Flush(t.Context())
			var he *home.Error
			if !errors.As(err, &he) || he.Hint == "" {
				t.Fatalf("got %v, want an error with a hint", err)
			}
			if _, lit := h.Has(health.StoreFull); !lit {
				t.Fatal("no condition")
			}
			if err := db.Commit(t.Context(), put{"mine"}); err == nil {
				t.Fatal("Commit said yes")
			}
			if w := db.Waiting(); w != 300 {
				t.Fatalf("%d wait, want all 300", w)
			}
			if _, err := db.conn.ExecContext(t.Context(), pragma[1]); err != nil {
				t.Fatal(err)
			}
			if err := db.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, lit := h.Has(health.StoreFull); lit {
				t.Fatal("the condition stays lit")
			}
			var n int
			if err := db.Reader().QueryRow("SELECT count(*) FROM blob").Scan(&n); err != nil || n != 300 {
				t.Fatalf("%d rows, %v", n, err)
			}
		})
	}
}

func TestClose_CountsWhatItCouldNotKeep(t *testing.T) {
	h := new(health.Registry)
	db := openTest(t, h)
	if _, err := db.conn.ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	db.Append(put{"a"}, put{"b"})
	if err := db.Close(); err == nil {
		t.Fatal("no error")
	}
	if n := h.Counter("store.lost").Load(); n != 2 {
		t.Fatalf("%d lost, want 2", n)
	}
	if db.Append(put{"c"}) {
		t.Fatal("Append on a closed database said yes")
	}
}

func TestOpen_Errors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	db, err := Open(t.Context(), Config{Path: newer}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.conn.ExecContext(t.Context(), "PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for name, c := range map[string]Config{
		"no path":       {},
		"no database":   {Path: text},
		"newer":         {Path: newer},
		"a folder":      {Path: dir},
		"under a file":  {Path: filepath.Join(text, "x", "hearth.db")},
		"bad interval":  {Path: newer, Every: -1},
		"bad row count": {Path: newer, Rows: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := Open(t.Context(), c, nil, nil)
			var he *home.Error
			if db != nil || !errors.As(err, &he) || he.Hint == "" {
				t.Fatalf("got %v, want an error with a hint", err)
			}
		})
	}
}

// TestMigrate_OldFixture opens a file written when the schema had number 1.
func TestMigrate_OldFixture(t *testing.T) {
	b, err := os.ReadFile("testdata/schema1.db")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hearth.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), Config{Path: path}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	data, at, err := db.Blob(t.Context(), "mirror.states")
	if err != nil || string(data) != "old snapshot" || at.UnixMilli() != 1700000000000 {
		t.Fatalf("%q %v %v", data, at, err)
	}
	var name string
	if err := db.Reader().QueryRow("SELECT name FROM token WHERE id = 'tok_0123456789'").Scan(&name); err != nil || name != "first" {
		t.Fatal(name, err)
	}
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	var version int
	if err := db.Reader().QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != len(steps) {
		t.Fatalf("schema %d, want %d: %v", version, len(steps), err)
	}
	if got, want := layout(t, db), layout(t, openTest(t, nil)); got != want {
		t.Errorf("migrated:\n%s\nfresh:\n%s", got, want)
	}
}

func layout(t *testing.T, db *DB) string {
	t.Helper()
	rows, err := db.Reader().Query("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestFiles_AreOurs(t *testing.T) {
	db := openTest(t, nil)
	if err := db.Commit(t.Context(), put{"x"}); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{db.path, db.path + "-wal", db.path + "-shm", backup} {
		fi, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
	}
	if db.Size() <= 0 {
		t.Error("no size")
	}
	again, err := Open(t.Context(), Config{Path: backup}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if b, _, err := again.Blob(t.Context(), "x"); err != nil || len(b) != 2000 {
		t.Fatal(len(b), err)
	}
}

func TestCheckpoint_BoundsTheLog(t *testing.T) {
	db := openTest(t, nil)
	for i := range 200 {
		if err := db.Commit(t.Context(), put{fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	before := db.walSize()
	db.restart(context.Background(), db.pool2(t))
	if after := db.walSize(); before == 0 || after != 0 {
		t.Fatalf("the write-ahead file had %d bytes and has %d", before, after)
	}
	var n int
	if err := db.Reader().QueryRow("SELECT count(*) FROM blob").Scan(&n); err != nil || n != 200 {
		t.Fatal(n, err)
	}
}

// pool2 is a connection like the checkpointer's.
func (d *DB) pool2(t *testing.T) *sql.DB {
	p, err := sql.Open("sqlite", dsn(d.path, 300, 64, "_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
