package journal

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// diskFull is SQLite's own answer of a disk without room.
func diskFull(t *testing.T) error {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("PRAGMA max_page_count = 2; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))")
	if err == nil {
		t.Fatal("a database of two pages took it all")
	}
	return err
}

// fullStore is a journal over a store whose disk has no room until free says so.
func fullStore(t *testing.T, queue int) (j *Journal, db *store.DB, h *health.Registry, free *atomic.Bool) {
	t.Helper()
	h, free = new(health.Registry), new(atomic.Bool)
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "hearth.db"), Queue: queue}, nil, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	j = New(Config{}, db, nil, nil, h)
	j.begin(t.Context())
	full := diskFull(t)
	db.Append(writes(func(*store.Tx) error {
		if free.Load() {
			return nil
		}
		return full
	}))
	return j, db, h, free
}

func TestRecord_WaitsForAFullDisk(t *testing.T) {
	j, db, h, free := fullStore(t, 0)
	err := j.Record(t.Context(), home.CallRecord{ID: "call_waits", At: time.Now(), Tool: "service_call", Class: home.Act, Who: "x"})
	if err == nil || !strings.Contains(err.Error(), "waits in memory") {
		t.Fatalf("%v", err)
	}
	if j.Unwritten() != 2 || j.Lost() != 0 {
		t.Errorf("%d unwritten, %d lost", j.Unwritten(), j.Lost())
	}
	if _, lit := h.Has(health.StoreFull); !lit {
		t.Error("no condition")
	}
	free.Store(true)
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := j.Query(t.Context(), home.Everything(), Query{Kinds: []RowKind{KindOwn}})
	if err != nil || p.Total != 1 || p.Rows[0].Call != "call_waits" {
		t.Errorf("%v %+v", err, p.Rows)
	}
}

func TestRecord_WithoutRoomIsCounted(t *testing.T) {
	j, db, _, free := fullStore(t, 1)
	at := time.Now().Add(-time.Second)
	err := j.Record(t.Context(), home.CallRecord{ID: "call_lost", At: at, Tool: "service_call", Class: home.Act, Who: "x"})
	if err == nil || !strings.Contains(err.Error(), "could not be written into the journal") {
		t.Fatalf("%v", err)
	}
	if j.Lost() != 1 {
		t.Errorf("%d lost", j.Lost())
	}
	free.Store(true)
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := j.Query(t.Context(), home.Everything(), Query{Kinds: []RowKind{KindGap}})
	if err != nil || p.Coverage.Complete || !strings.Contains(p.Rows[0].What+p.Rows[len(p.Rows)-1].What, "queue was full") {
		t.Errorf("%v %+v", err, p)
	}
}
