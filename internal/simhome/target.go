package simhome

import (
	"maps"
	"slices"
)

// target is what a call or a question is about, by the keys of the protocol.
type target struct {
	Entities list `json:"entity_id"`
	Devices  list `json:"device_id"`
	Areas    list `json:"area_id"`
	Floors   list `json:"floor_id"`
	Labels   list `json:"label_id"`
}

func (t target) empty() bool {
	return len(t.Entities)+len(t.Devices)+len(t.Areas)+len(t.Floors)+len(t.Labels) == 0
}

// extracted is what a target really is.
type extracted struct {
	direct, indirect, devices, areas                           set
	missingDevices, missingAreas, missingFloors, missingLabels set
}

type set map[string]bool

func (s set) sorted() []string { return orEmpty(slices.Sorted(maps.Keys(s))) }

// extract resolves a target the way Home Assistant's target helper does.
func (h *House) extract(t target, expand, primaryOnly bool) extracted {
	x := extracted{set{}, set{}, set{}, set{}, set{}, set{}, set{}, set{}}
	for _, id := range t.Entities {
		if expand {
			h.expandGroup(id, x.direct, set{})
		} else {
			x.direct[id] = true
		}
	}
	if len(t.Devices)+len(t.Areas)+len(t.Floors)+len(t.Labels) == 0 {
		return x
	}
	r := &h.reg
	for _, id := range t.Floors {
		if r.floor(id) == nil {
			x.missingFloors[id] = true
		}
		for _, a := range r.areas {
			if deref(a.FloorID) == id {
				x.areas[a.ID] = true
			}
		}
	}
	for _, id := range t.Areas {
		x.areas[id] = true
		if r.area(id) == nil {
			x.missingAreas[id] = true
		}
	}
	for _, id := range t.Devices {
		h.addDevice(id, &x)
	}
	for _, id := range t.Labels {
		h.addLabel(id, &x)
	}
	h.addMembers(&x, primaryOnly)
	return x
}

// expandGroup replaces group entities by their members, however deep.
func (h *House) expandGroup(id string, into, seen set) {
	if domainOf(id) != "group" {
		into[id] = true
		return
	}
	if seen[id] {
		return
	}
	seen[id] = true
	for _, m := range members(h.attrs(id)) {
		h.expandGroup(m, into, seen)
	}
}

// members are the entity ids a group-like entity names in its attribute.
func members(attrs map[string]any) []string {
	var ids []string
	switch v := attrs["entity_id"].(type) {
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				ids = append(ids, s)
			}
		}
	case []string:
		ids = v
	}
	return ids
}

// addDevice adds a device with its children; a composite stands for the devices it was split into.
func (h *House) addDevice(id string, x *extracted) {
	if parts, ok := h.reg.composites[id]; ok {
		for _, p := range parts {
			h.addDevice(p, x)
		}
		return
	}
	if h.reg.device(id) == nil {
		x.missingDevices[id] = true
		x.devices[id] = true
		return
	}
	x.devices[id] = true
	for _, d := range h.reg.devices {
		if deref(d.ParentDeviceID) == id {
			x.devices[d.ID] = true
		}
	}
}

func (h *House) addLabel(id string, x *extracted) {
	r := &h.reg
	if r.label(id) == nil {
		x.missingLabels[id] = true
	}
	for _, e := range r.entities {
		if e.HiddenBy == nil && slices.Contains(e.Labels, id) {
			x.indirect[e.EntityID] = true
		}
	}
	for _, d := range r.devices {
		if slices.Contains(d.Labels, id) {
			h.addDevice(d.ID, x)
		}
	}
	for _, a := range r.areas {
		if slices.Contains(a.Labels, id) {
			x.areas[a.ID] = true
		}
	}
}

// addMembers adds the entities of the referenced devices and areas.
func (h *House) addMembers(x *extracted, primaryOnly bool) {
	byArea := set{}
	for _, d := range h.reg.devices {
		if a := h.reg.deviceArea(d); a != "" && x.areas[a] {
			byArea[d.ID] = true
		}
	}
	for _, e := range h.reg.entities {
		if e.HiddenBy != nil || primaryOnly && e.EntityCategory != nil {
			continue
		}
		dev, area := deref(e.DeviceID), deref(e.AreaID)
		if x.devices[dev] || area != "" && x.areas[area] || area == "" && byArea[dev] {
			x.indirect[e.EntityID] = true
		}
	}
	maps.Copy(x.devices, byArea)
}
