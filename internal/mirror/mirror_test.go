package mirror

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func str(s string) *string { return &s }

// full is a full state.
func full(id, value, attrs string) home.Patch {
	return home.Patch{ID: home.EntityID(id), Full: true, Value: &value, Set: json.RawMessage(attrs),
		Changed: t0, Updated: t0, Context: &home.Context{ID: "ctx-" + id}}
}

func row(id, device, area string) home.Entity {
	return home.Entity{ID: home.EntityID(id), RegistryID: "rid-" + id, Device: home.DeviceID(device), OwnArea: home.AreaID(area)}
}

// small is a house with two floors, three areas, devices in devices.
func small() home.Report {
	kitchen := row("light.kitchen", "d-lamp", "")
	kitchen.Labels = []home.LabelID{"evening"}
	hidden := row("light.hidden", "d-lamp", "")
	hidden.HiddenBy = "user"
	diag := row("sensor.rssi", "d-lamp", "")
	diag.Category = "diagnostic"
	diag.Labels = []home.LabelID{"evening"}
	off := row("switch.off", "d-lamp", "")
	off.DisabledBy = "user"
	return home.Report{Kind: home.ReportSnapshot, At: t0,
		Info: &home.Info{Name: "Home", Zone: "Europe/Amsterdam", State: "RUNNING"},
		Registries: &home.Registries{
			Entities: []home.Entity{kitchen, hidden, diag, off, row("light.desk", "d-child", ""),
				row("light.own", "d-lamp", "office"), row("lock.front", "", "hall")},
			Devices: []home.Device{
				{ID: "d-lamp", Name: "Lamp", Area: "kitchen"},
				{ID: "d-parent", Name: "Strip", Area: "office", Labels: []home.LabelID{"evening"}},
				{ID: "d-child", Name: "Socket 1", Parent: "d-parent"},
			},
			Composites: map[home.DeviceID][]home.DeviceID{"d-old": {"d-lamp", "d-parent"}},
			Areas: []home.Area{
				{ID: "kitchen", Name: "Kitchen", Floor: "ground", Aliases: []string{"Küche"}},
				{ID: "office", Name: "Büro", Floor: "up"},
				{ID: "hall", Name: "Kids' Room", Labels: []home.LabelID{"evening"}},
			},
			Floors: []home.Floor{{ID: "ground", Name: "Ground floor"}, {ID: "up", Name: "Upstairs"}},
			Labels: []home.Label{{ID: "evening", Name: "Evening"}},
			Users:  []home.User{{ID: "u1", Name: "Ann"}},
		},
		Patches: []home.Patch{
			full("light.kitchen", "on", `{"friendly_name":"Kitchen light","brightness":100}`),
			full("light.hidden", "off", `{}`),
			full("sensor.rssi", "-60", `{}`),
			full("light.desk", "off", `{}`),
			full("light.own", "off", `{}`),
			full("camera.door", "idle", `{"access_token":"t0p","friendly_name":"Door","entity_picture":"/x?token=t0p"}`),
			full("group.lights", "on", `{"entity_id":["light.kitchen","group.more"]}`),
			full("group.more", "on", `{"entity_id":["light.desk","group.lights"]}`),
		},
	}
}

func build(t *testing.T, reports ...home.Report) (*House, *Writer) {
	t.Helper()
	h, w := New(Config{Site: "ha"}, nil, nil, &health.Registry{})
	for _, r := range reports {
		w.Apply(r)
	}
	return h, w
}

func states(ps ...home.Patch) home.Report {
	return home.Report{Kind: home.ReportStates, At: t0.Add(time.Minute), Patches: ps}
}

func ids(v *View, f Filter) []string {
	var out []string
	for e := range v.Entities(home.Visible(), f) {
		out = append(out, string(e.ID))
	}
	return out
}

