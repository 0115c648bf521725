package simhome

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// bodyOf is automation/config and script/config.
func bodyOf(c *conn, r request) {
	domain, _, _ := strings.Cut(r.kind, "/")
	m := c.h.runs[r.text("entity_id")]
	if m == nil || m.domain != domain {
		c.fail(r.id, &errNoEntity)
		return
	}
	c.result(r.id, map[string]any{"config": m.raw})
}

// validateConfig checks only that each part is a list or an object with a known kind.
func validateConfig(c *conn, r request) {
	result := map[string]any{}
	for _, part := range []string{"triggers", "conditions", "actions"} {
		raw, ok := r.fields[part]
		if !ok {
			continue
		}
		var many []map[string]any
		if json.Unmarshal(raw, &many) != nil {
			var one map[string]any
			json.Unmarshal(raw, &one)
			many = []map[string]any{one}
		}
		result[part] = map[string]any{"valid": true, "error": nil}
		for _, m := range many {
			if err := validPart(part, m); err != "" {
				result[part] = map[string]any{"valid": false, "error": err}
			}
		}
	}
	c.result(r.id, result)
}

func validPart(part string, m map[string]any) string {
	switch part {
	case "triggers":
		kind, _ := m["trigger"].(string)
		if kind == "" {
			return "required key not provided @ data[0]['platform']"
		}
		if !slices.Contains([]string{"state", "numeric_state", "time", "sun", "event", "template", "homeassistant", "zone", "device"}, kind) {
			return "Invalid trigger '" + kind + "' specified"
		}
	case "conditions":
		kind, _ := m["condition"].(string)
		if kind == "" {
			return "required key not provided @ data[0]['condition']"
		}
	case "actions":
		for _, k := range []string{"action", "delay", "if", "choose", "repeat", "event", "scene", "stop", "wait_template", "variables", "device_id"} {
			if _, ok := m[k]; ok {
				return ""
			}
		}
		return "Unable to determine action @ data[0]"
	}
	return ""
}

// searchRelated says what hangs together with an item: entities, devices, areas, automations…
func searchRelated(c *conn, r request) {
	h := c.h
	kind, id := r.text("item_type"), r.text("item_id")
	found := map[string]set{}
	add := func(kind, id string) {
		if id == "" {
			return
		}
		if found[kind] == nil {
			found[kind] = set{}
		}
		found[kind][id] = true
	}
	switch kind {
	case "entity":
		h.relateEntity(id, add)
	case "device":
		h.relateMembers(target{Devices: list{id}}, add)
		if d := h.reg.device(id); d != nil {
			add("area", h.reg.deviceArea(d))
			add("config_entry", deref(d.ConfigEntryID))
		}
	case "area":
		h.relateMembers(target{Areas: list{id}}, add)
		if a := h.reg.area(id); a != nil {
			add("floor", deref(a.FloorID))
		}
	case "automation", "script":
		if m := h.runs[id]; m != nil {
			for e := range h.named(m) {
				h.addRelated(e, add)
			}
		}
	}
	result := map[string][]string{}
	for k, s := range found {
		delete(s, id)
		if len(s) > 0 {
			result[k] = s.sorted()
		}
	}
	c.result(r.id, result)
}

func (h *House) relateMembers(t target, add func(kind, id string)) {
	x := h.extract(t, false, false)
	for _, d := range x.devices.sorted() {
		add("device", d)
	}
	maps.Copy(x.indirect, x.direct)
	for _, e := range x.indirect.sorted() {
		add("entity", e)
		for _, m := range h.runs {
			if h.named(m)[e] {
				add(m.domain, m.entity)
			}
		}
	}
}

// relateEntity adds what an entity belongs to and what names it.
func (h *House) relateEntity(id string, add func(kind, id string)) {
	h.addRelated(id, add)
	for _, m := range h.runs {
		if h.named(m)[id] {
			add(m.domain, m.entity)
		}
	}
	for s, b := range h.reg.scenes {
		if _, ok := b.Entities[id]; ok {
			add("scene", s)
		}
	}
	for _, g := range h.groupsOf[id] {
		if domainOf(g) == "group" {
			add("group", g)
		}
	}
}

func (h *House) addRelated(id string, add func(kind, id string)) {
	kind := "entity"
	if d := domainOf(id); d == "group" || d == "script" || d == "automation" || d == "scene" {
		kind = d
	}
	add(kind, id)
	e := h.reg.byEntity[id]
	if e == nil {
		return
	}
	add("device", deref(e.DeviceID))
	add("config_entry", deref(e.ConfigEntryID))
	area := deref(e.AreaID)
	if d := h.reg.device(deref(e.DeviceID)); area == "" && d != nil {
		area = h.reg.deviceArea(d)
	}
	add("area", area)
	if a := h.reg.area(area); a != nil {
		add("floor", deref(a.FloorID))
	}
}

// named are the entities a machine's body speaks of.
func (h *House) named(m *machine) set {
	all := set{}
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			for _, y := range x {
				walk(y)
			}
		case []any:
			for _, y := range x {
				walk(y)
			}
		case string:
			if h.states[x] != nil || h.reg.byEntity[x] != nil {
				all[x] = true
			}
		}
	}
	var v any
	json.Unmarshal(m.raw, &v)
	walk(v)
	return all
}
