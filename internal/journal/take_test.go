package journal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

func (r *rig) balanced() {
	r.t.Helper()
	r.query(Query{}) // everything taken
	seen, kept, filtered, lost := r.count("journal.seen"), r.count("journal.kept"), r.count("journal.filtered"), r.count("journal.lost")
	if seen != kept+filtered+lost {
		r.t.Errorf("%d seen, %d kept + %d filtered + %d lost", seen, kept, filtered, lost)
	}
	var rules int64
	for name, n := range r.h.Counters() {
		if strings.HasPrefix(name, "journal.filtered.") {
			rules += n
		}
	}
	if rules != filtered {
		r.t.Errorf("%d filtered, the rules count %d", filtered, rules)
	}
}

func TestTake_CountsEverything(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	guestMode(r)
	for i := range 100 {
		r.set("sensor.kitchen_power", fmt.Sprint(3+i%10), "", home.Context{ID: r.ctx()})
		r.set("sensor.time", fmt.Sprint("12:", i), "{}", home.Context{ID: r.ctx()})
	}
	r.event("some_event", `{}`, home.Context{})
	r.event("call_service", `{"broken`, home.Context{})
	r.balanced()
	if n := r.count("journal.filtered.power"); n < 90 {
		t.Errorf("power left out %d", n)
	}
	if n := r.count("journal.filtered.events"); n != 2 {
		t.Errorf("other events: %d", n)
	}
	if n := r.count("journal.filtered.attributes"); n == 0 {
		t.Error("no attribute-only change was counted")
	}
}

func TestTake_AvailabilityBothWays(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	for _, v := range []string{"100", "unavailable", "101", "unknown", "101", "102"} {
		r.set("sensor.kitchen_power", v, "", home.Context{ID: r.ctx()})
		r.pass(5 * time.Second)
	}
	r.set("image.door", "a", "{}", home.Context{})
	r.set("image.door", "unavailable", "", home.Context{})
	r.set("image.door", "b", "", home.Context{})
	r.set("image.door", "c", "", home.Context{})
	got := values(r.query(Query{Entities: []home.EntityID{"sensor.kitchen_power"}}))
	if want := "3>100 100>unavailable unavailable>101 101>unknown unknown>101"; strings.Join(got[len(got)-5:], " ") != want {
		t.Errorf("got %v, want … %s", got, want)
	}
	if got := strings.Join(values(r.query(Query{Entities: []home.EntityID{"image.door"}})), " "); got != "a>unavailable unavailable>b" {
		t.Error(got)
	}
	r.balanced()
}

// values gives old>new of the rows, oldest first.
func values(p Page) []string {
	var out []string
	for i := len(p.Rows) - 1; i >= 0; i-- {
		out = append(out, p.Rows[i].Old+">"+p.Rows[i].New)
	}
	return out
}

func TestTake_StormFoldsIntoOneRow(t *testing.T) {
	r := newRig(t)
	r.up()
	const n = 3000
	all := func(value string) {
		at := r.tick()
		var ps []home.Patch
		for i := range n {
			ps = append(ps, r.patch(fmt.Sprintf("switch.s%04d", i), value, "{}", home.Context{ID: r.ctx()}, at))
			if len(ps) == 100 {
				r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: ps})
				ps, at = nil, r.tick()
			}
		}
	}
	all("off")
	r.pass(time.Minute)
	all("unavailable")
	r.pass(time.Minute)
	all("on")
	p := r.query(Query{Kinds: []RowKind{KindState, KindBulk}})
	if p.Total != 3 {
		t.Fatalf("%d rows, want one each for appearing, going and coming back: %+v", p.Total, p.Rows)
	}
	for i, want := range []string{"became available", "became unavailable", "appeared"} {
		if row := p.Rows[i]; row.Kind != KindBulk || row.Count != n || row.What != want || row.Until.Before(row.At) {
			t.Errorf("%+v, want %s", row, want)
		}
	}
	one := r.query(Query{Entities: []home.EntityID{"switch.s2999"}})
	if got := strings.Join(values(one), " "); got != ">off off>unavailable unavailable>on" {
		t.Errorf("one entity's own changes: %s", got)
	}
	if got := values(r.query(Query{Entities: []home.EntityID{"switch.s0000"}})); len(got) != 3 {
		t.Errorf("the first of the storm: %v", got)
	}
	if p := r.query(Query{Domain: "switch", Kinds: []RowKind{KindBulk}}); p.Total != 3 {
		t.Errorf("the domain sees %d bulk rows", p.Total)
	}
	r.balanced()
	if kept := r.count("journal.kept"); kept != 3*n {
		t.Errorf("%d kept", kept)
	}
}

func TestTake_FewAreNotFolded(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(time.Minute)
	for i := range 3 {
		r.set(fmt.Sprintf("switch.s%d", i), "unavailable", "{}", home.Context{})
	}
	if p := r.query(Query{State: "unavailable"}); p.Total != 3 || p.Rows[0].Kind != KindState {
		t.Errorf("%+v", p.Rows)
	}
}