func TestDifferencesMerge(t *testing.T) {
	h, w := build(t, small())
	before := h.View()
	at := t0.Add(time.Second)
	w.Apply(states(home.Patch{ID: "light.kitchen", Value: str("off"), Unset: []string{"brightness"},
		Set: json.RawMessage(`{"color_mode":null,"latitude":1.5}`), Changed: at,
		Context: &home.Context{ID: "new"}, KeepContext: home.ContextParent | home.ContextUser}))
	s := h.View().State("light.kitchen")
	if s.Value != "off" || string(s.Attrs) != `{"friendly_name":"Kitchen light","color_mode":null}` {
		t.Errorf("state is %s %s", s.Value, s.Attrs)
	}
	if !s.Changed.Equal(at) || !s.Updated.Equal(at) || s.Context.ID != "new" {
		t.Errorf("times %v %v context %+v", s.Changed, s.Updated, s.Context)
	}
	if old := before.State("light.kitchen"); old.Value != "on" || len(old.Attrs) < 20 {
		t.Errorf("the old view changed: %s %s", old.Value, old.Attrs)
	}
	if h.View().Seq() != before.Seq()+1 {
		t.Errorf("seq went from %d to %d", before.Seq(), h.View().Seq())
	}
}

func TestSameAgainIsNoChange(t *testing.T) {
	h, w := build(t, small())
	v := h.View()
	again := small()
	// Home Assistant may name attributes in another order.
	again.Patches[0].Set = json.RawMessage(`{"brightness":100,"friendly_name":"Kitchen light"}`)
	w.Apply(states(again.Patches...))
	if h.View() != v {
		t.Errorf("a view was made for nothing: %d → %d", v.Seq(), h.View().Seq())
	}
	watch := h.Watch("t", Durable)
	w.Apply(again)
	if n, c := watch.Waiting(); n != 0 {
		t.Errorf("an equal snapshot made %d changes, first %+v", n, c)
	}
}

func TestForcedUpdateIsAChange(t *testing.T) {
	h, w := build(t, small())
	watch := h.Watch("t", Durable)
	at := t0.Add(time.Minute)
	// Home Assistant writes the same state again (force_update): only times differ.
	w.Apply(states(home.Patch{ID: "light.kitchen", Updated: at}))
	if s := h.View().State("light.kitchen"); !s.Updated.Equal(at) || !s.Changed.Equal(t0) {
		t.Errorf("times are %v, %v", s.Changed, s.Updated)
	}
	w.Apply(states(home.Patch{ID: "light.kitchen", Updated: at}))
	if n, _ := watch.Waiting(); n != 1 {
		t.Errorf("%d changes", n)
	}
}

func TestDifferenceWithoutBaseIsLeftOut(t *testing.T) {
	var c health.Registry
	h, w := New(Config{}, nil, nil, &c)
	w.Apply(small())
	v := h.View()
	w.Apply(states(home.Patch{ID: "light.never", Value: str("on")}, home.Patch{ID: "switch.off", Value: str("on")}))
	if h.View() != v || c.Counter("mirror.orphans").Load() != 2 {
		t.Errorf("orphans: %d", c.Counter("mirror.orphans").Load())
	}
	w.Apply(states(home.Patch{ID: "light.kitchen", Value: str("dim"), Set: json.RawMessage(`[1]`)}))
	if s := h.View().State("light.kitchen"); s.Value != "dim" || attribute(s.Attrs, "brightness") == nil || c.Counter("mirror.bad_attributes").Load() != 1 {
		t.Errorf("bad attributes: %+v", s)
	}
}

func TestBodies(t *testing.T) {
	r := small()
	r.Patches = append(r.Patches, full("automation.a", "on", `{}`), full("script.b", "off", `{}`))
	h, w := build(t, r)
	watch := h.Watch("t", Durable)
	w.Apply(home.Report{Kind: home.ReportBodies, Bodies: []home.Body{{Entity: "automation.a", Config: json.RawMessage(`{"x":1}`)}}})
	w.Apply(home.Report{Kind: home.ReportBodies, Bodies: []home.Body{{Entity: "automation.a", Config: json.RawMessage(`{"x":1}`)}}})
	if n, c := watch.Waiting(); n != 1 || c.Kind != home.BodyChanged || c.Entity != "automation.a" {
		t.Errorf("%d changes, %+v", n, c)
	}
	if have, want := h.View().Bodies(); have != 1 || want != 2 {
		t.Errorf("%d of %d bodies", have, want)
	}
	if b, ok := h.View().Body("automation.a"); !ok || string(b.Config) != `{"x":1}` {
		t.Errorf("body %+v", b)
	}
	doubted := func(when string, want bool) {
		t.Helper()
		if b, ok := h.View().Body("automation.a"); !ok || b.Old != want || string(b.Config) != `{"x":1}` {
			t.Errorf("%s: body %+v", when, b)
		}
	}
	w.Apply(home.Report{Kind: home.ReportBodies, Bodies: []home.Body{{Entity: "automation.a", Old: true}, {Entity: "script.b", Old: true}}})
	doubted("the link doubts it", true)
	if _, ok := h.View().Body("script.b"); ok {
		t.Error("a doubt is no text")
	}
	read := home.Report{Kind: home.ReportBodies, Bodies: []home.Body{{Entity: "automation.a", Config: json.RawMessage(`{"x":1}`)}}}
	w.Apply(read)
	doubted("it was read again", false)
	w.Apply(r) // a reconnect: what was edited meanwhile nobody heard
	doubted("after a snapshot", true)
	w.Apply(read)
	doubted("it was read after the snapshot", false)
}

