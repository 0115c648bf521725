package toolbox

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

// diary is a test box with a real journal, over a disk that can be full.
type diary struct {
	*Box
	w    *mirror.Writer
	db   *store.DB
	full atomic.Bool
}

func newDiary(t *testing.T) *diary {
	t.Helper()
	d := &diary{}
	d.Box, d.w = testBox(t)
	d.Now = nil
	var err error
	if d.db, err = store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "hearth.db")}, nil, d.Health); err != nil {
		t.Fatal(err)
	}
	d.Journal = journal.New(journal.Config{}, d.db, d.House, nil, d.Health)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := d.Journal.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		d.full.Store(false)
		cancel()
		wg.Wait()
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// happens lets Home Assistant fire an event by user.
func (d *diary) happens(kind, data, user string) {
	at := time.Now()
	d.w.Apply(home.Report{Kind: home.ReportEvent, At: at, Event: &home.Event{Type: kind, Fired: at, Origin: "LOCAL", Context: home.Context{ID: home.NewID("ctx_"), User: user}, Data: []byte(data)}})
}

// fill makes the disk full: SQLite's own error, from a row that waits.
func (d *diary) fill(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, full := db.Exec("PRAGMA max_page_count = 2; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))")
	d.full.Store(true)
	d.db.Append(rowFunc(func() error {
		if d.full.Load() {
			return full
		}
		return nil
	}))
}

type rowFunc func() error

func (f rowFunc) Write(*store.Tx) error { return f() }

func TestHearthStatus_CountsWhatTheDiskDoesNotTake(t *testing.T) {
	d := newDiary(t)
	says := func() map[string]any { return ask(t, d.Box, "hearth_status", `{}`)["journal"].(map[string]any) }
	if got := says(); got["waiting"] != 0.0 || got["lost"] != nil {
		t.Errorf("%v", got)
	}
	d.fill(t)
	err := d.Journal.Record(t.Context(), home.CallRecord{ID: "call_full", At: time.Now(), Tool: "service_call", Class: home.Act, Who: "test"})
	if err == nil || !strings.Contains(err.Error(), "waits in memory") {
		t.Fatalf("%v", err)
	}
	if got := says(); got["waiting"] != 2.0 {
		t.Errorf("%v", got)
	}
	d.full.Store(false)
	if got := says(); got["waiting"] != 0.0 {
		t.Errorf("%v", got)
	}
}
