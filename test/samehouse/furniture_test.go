package samehouse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hearth/internal/simhome"
)

// furniture compares what stands in the real house with the plain simulated
// one, row by row: registries, services, and what each entity shows.
func furniture(t *testing.T, h *home) {
	if h.sim != nil {
		return // nothing to compare with
	}
	theirs, ours := open(t, h, h.hearth), open(t, simulated(t, simhome.Options{Plain: true}), simhome.New(simhome.Options{Plain: true}).HearthToken())
	for _, k := range []struct {
		kind string
		key  func(map[string]any) string
	}{
		{"config/area_registry/list", by("area_id")}, {"config/floor_registry/list", by("floor_id")}, {"config/label_registry/list", by("label_id")},
		{"config/entity_registry/list", by("entity_id")}, {"get_states", by("entity_id")}, {"config/auth/list", by("name")},
		{"config/device_registry/list", func(d map[string]any) string { return fmt.Sprint(d["name"], d["entry_type"]) }},
	} {
		want, got := rows(theirs, k.kind, k.key), rows(ours, k.kind, k.key)
		compare(t, k.kind, want, got)
	}
	ids := slices.Sorted(maps.Keys(rows(ours, "config/entity_registry/list", by("entity_id"))))
	want := theirs.send("config/entity_registry/get_entries", map[string]any{"entity_ids": ids})["result"].(map[string]any)
	got := ours.send("config/entity_registry/get_entries", map[string]any{"entity_ids": ids})["result"].(map[string]any)
	compare(t, "get_entries", want, got)
	services := theirs.send("get_services", nil)["result"].(map[string]any)
	for domain, all := range ours.send("get_services", nil)["result"].(map[string]any) {
		for name, s := range all.(map[string]any) {
			if err := match(s, services[domain].(map[string]any)[name], domain+"."+name, vars{}); err != nil {
				t.Error(err)
			}
		}
	}
}

func by(key string) func(map[string]any) string {
	return func(m map[string]any) string { return m[key].(string) }
}

func rows(c *client, kind string, key func(map[string]any) string) map[string]any {
	all := map[string]any{}
	for _, r := range c.send(kind, nil)["result"].([]any) {
		m := r.(map[string]any)
		all[key(m)] = m
	}
	return all
}

// own are the fields that are each house's own: made-up ids and moments.
const own = " id created_at modified_at device_id config_entry_id config_entries config_entries_subentries primary_config_entry unique_id identifiers " +
	"last_changed last_updated last_reported context user_id "

// wandering domains show something else at each start of the real house.
const wandering = " geo_location sun image_processing device_tracker "

func compare(t *testing.T, kind string, want, got map[string]any) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(want)) {
		domain, _, _ := strings.Cut(id, ".")
		if strings.Contains(wandering, " "+domain+" ") || strings.HasPrefix(id, "sensor.sun_") {
			continue
		}
		if got[id] == nil {
			t.Errorf("%s: the simulated house has no %s", kind, id)
			continue
		}
		if err := sameRow(want[id], got[id], kind+" "+id); err != nil {
			t.Error(err)
		}
	}
	for id := range got {
		if want[id] == nil && !strings.HasPrefix(id, "geo_location.") {
			t.Errorf("%s: only the simulated house has %s", kind, id)
		}
	}
}

// sameRow compares keys, and values but those of a house's own. Attributes that
// are moments, tokens or random at each start only have to be there.
func sameRow(want, got any, path string) error {
	w, ok := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if !ok || !ok2 {
		return match(want, got, path, vars{})
	}
	for k, v := range w {
		if _, ok := g[k]; !ok {
			return fmt.Errorf("%s.%s is missing in the simulated house", path, k)
		}
		switch k {
		case "access_token", "entity_picture", "next_event", "media_position_updated_at", "start_time", "end_time", "changed_by", "color_temp_kelvin", "rgb_color", "xy_color", "hs_color", "media_position", "latitude", "longitude":
			continue
		}
		if strings.Contains(own, " "+k+" ") {
			continue
		}
		if err := sameRow(v, g[k], path+"."+k); err != nil {
			return err
		}
	}
	for k := range g {
		if _, ok := w[k]; !ok {
			return fmt.Errorf("%s.%s is only in the simulated house", path, k)
		}
	}
	return nil
}