func TestBufferIsCopied(t *testing.T) {
	h, w := build(t, small())
	buf := []byte(`{"brightness":7}`)
	w.Apply(states(home.Patch{ID: "light.kitchen", Set: buf, Updated: t0.Add(time.Second)},
		home.Patch{ID: "light.new", Full: true, Value: str("on"), Set: buf, Changed: t0}))
	for i := range buf {
		buf[i] = 'x'
	}
	for _, id := range []home.EntityID{"light.kitchen", "light.new"} {
		if got := attribute(h.View().State(id).Attrs, "brightness"); string(got) != "7" {
			t.Errorf("%s has brightness %q", id, got)
		}
	}
}

func TestJoinsAndFilters(t *testing.T) {
	h, _ := build(t, small())
	v := h.View()
	for _, c := range []struct {
		id, name, area, floor string
	}{
		{"light.kitchen", "Kitchen light", "kitchen", "ground"},
		{"light.desk", "Socket 1", "office", "up"}, // area of the parent device
		{"light.own", "Lamp", "office", "up"},      // its own area
		{"lock.front", "front", "hall", ""},        // registered, no state, no name
		{"camera.door", "Door", "", ""},            // no row
		{"switch.off", "Lamp", "kitchen", "ground"},
	} {
		e := v.Row(home.EntityID(c.id))
		if e == nil || e.Name != c.name || string(e.Area) != c.area || string(e.Floor) != c.floor {
			t.Errorf("%s is %+v, want %q in %q on %q", c.id, e, c.name, c.area, c.floor)
		}
	}
	for _, c := range []struct {
		f    Filter
		want []string
	}{
		{Filter{Domain: "light"}, []string{"light.desk", "light.kitchen", "light.own"}},
		{Filter{Area: "kitchen"}, []string{"light.kitchen", "sensor.rssi", "switch.off"}},
		{Filter{Floor: "up", Domain: "light"}, []string{"light.desk", "light.own"}},
		{Filter{Label: "evening"}, []string{"light.kitchen", "sensor.rssi"}},
		{Filter{Device: "d-lamp", State: "on"}, []string{"light.kitchen"}},
		{Filter{Area: "nowhere"}, nil},
	} {
		if got := ids(v, c.f); !slices.Equal(got, c.want) {
			t.Errorf("%+v gives %v, want %v", c.f, got, c.want)
		}
	}
	if n := v.Count(home.Scope{}); n != 0 {
		t.Errorf("the zero scope sees %d", n)
	}
	if _, _, ok := v.Entity(home.Visible(), "light.hidden"); ok {
		t.Error("a hidden entity is seen")
	}
}

