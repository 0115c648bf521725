package journal

import (
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

// caughtUp is a difference found at a start: the saved state against the house.
func caughtUp(seq uint64, at time.Time, old, now *home.State) home.Change {
	c := home.Change{Seq: seq, Kind: home.StateChanged, At: at, Old: old, New: now, CaughtUp: true}
	if c.Kind, c.Entity = home.StateRemoved, old.ID; now != nil {
		c.Kind, c.Entity = home.StateChanged, now.ID
	}
	return c
}

// restart begins a new run that knows the registries, as after a load.
func (r *rig) restart() {
	r.t.Helper()
	r.start()
	r.w.Apply(home.Report{Kind: home.ReportEntities, At: r.tick(), Registries: testHouse()})
	r.query(Query{}) // begun
}

func TestKnown_AStartTellsNothingTwice(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	guest := *r.hs.View().State("input_boolean.guest_mode")
	lamp := *r.hs.View().State("light.ceiling_lights")
	note := *r.hs.View().State("input_text.note")
	window := *r.hs.View().State("binary_sensor.kuchenfenster")
	r.pass(time.Minute)
	ctx := home.Context{ID: r.ctx()}
	r.set("input_boolean.guest_mode", "on", "", ctx)
	r.set("light.ceiling_lights", "off", `{"brightness":200}`, ctx)
	r.set("binary_sensor.kuchenfenster", "unavailable", "", home.Context{})
	r.w.Apply(home.Report{Kind: home.ReportStates, At: r.tick(), Patches: []home.Patch{{ID: "input_text.note", Removed: true}}})
	guestNow, lampNow := *r.hs.View().State("input_boolean.guest_mode"), *r.hs.View().State("light.ceiling_lights")
	windowNow := *r.hs.View().State("binary_sensor.kuchenfenster")
	before := r.query(Query{}).Total
	r.stop()

	r.restart()
	gaps := r.query(Query{Kinds: []RowKind{KindGap}}).Total
	old := r.query(Query{}).Total - gaps
	if old > before {
		t.Fatalf("%d rows became %d", before, old)
	}
	at := r.tick()
	later := lampNow // its effect, which no rule keeps, changed once more
	later.Updated, later.Attrs = at, []byte(`{"brightness":200,"friendly_name":"Lamp"}`)
	r.j.feed([]home.Change{
		caughtUp(1, at, &guest, &guestNow), caughtUp(2, at, &lamp, &later), caughtUp(3, at, &window, &windowNow), caughtUp(4, at, &note, nil),
	}, 0)
	if got := r.query(Query{}).Total - gaps; got != old {
		t.Errorf("%d rows, %d before: %v", got, old, values(r.query(Query{})))
	}
	if n := r.count("journal.filtered.known"); n != 4 {
		t.Errorf("%d were known, want 4", n)
	}
	r.balanced()
}

func TestKnown_WhatTheCrashLostIsTold(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	lamp := *r.hs.View().State("light.ceiling_lights")
	r.pass(time.Minute)
	at := r.set("light.ceiling_lights", "off", "", home.Context{ID: r.ctx()})
	r.query(Query{})
	r.stop()

	r.restart()
	now := lamp
	now.Value, now.Changed, now.Updated = "off", at, at.Add(time.Second)
	now.Attrs = []byte(`{"brightness":7}`)
	r.j.feed([]home.Change{caughtUp(1, r.tick(), &lamp, &now)}, 0)
	p := r.query(Query{Entities: []home.EntityID{"light.ceiling_lights"}})
	if got := strings.Join(values(p), " "); got != ">on on>off off>off" {
		t.Errorf("got %s, want the attributes that changed after the last row", got)
	}
	if !strings.Contains(string(p.Rows[0].Attrs), "7") || !p.Rows[0].CaughtUp {
		t.Errorf("%+v", p.Rows[0])
	}
	if w := r.why(WhyQuery{Entity: "light.ceiling_lights"}); !strings.Contains(w.Summary, "(found when Hearth connected)") {
		t.Errorf("a difference found at a start is told as %q", w.Summary)
	}
	r.balanced()
}