func TestTake_DeadbandSurvivesRestart(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.set("sensor.kitchen_power", "100", "", home.Context{})
	r.query(Query{})
	r.stop()
	r.start()
	r.up(testStates(r.now)...) // the fresh mirror sees everything anew: 3 is kept as first seen
	r.stop()
	r.start()
	cs := []home.Change{
		{Seq: 1, Kind: home.StateChanged, At: r.tick(), Entity: "sensor.kitchen_power", Old: state("sensor.kitchen_power", "3"), New: state("sensor.kitchen_power", "40")},
		{Seq: 2, Kind: home.StateChanged, At: r.tick(), Entity: "sensor.kitchen_power", Old: state("sensor.kitchen_power", "40"), New: state("sensor.kitchen_power", "53")},
	}
	before := r.count("journal.kept")
	r.j.feed(cs, 0)
	if kept := r.count("journal.kept") - before; kept != 1 {
		t.Errorf("%d kept, want only 53: the last one kept before the restart was 3", kept)
	}
}

func state(id, value string) *home.State {
	return &home.State{ID: home.EntityID(id), Value: value, Attrs: []byte(`{"unit_of_measurement":"W","device_class":"power"}`), Updated: time.Now(), Changed: time.Now()}
}

func TestTake_UnitChangeDecidesAnew(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.set("sensor.kitchen_power", "1000", "", home.Context{})
	r.set("sensor.kitchen_power", "1", `{"unit_of_measurement":"kW"}`, home.Context{})
	r.set("sensor.kitchen_power", "1.04", "", home.Context{})
	r.set("sensor.kitchen_power", "1.06", "", home.Context{})
	got := strings.Join(values(r.query(Query{Entities: []home.EntityID{"sensor.kitchen_power"}, OldState: ""})), " ")
	if !strings.HasSuffix(got, "3>1000 1000>1 1.04>1.06") {
		t.Error(got)
	}
}

func TestTake_RenameKeepsHistory(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.set("lock.front", "unlocked", "", home.Context{})
	r.query(Query{}) // taken before the rename, as in any house that is not in the same millisecond
	row := home.Entity{ID: "lock.main", RegistryID: "r7", Platform: "demo", OwnName: "Main door", OwnArea: "hall"}
	r.w.Apply(home.Report{Kind: home.ReportEntities, At: r.tick(), Renamed: map[home.EntityID]home.EntityID{"lock.front": "lock.main"},
		RemovedEntities: []home.EntityID{"lock.front"}, Registries: &home.Registries{Entities: []home.Entity{row}}})
	r.set("lock.main", "locked", "{}", home.Context{})
	r.set("lock.main", "unlocked", "", home.Context{})
	p := r.query(Query{Entities: []home.EntityID{"lock.main"}})
	got := strings.Join(values(p), " ")
	if !strings.Contains(got, "locked>unlocked") || !strings.HasSuffix(got, "locked>unlocked") || p.Total < 3 {
		t.Errorf("under the new id: %s", got)
	}
	for _, row := range p.Rows {
		if row.Name != "Main door" || row.Entity != "lock.main" {
			t.Errorf("%+v", row)
		}
	}
	if p := r.query(Query{Entities: []home.EntityID{"lock.front"}}); p.Total != 0 {
		t.Errorf("the old id still has %d rows", p.Total)
	}
}

