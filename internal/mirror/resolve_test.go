package mirror

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"hearth/internal/home"
)

// recorded is testdata/targets.json.gz; see its README.
type recorded struct {
	Entities []struct {
		ID       home.EntityID `json:"entity_id"`
		RID      string        `json:"id"`
		Unique   string        `json:"unique_id"`
		Platform string
		Device   home.DeviceID `json:"device_id"`
		Area     home.AreaID   `json:"area_id"`
		Labels   []home.LabelID
		Name     string
		Original string `json:"original_name"`
		Category string `json:"entity_category"`
		Hidden   string `json:"hidden_by"`
		Disabled string `json:"disabled_by"`
	}
	Devices []struct {
		ID     home.DeviceID
		Name   string
		ByUser string        `json:"name_by_user"`
		Area   home.AreaID   `json:"area_id"`
		Parent home.DeviceID `json:"parent_device_id"`
		Labels []home.LabelID
	}
	Composites map[home.DeviceID][]home.DeviceID
	Areas      []struct {
		ID      home.AreaID `json:"area_id"`
		Name    string
		Floor   home.FloorID `json:"floor_id"`
		Labels  []home.LabelID
		Aliases []string
	}
	Floors []struct {
		ID   home.FloorID `json:"floor_id"`
		Name string
	}
	Labels []struct {
		ID   home.LabelID `json:"label_id"`
		Name string
	}
	States []struct {
		ID    home.EntityID `json:"entity_id"`
		State string
		Attrs json.RawMessage `json:"attributes"`
	}
	Targets []struct {
		Target   home.Target
		Expand   bool
		Entities []home.EntityID `json:"referenced_entities"`
		Devices  []home.DeviceID `json:"referenced_devices"`
		Areas    []home.AreaID   `json:"referenced_areas"`
		NoDevice []home.DeviceID `json:"missing_devices"`
		NoArea   []home.AreaID   `json:"missing_areas"`
		NoFloor  []home.FloorID  `json:"missing_floors"`
		NoLabel  []home.LabelID  `json:"missing_labels"`
	}
}

func record(t *testing.T) (recorded, home.Report) {
	t.Helper()
	f, err := os.Open("testdata/targets.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var in recorded
	if err := json.NewDecoder(z).Decode(&in); err != nil {
		t.Fatal(err)
	}
	reg := &home.Registries{Composites: in.Composites}
	for _, e := range in.Entities {
		reg.Entities = append(reg.Entities, home.Entity{ID: e.ID, RegistryID: e.RID, UniqueID: e.Unique, Platform: e.Platform, Device: e.Device,
			OwnArea: e.Area, Labels: e.Labels, OwnName: e.Name, OriginalName: e.Original, Category: e.Category, HiddenBy: e.Hidden, DisabledBy: e.Disabled,
			HasEntity: e.Device != "" && e.Area == ""})
	}
	for _, d := range in.Devices {
		reg.Devices = append(reg.Devices, home.Device{ID: d.ID, Name: d.Name, NameByUser: d.ByUser, Area: d.Area, Parent: d.Parent, Labels: d.Labels})
	}
	for _, a := range in.Areas {
		reg.Areas = append(reg.Areas, home.Area{ID: a.ID, Name: a.Name, Floor: a.Floor, Labels: a.Labels, Aliases: a.Aliases})
	}
	for _, x := range in.Floors {
		reg.Floors = append(reg.Floors, home.Floor{ID: x.ID, Name: x.Name})
	}
	for _, x := range in.Labels {
		reg.Labels = append(reg.Labels, home.Label{ID: x.ID, Name: x.Name})
	}
	r := home.Report{Kind: home.ReportSnapshot, Registries: reg}
	for _, s := range in.States {
		r.Patches = append(r.Patches, home.Patch{ID: s.ID, Full: true, Value: &s.State, Set: s.Attrs, Changed: t0, Updated: t0})
	}
	return in, r
}

func same1[T ~string](t *testing.T, what string, got, want []T) bool {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, Home Assistant says %v", what, got, want)
		return false
	}
	return true
}

func TestResolveAsHomeAssistantDoes(t *testing.T) {
	in, r := record(t)
	h, _ := build(t, r)
	v := h.View()
	if len(in.Targets) < 400 {
		t.Fatalf("only %d targets recorded", len(in.Targets))
	}
	for _, c := range in.Targets {
		got := v.Resolve(c.Target, c.Expand)
		raw, _ := json.Marshal(c.Target)
		ok := same1(t, "entities", got.Entities, c.Entities)
		ok = same1(t, "devices", got.Devices, c.Devices) && ok
		ok = same1(t, "areas", got.Areas, c.Areas) && ok
		ok = same1(t, "missing devices", got.Missing.Devices, c.NoDevice) && ok
		ok = same1(t, "missing areas", got.Missing.Areas, c.NoArea) && ok
		ok = same1(t, "missing floors", got.Missing.Floors, c.NoFloor) && ok
		ok = same1(t, "missing labels", got.Missing.Labels, c.NoLabel) && ok
		if !ok {
			t.Errorf("… of %s, expand %v", raw, c.Expand)
		}
	}
}

// Every state's friendly name is what we would have composed without it.
func TestNamesAsHomeAssistantComposesThem(t *testing.T) {
	_, r := record(t)
	h, _ := build(t, r)
	v := h.View()
	d := v.devs
	n := 0
	for e, s := range v.Entities(home.Everything(), Filter{}) {
		friendly := text2(s)
		if e.RegistryID == "" || friendly == "" {
			continue
		}
		n++
		if got := nameOf(e, nil, d); got != friendly {
			t.Errorf("%s: composed %q, Home Assistant shows %q (own %q, original %q, device %q)", e.ID, got, friendly, e.OwnName, e.OriginalName, e.Device)
		}
	}
	if n < 90 {
		t.Errorf("only %d names compared", n)
	}
}

func text2(s *home.State) string {
	if s == nil {
		return ""
	}
	return text(s.Attrs, "friendly_name")
}

func TestResolveOddTargets(t *testing.T) {
	h, _ := build(t, small())
	v := h.View()
	// A circle of groups ends; members that are no group stay.
	if got := v.Resolve(home.Target{Entities: []home.EntityID{"group.lights"}}, true); !slices.Equal(got.Entities, []home.EntityID{"light.desk", "light.kitchen"}) {
		t.Errorf("a circle gives %v", got.Entities)
	}
	got := v.Resolve(home.Target{Entities: []home.EntityID{"LIGHT.Kitchen", "light.gone", "none"}, Areas: []home.AreaID{"x"}}, false)
	if !slices.Equal(got.Entities, []home.EntityID{"light.gone", "light.kitchen"}) || !slices.Equal(got.Missing.Entities, []home.EntityID{"light.gone"}) {
		t.Errorf("got %+v", got)
	}
	if got := v.Resolve(home.Target{Entities: []home.EntityID{"all"}}, true); len(got.Entities) != 0 {
		t.Errorf("all expands to %v", got.Entities)
	}
	if got := v.Members("light.kitchen"); got != nil {
		t.Errorf("a lamp has members %v", got)
	}
}
