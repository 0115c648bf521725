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
	"hearth/internal/tool"
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

func TestJournalQuery_SaysWhatIsUnknown(t *testing.T) {
	d := newDiary(t)
	d.w.Apply(home.Report{Kind: home.ReportRegistry, At: time.Now(), Registries: &home.Registries{Users: []home.User{
		{ID: "u1", Name: "account-ann", Person: "person.ann"}, {ID: "u2", Name: "Änne Müller"}, {ID: "u3", Name: "Bob Müller"},
	}}})
	d.happens("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":"light.ceiling"}}`, "u1")
	d.happens("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":"light.ceiling"}}`, "u2")
	d.happens("automation_triggered", `{"name":"Gone","entity_id":"automation.gone","source":"state of light.old"}`, "")
	if err := d.Journal.Record(t.Context(), home.CallRecord{ID: "call_read", At: time.Now(), Tool: "entity_get", Who: "Claude desk"}); err != nil {
		t.Fatal(err)
	}
	reg := tool.NewRegistry(d.Tools()...)
	for _, c := range []struct{ args, want string }{
		{`{"user":"Änne"}`, `"total":1`}, {`{"user":"anne müller"}`, `"total":1`}, {`{"user":"person.ann"}`, `"total":1`}, {`{"user":"ann"}`, `"total":1`},
		{`{"user":"account-ann"}`, `"total":1`}, {`{"user":"u2"}`, `"total":1`}, {`{"user":"Bob Müller"}`, `"total":0`}, {`{"user":"claude"}`, `"total":1`},
		{`{"user":"Müller"}`, `ambiguous: 2 people, users or callers may be meant by "Müller": Änne Müller or Bob Müller`},
		{`{"user":"Nobody"}`, `not_found: no person, user or caller "Nobody"`}, {`{"user":"Anne Muler"}`, "Did you mean Änne Müller"},
		{`{"automation":"automation.gone"}`, `"total":1`}, {`{"automation":"automation.gone","state":"never"}`, `"total":0`},
		{`{"automation":"automation.nosuch"}`, `not_found: no entity "automation.nosuch"`}, {`{"automation":"light.ceiling"}`, "light.ceiling is no automation"},
		{`{"trigger_entity":"light.nosuch"}`, `not_found: no entity "light.nosuch"`}, {`{"trigger_entity":"light.ceiling"}`, `"total":0`},
		{`{"trigger_entity":"light.secret"}`, `not_found: no entity "light.secret"`},
		{`{"entity_id":["automation.gone"],"kinds":["state"]}`, `"total":0`}, {`{"entity_id":["light.nosuch"]}`, "not_found"},
		{`{"pattern":"["}`, `invalid: "[" in pattern`}, {`{"pattern":"lihgt.*"}`, `no entity id is like "lihgt.*"`}, {`{"pattern":"lock.*","state":"never"}`, `"total":0`},
		{`{"pattern":"AUTOMATION.G*"}`, `"total":1`}, {`{"domain":"lihgt"}`, `Did you mean light?`}, {`{"domain":"climate","state":"never"}`, `"total":0`},
		{`{"kinds":["hearth"]}`, `"call":"call_read"`}, {`{"text":"Claude"}`, `"call":"call_read"`},
	} {
		if got := said(reg.Call(t.Context(), reader(), "journal_query", []byte(c.args))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.args, got, c.want)
		}
	}
	if got := said(reg.Call(t.Context(), reader(), "journal_query", []byte(`{}`))); strings.Contains(got, "call_read") {
		t.Errorf("plain reads are listed: %s", got)
	}
	if got := said(reg.Call(t.Context(), reader(), "journal_why", []byte(`{"entity_id":"light.nosuch"}`))); !strings.Contains(got, `no entity "light.nosuch"`) {
		t.Error(got)
	}
}

func TestJournalWhy_RangeWordsAndCalls(t *testing.T) {
	d := newDiary(t)
	if err := d.Journal.Record(t.Context(), home.CallRecord{ID: "call_mine", At: time.Now(), Tool: "service_call", Class: home.Act, Who: "Claude"}); err != nil {
		t.Fatal(err)
	}
	reg := tool.NewRegistry(d.Tools()...)
	p := state("light.ceiling", "on", `{"friendly_name":"Ceiling"}`)
	at, c := time.Now(), home.Context{ID: "ctx"}
	p.Changed, p.Updated, p.Context = at, at, &c
	d.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: []home.Patch{p}})
	for _, c := range []struct{ args, want string }{
		{`{"entity_id":"light.ceiling","at":"today"}`, "Ceiling changed from off to on"},
		{`{"entity_id":"light.ceiling","at":"` + at.UTC().Format("2006-01-02") + `"}`, "Ceiling changed from off to on"},
		{`{"entity_id":"light.ceiling","at":"last night"}`, "no change of Ceiling (light.ceiling) from "},
		{`{"entity_id":"light.ceiling","at":"2019-01-01"}`, "no change of Ceiling (light.ceiling) from 2019-01-01 00:00:00 to 2019-01-02 00:00:00"},
		{`{"entity_id":"light.ceiling","at":"tomorrow"}`, "lies in the future"}, {`{"entity_id":"light.ceiling","at":"in 3h"}`, "lies in the future"},
		{`{"context_id":"call_mine"}`, `"summary":"Hearth ran service_call for Claude`}, {`{"context_id":"call_other"}`, `no call "call_other" is recorded`},
	} {
		if got := said(reg.Call(t.Context(), reader(), "journal_why", []byte(c.args))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.args, got, c.want)
		}
	}
}

func TestJournalRows_AreShort(t *testing.T) {
	for _, c := range []struct{ old, now, attrs, want string }{
		{"on", "off", `{"brightness":null,"color_mode":null}`, `{}`}, {"on", "off", `{"brightness":null,"effect":"x","a\"b":1}`, `{"effect":"x","a\"b":1}`},
		{"on", "on", `{"effect":null}`, `{"effect":null}`}, {"off", "on", `{"brightness":3}`, `{"brightness":3}`}, {"off", "on", "", ""},
	} {
		if got := present(journal.Row{Old: c.old, New: c.now, Attrs: []byte(c.attrs)}); string(got) != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	d := newDiary(t)
	d.happens("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":"light.ceiling"}}`, "u1")
	d.happens("automation_triggered", `{"name":"Gone","entity_id":"automation.gone","source":"state of light.old"}`, "")
	for by, want := range map[string]string{"entity": "1 of them has no entity and stands in no group", "kind": ""} {
		got := ask(t, d.Box, "journal_query", `{"kinds":["service","automation"],"group_by":"`+by+`"}`)
		if note, _ := got["note"].(string); note != want || got["total"] != 2.0 {
			t.Errorf("by %s: %v, want the note %q", by, got, want)
		}
	}
}
