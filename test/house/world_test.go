package house_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"hearth/test/realhome"
)

// world is what the test's own client reads of a house: plain JSON, joined by
// code that shares nothing with the product.
type world struct {
	states   map[string]map[string]any
	entities map[string]map[string]any
	devices  map[string]map[string]any
	areas    map[string]map[string]any
	floors   map[string]map[string]any
	labels   map[string]map[string]any
	services map[string]map[string]any // domain → service → description
	config   map[string]any
}

func look(t *testing.T, ws *realhome.Socket) *world {
	t.Helper()
	ctx := t.Context()
	w := &world{}
	w.states = table(t, ctx, ws, "get_states", nil, "entity_id")
	w.entities = table(t, ctx, ws, "config/entity_registry/list", nil, "entity_id")
	ids := make([]string, 0, len(w.entities))
	for id := range w.entities {
		ids = append(ids, id)
	}
	full := map[string]map[string]any{}
	into(t, ctx, ws, "config/entity_registry/get_entries", map[string]any{"entity_ids": ids}, &full)
	for id, row := range full {
		if row != nil {
			w.entities[id] = row
		}
	}
	w.devices = table(t, ctx, ws, "config/device_registry/list", nil, "id")
	w.areas = table(t, ctx, ws, "config/area_registry/list", nil, "area_id")
	w.floors = table(t, ctx, ws, "config/floor_registry/list", nil, "floor_id")
	w.labels = table(t, ctx, ws, "config/label_registry/list", nil, "label_id")
	into(t, ctx, ws, "get_services", nil, &w.services)
	into(t, ctx, ws, "get_config", nil, &w.config)
	return w
}

func into(t *testing.T, ctx context.Context, ws *realhome.Socket, kind string, fields map[string]any, out any) {
	t.Helper()
	if err := ws.Into(ctx, kind, fields, out); err != nil {
		t.Fatal(err)
	}
}

func table(t *testing.T, ctx context.Context, ws *realhome.Socket, kind string, fields map[string]any, key string) map[string]map[string]any {
	t.Helper()
	var rows []map[string]any
	into(t, ctx, ws, kind, fields, &rows)
	out := map[string]map[string]any{}
	for _, r := range rows {
		out[text(r[key])] = r
	}
	return out
}

// deviceArea is the device's area, else its parents'.
func (w *world) deviceArea(id string) string {
	for range 10 {
		d := w.devices[id]
		if d == nil {
			return ""
		}
		if a := text(d["area_id"]); a != "" {
			return a
		}
		id = text(d["parent_device_id"])
	}
	return ""
}

func (w *world) area(entity string) string {
	e := w.entities[entity]
	if e == nil {
		return ""
	}
	if a := text(e["area_id"]); a != "" {
		return a
	}
	return w.deviceArea(text(e["device_id"]))
}

func (w *world) floor(area string) string { return text(object(w.areas[area])["floor_id"]) }

func (w *world) hidden(entity string) bool {
	e := w.entities[entity]
	return e != nil && e["hidden_by"] != nil
}

// seen are the ids of all entities that have a state and are not hidden, in order.
func (w *world) seen() []string {
	var out []string
	for id := range w.states {
		if !w.hidden(id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) name(entity string) string {
	return text(object(w.states[entity]["attributes"])["friendly_name"])
}

func (w *world) class(entity string) string {
	if e := w.entities[entity]; e != nil && e["device_class"] != nil {
		return text(e["device_class"])
	}
	return text(object(w.states[entity]["attributes"])["device_class"])
}

// stripped are the attributes that never leave the mirror.
func stripped(attrs map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range attrs {
		switch k {
		case "access_token", "entity_picture", "entity_picture_local", "latitude", "longitude", "gps_accuracy":
			continue
		}
		if strings.Contains(k, "token") || k == "code" || k == "pin" || k == "password" {
			continue
		}
		out[k] = v
	}
	return out
}

// counts turns a histogram into the rows the tools show: by number, then by name.
func counts(h map[string]int, names map[string]string) []any {
	keys := make([]string, 0, len(h))
	for k := range h {
		keys = append(keys, k)
	}
	label := func(k string) string {
		if names != nil {
			return names[k]
		}
		return k
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(h[b], h[a]), cmp.Compare(label(a), label(b))) })
	out := []any{}
	for _, k := range keys {
		row := map[string]any{"name": label(k), "count": h[k]}
		if names != nil {
			row["id"] = k
		}
		out = append(out, row)
	}
	return out
}

// byName orders rows by name instead of by number.
func byName(rows []any) []any {
	slices.SortFunc(rows, func(a, b any) int { return cmp.Compare(text(object(a)["name"]), text(object(b)["name"])) })
	return rows
}
