package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/store"
)

// opener opens an empty database of one kind for a test.
type opener func(t *testing.T, c store.Config, h *health.Registry) *store.DB

func TestSQLite(t *testing.T) {
	contract(t, func(t *testing.T, c store.Config, h *health.Registry) *store.DB {
		c.Path = filepath.Join(t.TempDir(), "a #1?folder", "hearth.db")
		db, err := store.Open(t.Context(), c, nil, h)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	})
}

// line is a row of the blob table: key and one byte.
type line struct {
	key  string
	data []byte
}

func (l line) Write(tx *store.Tx) error {
	_, err := tx.Exec("INSERT INTO blob (key, data, saved_ms) VALUES (?, ?, 0)", l.key, l.data)
	return err
}

func lines(from, n int) []store.Row {
	var out []store.Row
	for i := range n {
		out = append(out, line{fmt.Sprintf("k%06d", from+i), []byte{1}})
	}
	return out
}

func count(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	if err := db.Reader().QueryRow("SELECT count(*) FROM blob").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// contract is what every kind of database must do.
func contract(t *testing.T, open opener) {
	t.Run("order", func(t *testing.T) { orders(t, open) })
	t.Run("faults", func(t *testing.T) { faults(t, open) })
	t.Run("rest", func(t *testing.T) { rest(t, open) })
}

// orders is what is written when.
func orders(t *testing.T, open opener) {
	t.Run("commit is visible and atomic", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		if err := db.Commit(t.Context(), lines(0, 3)...); err != nil {
			t.Fatal(err)
		}
		if err := db.Commit(t.Context(), line{"new", []byte{1}}, line{"k000001", []byte{1}}); err == nil {
			t.Fatal("a double key was accepted")
		}
		if n := count(t, db); n != 3 {
			t.Fatalf("%d rows, want 3: the failed commit left something", n)
		}
		if err := db.Commit(t.Context(), line{"new", []byte{1}}); err != nil {
			t.Fatalf("after a failed commit: %v", err)
		}
	})
	t.Run("commit follows what was appended", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		db.Append(lines(0, 10)...)
		if n := count(t, db); n != 0 || db.Waiting() != 10 {
			t.Fatalf("%d written, %d waiting before anything flushed", n, db.Waiting())
		}
		if err := db.Commit(t.Context(), dependent{"k000009"}); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db); n != 11 {
			t.Fatalf("%d rows, want 11", n)
		}
	})
	t.Run("run flushes by rows, by time and at the end", func(t *testing.T) {
		db := open(t, store.Config{Every: 20 * time.Millisecond, Rows: 50}, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- db.Run(ctx) }()
		db.Append(lines(0, 60)...)
		eventually(t, func() bool { return db.Waiting() == 0 })
		db.Append(lines(100, 1)...)
		eventually(t, func() bool { return db.Waiting() == 0 })
		db.Append(lines(200, 5)...)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if n := count(t, db); n != 66 {
			t.Fatalf("%d rows, want 66", n)
		}
	})
}

// faults is what happens to rows that cannot be kept.
func faults(t *testing.T, open opener) {
	t.Run("a faulty row does not take others with it", func(t *testing.T) {
		h := new(health.Registry)
		db := open(t, store.Config{}, h)
		rows := lines(0, 20)
		rows = append(rows, line{"k000003", []byte{2}}, faulty{})
		rows = append(rows, lines(20, 20)...)
		db.Append(rows...)
		if err := db.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db); n != 40 {
			t.Fatalf("%d rows, want 40", n)
		}
		if n := h.Counter("store.rejected").Load(); n != 2 {
			t.Fatalf("%d rejected, want 2", n)
		}
	})
	t.Run("append never blocks and says when it is full", func(t *testing.T) {
		h := new(health.Registry)
		db := open(t, store.Config{Queue: 2500}, h)
		fits := 0
		for i := range 7 {
			if db.Append(lines(i*1000, 1000)...) {
				fits += 1000
			}
		}
		if lost := h.Counter("store.lost").Load(); fits != 2000 || lost != 5000 {
			t.Fatalf("%d fitted, %d counted as lost", fits, lost)
		}
		if _, lit := h.Has(health.StoreFull); !lit {
			t.Fatal("no condition")
		}
		if err := db.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, lit := h.Has(health.StoreFull); lit || count(t, db) != fits {
			t.Fatalf("after writing: lit %v, %d rows of %d", lit, count(t, db), fits)
		}
	})
}

// rest is hooks, blobs and who waits for whom.
func rest(t *testing.T, open opener) {
	t.Run("rollback hooks run only on rollback", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		undone := 0
		if err := db.Commit(t.Context(), hooked{&undone, false}); err != nil || undone != 0 {
			t.Fatal(err, undone)
		}
		if err := db.Commit(t.Context(), hooked{&undone, true}); err == nil || undone != 1 {
			t.Fatal(err, undone)
		}
	})
	t.Run("blobs", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		if b, at, err := db.Blob(t.Context(), "mirror.states"); b != nil || !at.IsZero() || err != nil {
			t.Fatal(b, at, err)
		}
		for _, want := range []string{"one", "two", ""} {
			if err := db.PutBlob(t.Context(), "mirror.states", []byte(want)); err != nil {
				t.Fatal(err)
			}
			b, at, err := db.Blob(t.Context(), "mirror.states")
			if err != nil || string(b) != want || time.Since(at) > time.Minute {
				t.Fatalf("%q %v %v, want %q", b, at, err, want)
			}
		}
		if err := db.PutBlob(t.Context(), "mirror.states", nil); err != nil {
			t.Fatal(err)
		}
		if b, at, err := db.Blob(t.Context(), "mirror.states"); b != nil || !at.IsZero() || err != nil {
			t.Fatal("not removed:", b, at, err)
		}
	})
	t.Run("readers read while the writer writes", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 50 {
				if err := db.Commit(t.Context(), lines(i*10, 10)...); err != nil {
					t.Error(err)
				}
			}
		})
		last := 0
		for last < 500 {
			n := count(t, db)
			if n < last || n%10 != 0 {
				t.Fatalf("saw %d rows after %d: half a commit", n, last)
			}
			last = n
		}
		wg.Wait()
	})
	t.Run("a waiting commit gives up with its context", func(t *testing.T) {
		db := open(t, store.Config{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		held, free := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { _ = db.Commit(t.Context(), holding{held, free}) })
		<-held
		if err := db.Commit(ctx, line{"x", nil}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(free)
		wg.Wait()
	})
}

// eventually polls without sleeping: the store's own ticker drives the time.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("never happened")
		}
	}
}

// dependent fails unless the row it depends on is there before it.
type dependent struct{ on string }

func (d dependent) Write(tx *store.Tx) error {
	var key string
	if err := tx.QueryRow("SELECT key FROM blob WHERE key = ?", d.on).Scan(&key); err != nil {
		return err
	}
	return line{"after " + key, []byte{1}}.Write(tx)
}

type faulty struct{}

func (faulty) Write(*store.Tx) error { return errors.New("cannot") }

type hooked struct {
	undone *int
	fail   bool
}

func (h hooked) Write(tx *store.Tx) error {
	tx.OnRollback(func() { *h.undone++ })
	if h.fail {
		return errors.New("as asked")
	}
	return nil
}

type holding struct{ held, free chan struct{} }

func (h holding) Write(*store.Tx) error {
	close(h.held)
	<-h.free
	return nil
}