func TestSnapshotTellsTheDifference(t *testing.T) {
	h, w := build(t, small(), home.Report{Kind: home.ReportLink, Reason: "gone", At: t0})
	if _, stale := h.View().Stale(); !stale {
		t.Fatal("the view is live without a link")
	}
	watch := h.Watch("t", Durable)
	next := small()
	next.Patches = next.Patches[1:] // light.kitchen is gone
	at := t0.Add(time.Hour)
	next.Patches[0].Value, next.Patches[0].Changed, next.Patches[0].Updated = str("on"), at, at
	w.Apply(next)
	cs, lost, err := watch.Next(t.Context(), 100)
	if err != nil || lost != 0 || len(cs) != 2 {
		t.Fatalf("got %d changes, %d lost, %v: %+v", len(cs), lost, err, cs)
	}
	if c := cs[0]; c.Kind != home.StateChanged || !c.CaughtUp || c.Entity != "light.hidden" || c.Old.Value != "off" || !c.New.Changed.Equal(at) {
		t.Errorf("first is %+v", c)
	}
	if c := cs[1]; c.Kind != home.StateRemoved || !c.CaughtUp || c.Entity != "light.kitchen" || c.Old == nil {
		t.Errorf("second is %+v", c)
	}
	if _, stale := h.View().Stale(); stale {
		t.Error("still stale after the snapshot")
	}
	if e := h.View().Row("light.kitchen"); e == nil || e.Name != "Lamp" {
		t.Errorf("the row of the entity without state is %+v", e)
	}
}

func TestRegistryChanges(t *testing.T) {
	h, w := build(t, small())
	// A row moves to another area and loses its label.
	moved := row("light.kitchen", "d-lamp", "office")
	w.Apply(home.Report{Kind: home.ReportEntities, Registries: &home.Registries{Entities: []home.Entity{moved}}})
	if got := ids(h.View(), Filter{Area: "kitchen"}); !slices.Equal(got, []string{"sensor.rssi", "switch.off"}) {
		t.Errorf("kitchen holds %v", got)
	}
	if got := ids(h.View(), Filter{Label: "evening"}); !slices.Equal(got, []string{"sensor.rssi"}) {
		t.Errorf("label holds %v", got)
	}
	// It is renamed: the registry id stays.
	w.Apply(home.Report{Kind: home.ReportEntities, Renamed: map[home.EntityID]home.EntityID{"light.kitchen": "light.cook"},
		RemovedEntities: []home.EntityID{"light.kitchen"}})
	w.Apply(states(home.Patch{ID: "light.kitchen", Removed: true}, full("light.cook", "on", `{}`)))
	if e := h.View().EntityByRegistryID("rid-light.kitchen"); e == nil || e.ID != "light.cook" || e.Area != "office" {
		t.Errorf("found %+v", e)
	}
	if h.View().Row("light.kitchen") != nil {
		t.Error("the old id is still known")
	}
	// The parent device moves: its child's entities follow.
	w.Apply(home.Report{Kind: home.ReportRegistry, Registries: &home.Registries{Devices: []home.Device{
		{ID: "d-lamp", NameByUser: "Big lamp", Area: "kitchen"}, {ID: "d-parent", Area: "kitchen"}, {ID: "d-child", Name: "Socket 1", Parent: "d-parent"}}}})
	if e := h.View().Row("light.desk"); e.Area != "kitchen" || e.Floor != "ground" {
		t.Errorf("light.desk is %+v", e)
	}
	if e := h.View().Row("light.own"); e.Name != "Big lamp" {
		t.Errorf("light.own is called %q", e.Name)
	}
	// An area goes to another floor.
	w.Apply(home.Report{Kind: home.ReportRegistry, Registries: &home.Registries{Areas: []home.Area{{ID: "kitchen", Name: "Kitchen", Floor: "up"}}}})
	if got := ids(h.View(), Filter{Floor: "up"}); !slices.Contains(got, "light.desk") {
		t.Errorf("upstairs holds %v", got)
	}
	if got := ids(h.View(), Filter{Floor: "ground"}); len(got) != 0 {
		t.Errorf("ground floor holds %v", got)
	}
}

func TestParentsInACircle(t *testing.T) {
	d := (&devices{}).with(&home.Registries{Devices: []home.Device{{ID: "a", Parent: "b"}, {ID: "b", Parent: "a"}, {ID: "c", Parent: "d"}, {ID: "d", Parent: "e"}, {ID: "e", Area: "hall"}}})
	if d.area["a"] != "" || d.area["c"] != "hall" {
		t.Errorf("areas are %v", d.area)
	}
}

