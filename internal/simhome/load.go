package simhome

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// loadHouse furnishes the house like the real test house after onboarding.
func (h *House) loadHouse() {
	f := load[houseFile]("house.json")
	h.config = f.Config
	h.reg = registries{byEntity: map[string]*entityRow{}, byDevice: map[string]*deviceRow{}, composites: map[string][]string{},
		areas: f.Areas, floors: f.Floors, labels: f.Labels, scenes: map[string]*sceneBody{}}
	h.followers = map[string][]follower{
		"light.kitchen_lights":     {{id: "sensor.kitchen_power", when: "on", yes: "120", no: "3"}},
		"input_boolean.guest_mode": {{id: "binary_sensor.kuchenfenster", when: "on", yes: "on", no: "off"}},
	}
	h.computed = set{}
	for _, fs := range h.followers {
		for _, f := range fs {
			h.computed[f.id] = true
		}
	}
	h.groupsOf, h.triggeredBy = map[string][]string{}, map[string][]string{}
	stamp := unix(h.now())
	for _, a := range h.reg.areas {
		a.CreatedAt, a.ModifiedAt = stamp, stamp
	}
	for _, a := range h.reg.floors {
		a.CreatedAt, a.ModifiedAt = stamp, stamp
	}
	for _, a := range h.reg.labels {
		a.CreatedAt, a.ModifiedAt = stamp, stamp
	}
	for _, d := range load[[]*deviceRow]("devices.json") {
		h.furnishDevice(d, stamp)
	}
	for _, e := range load[[]*entityRow]("entities.json") {
		h.furnishEntity(e, stamp)
	}
	for _, s := range load[[]stateRow]("states.json") {
		h.furnishState(s)
	}
	h.loadBodies("bodies.json")
}

// furnishDevice fills in what the file leaves out.
func (h *House) furnishDevice(d *deviceRow, stamp float64) {
	d.CreatedAt, d.ModifiedAt = stamp, stamp
	d.PrimaryEntry = d.ConfigEntryID
	d.ConfigEntries, d.Subentries = []string{}, map[string][]*string{}
	if d.ConfigEntryID != nil {
		d.ConfigEntries = append(d.ConfigEntries, *d.ConfigEntryID)
		d.Subentries[*d.ConfigEntryID] = []*string{d.ConfigSubentryID}
	}
	d.Connections, d.Identifiers, d.Labels = orEmpty(d.Connections), orEmpty(d.Identifiers), orEmpty(d.Labels)
	h.reg.addDevice(d)
}

func (h *House) furnishEntity(e *entityRow, stamp float64) {
	e.CreatedAt, e.ModifiedAt = stamp, stamp
	e.Labels = orEmpty(e.Labels)
	if e.Aliases == nil {
		e.Aliases = []*string{nil} // the computed name is the only alias
	}
	if e.Categories == nil {
		e.Categories = map[string]string{}
	}
	if e.Options == nil {
		e.Options = map[string]any{}
	}
	e.place()
	h.reg.addEntity(e)
}

// furnishState makes a state without telling anybody.
func (h *House) furnishState(r stateRow) {
	if r.Attrs == nil {
		r.Attrs = map[string]any{}
	}
	if _, ok := r.Attrs["access_token"]; ok {
		token := h.hexID() + h.hexID()
		r.Attrs["access_token"] = token
		if p, ok := r.Attrs["entity_picture"].(string); ok {
			r.Attrs["entity_picture"] = strings.Replace(p, "TOKEN", token, 1)
		}
	}
	now := h.now()
	s := &state{id: r.ID, value: r.Value, attrs: r.Attrs, changed: now, updated: now, reported: now, ctx: h.newCause("", "")}
	if h.states[r.ID] == nil {
		h.order = append(h.order, r.ID)
	}
	h.states[r.ID] = s
	h.past.keep(s)
	if domainOf(r.ID) == "group" {
		for _, m := range members(r.Attrs) {
			h.groupsOf[m] = append(h.groupsOf[m], r.ID)
		}
	}
}

func (h *House) loadBodies(name string) {
	bodies := load[map[string]json.RawMessage](name)
	for _, id := range slices.Sorted(maps.Keys(bodies)) {
		if domainOf(id) == "scene" {
			b := &sceneBody{raw: bodies[id]}
			if json.Unmarshal(bodies[id], b) != nil {
				panic("simhome: body of " + id)
			}
			h.reg.scenes[id] = b
			continue
		}
		h.addMachine(id, bodies[id])
		for _, t := range h.runs[id].body.Triggers {
			for _, e := range t.Entity {
				if !slices.Contains(h.triggeredBy[e], id) {
					h.triggeredBy[e] = append(h.triggeredBy[e], id)
				}
			}
		}
	}
}