func TestTake_CallTargets(t *testing.T) {
	r := newRig(t)
	r.up(append(testStates(r.now), full("group.lamps", "on", `{"entity_id":["light.kitchen_lights","light.ceiling_lights"]}`, r.now))...)
	for _, c := range []struct{ data, want string }{
		{`{"domain":"light","service":"turn_off","service_data":{"area_id":["kitchen"]}}`, "light.ceiling_lights light.kitchen_lights"},
		{`{"domain":"light","service":"turn_off","service_data":{"floor_id":"ground"}}`, "light.ceiling_lights light.kitchen_lights"},
		{`{"domain":"homeassistant","service":"turn_off","service_data":{"entity_id":"group.lamps"}}`, "group.lamps light.ceiling_lights light.kitchen_lights"},
		{`{"domain":"light","service":"turn_off","service_data":{"entity_id":"light.a, light.b"}}`, "light.a light.b"},
		{`{"domain":"scene","service":"apply","service_data":{"entities":{"light.a":"on","lock.b":{"state":"locked"}}}}`, "light.a lock.b"},
		{`{"domain":"lock","service":"lock","service_data":{"entity_id":"all"}}`, "lock.front"},
		{`{"domain":"notify","service":"notify","service_data":{"message":"hello","data":{"entity_id":"light.x"}}}`, ""},
		{`{"domain":"light","service":"turn_off","service_data":{}}`, ""},
	} {
		id := r.ctx()
		r.event("call_service", c.data, home.Context{ID: id})
		p := r.query(Query{Context: id})
		if len(p.Rows) != 1 {
			t.Fatalf("%s: %d rows", c.data, len(p.Rows))
		}
		var got []string
		for _, e := range p.Rows[0].Targets {
			if e != "light.secret" {
				got = append(got, string(e))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: targets %q, want %q", c.data, s, c.want)
		}
	}
	if p := r.query(Query{Entities: []home.EntityID{"light.kitchen_lights"}, Kinds: []RowKind{KindCall}}); p.Total != 3 {
		t.Errorf("%d calls touched the kitchen lights, want 3", p.Total)
	}
}

func TestTake_SecretsNeverReachTheDisk(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	secrets := []string{"4711-kitchen-code", "zz-pin-8833", "hunter2-password", "tok-abcdef-0123"}
	r.event("call_service", `{"domain":"lock","service":"unlock","service_data":{"entity_id":"lock.front","code":"4711-kitchen-code","message":"open for the cleaner"}}`, home.Context{ID: r.ctx()})
	r.event("call_service", `{"domain":"alarm_control_panel","service":"alarm_disarm","service_data":{"pin":"zz-pin-8833","nested":{"deep":[{"password":"hunter2-password"}]},"access_token":"tok-abcdef-0123"}}`, home.Context{ID: r.ctx()})
	err := r.j.Record(t.Context(), home.CallRecord{ID: "call_1", At: r.tick(), Tool: "service_call", Class: home.Act, Who: "x", Args: []byte(`{"data":{"code":"4711-kitchen-code"}}`),
		Steps: []home.StepRecord{{Step: home.Step{Kind: home.StepService, Call: &home.ServiceCall{Domain: "lock", Service: "unlock", Data: []byte(`{"pin":"zz-pin-8833"}`)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	p := r.query(Query{Text: "cleaner"})
	if p.Total != 1 || !strings.Contains(string(p.Rows[0].Data), "***") {
		t.Fatalf("the rest of the data is not searchable: %+v", p.Rows)
	}
	r.stop()
	for _, path := range []string{r.path, r.path + "-wal"} {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // a clean end removes the write-ahead file
		}
		for _, s := range secrets {
			if bytes.Contains(b, []byte(s)) {
				t.Errorf("%s holds %q", path, s)
			}
		}
		if path == r.path && !bytes.Contains(b, []byte("open for the cleaner")) {
			t.Error("the file does not hold what it should: the test looks in the wrong place")
		}
	}
}

func TestTake_TriggerByParentContext(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	parent := r.ctx()
	r.set("lock.front", "unlocked", "", home.Context{ID: parent})
	r.event("automation_triggered", `{"name":"Guests","entity_id":"automation.guests","source":"some unheard-of trigger"}`, home.Context{ID: r.ctx(), Parent: parent})
	both := r.ctx()
	r.set("light.kitchen_lights", "on", "", home.Context{ID: both})
	r.set("light.ceiling_lights", "off", "", home.Context{ID: both})
	r.event("automation_triggered", `{"name":"Guests","entity_id":"automation.guests","source":"mystery"}`, home.Context{ID: r.ctx(), Parent: both})
	p := r.query(Query{Kinds: []RowKind{KindRun}})
	if p.Total != 2 || p.Rows[1].Trigger != "lock.front" || p.Rows[1].What != "some unheard-of trigger" {
		t.Errorf("%+v", p.Rows)
	}
	if p.Rows[0].Trigger != "" {
		t.Errorf("two changes fit, yet %s is claimed", p.Rows[0].Trigger)
	}
	if p := r.query(Query{Trigger: "lock.front"}); p.Total != 1 {
		t.Errorf("%d rows by trigger", p.Total)
	}
}

func TestRing(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	var mid time.Time
	for i := range 10 {
		at := r.set("sensor.kitchen_power", fmt.Sprint(3+i), "", home.Context{})
		if i == 5 {
			mid = at
		}
	}
	r.query(Query{})
	if got := r.j.Ring("sensor.kitchen_power", mid); len(got) != 5 || got[0].Value != "8" || got[4].Value != "12" {
		t.Errorf("%+v", got)
	}
	if got := r.j.Ring("sensor.none", mid); got != nil {
		t.Errorf("%+v", got)
	}
	for range ringSize {
		r.set("switch.busy", map[bool]string{true: "on", false: "off"}[r.n%2 == 0], "{}", home.Context{ID: r.ctx()})
	}
	r.query(Query{})
	if got := r.j.Ring("sensor.kitchen_power", time.Time{}); len(got) != 0 {
		t.Errorf("%d states after the ring went round", len(got))
	}
	if got := r.j.Ring("switch.busy", time.Time{}); len(got) == 0 || len(got) > ringSize {
		t.Errorf("%d states of the busy one", len(got))
	}
}