func TestNames(t *testing.T) {
	d := (&devices{}).with(&home.Registries{Devices: []home.Device{{ID: "d", Name: "Lamp", NameByUser: "Sofa lamp"}}})
	p := (&places{}).with(&home.Registries{})
	for i, c := range []struct {
		row   home.Entity
		state *home.State
		want  string
	}{
		{home.Entity{ID: "light.a_b"}, nil, "a b"},
		{home.Entity{ID: "light.a_b"}, &home.State{Attrs: json.RawMessage(`{"friendly_name":"A\u0042"}`)}, "AB"},
		{home.Entity{ID: "light.x", RegistryID: "r", OriginalName: "Left"}, nil, "Left"},
		{home.Entity{ID: "light.x", RegistryID: "r", OwnName: "Mine", OriginalName: "Left"}, nil, "Mine"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d"}, nil, "Sofa lamp"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d", HasEntity: true}, nil, "Sofa lamp"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d", HasEntity: true, OriginalName: "Battery"}, nil, "Sofa lamp Battery"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d", HasEntity: true, OwnName: "Power"}, nil, "Sofa lamp Power"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d", OriginalName: "Sofa lamp battery"}, nil, "Sofa lamp Battery"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "d", OriginalName: "Sofa lamps"}, nil, "Sofa lamp Sofa lamps"},
		{home.Entity{ID: "light.x", RegistryID: "r", Device: "gone", OriginalName: "Left"}, nil, "Left"},
		{home.Entity{ID: "light.x_1", RegistryID: "r", Device: "gone"}, nil, "x 1"},
		{home.Entity{ID: "light.x_1", RegistryID: "r"}, &home.State{Attrs: json.RawMessage(`{"friendly_name":null}`)}, "x 1"},
	} {
		if got := joined(&c.row, c.state, p, d).Name; got != c.want {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	h, _ := build(t, small())
	for q, want := range map[string]string{"kitchen": "kitchen", "KUCHE": "kitchen", "buro": "office", "Büro ": "office", "kids room": "hall", "Kids’Room": "hall"} {
		if got := h.View().FindArea(q); len(got) != 1 || string(got[0].ID) != want {
			t.Errorf("%q finds %v", q, got)
		}
	}
	if got := h.View().FindArea("cellar"); len(got) != 0 {
		t.Errorf("cellar finds %v", got)
	}
	if got := h.View().FindFloor("groundfloor"); len(got) != 1 {
		t.Errorf("floor: %v", got)
	}
	if got := h.View().FindLabel("EVENING"); len(got) != 1 {
		t.Errorf("label: %v", got)
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"Küche": "kuche", "STRASSE": "strasse", "Straße": "strasse", "Øl-Kæller": "ol kaeller", "ﬁlm ①": "film 1",
		"  a__b ": "a b", "Kids' Room": "kids room", "客厅 灯": "客厅 灯", "ガレージ": "ガレージ", "조명": "조명", "!?": "",
	} {
		if got := Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHealthOfTheMirror(t *testing.T) {
	var h health.Registry
	_, w := New(Config{}, nil, nil, &h)
	if err := w.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, lit := h.Has(health.MirrorStale); !lit {
		t.Error("not lit before the first snapshot")
	}
	w.Apply(small())
	if c, lit := h.Has(health.MirrorStale); lit {
		t.Errorf("still lit: %s", c.Text)
	}
	w.Apply(home.Report{Kind: home.ReportLink, Reason: "closed", At: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)})
	if c, lit := h.Has(health.MirrorStale); !lit || c.Text != "what is shown dates from 2026-07-01T14:00:00+02:00: closed" {
		t.Errorf("while the link is down it says %q", c.Text)
	}
}

func TestManyComeOneByOne(t *testing.T) {
	h, w := build(t)
	var want []string
	for i := range 3000 {
		id := fmt.Sprintf("sensor.s%d", (i*7919)%3000)
		want = append(want, id)
		w.Apply(states(full(id, "1", `{}`)))
	}
	slices.Sort(want)
	if got := ids(h.View(), Filter{}); !slices.Equal(got, want) {
		t.Fatalf("%d entities, order broken", len(got))
	}
	for i := range 1500 {
		w.Apply(states(home.Patch{ID: home.EntityID(fmt.Sprintf("sensor.s%d", i*2)), Removed: true}))
	}
	if got := ids(h.View(), Filter{Domain: "sensor"}); len(got) != 1500 || !slices.IsSorted(got) {
		t.Errorf("%d entities are left", len(got))
	}
}
