package simhome

import (
	"encoding/json"
	"slices"
)

func deviceList(c *conn, r request) { c.result(r.id, c.h.reg.devices) }

func deviceUpdate(c *conn, r request) {
	h := c.h
	d := h.reg.device(r.text("device_id"))
	if d == nil {
		c.fail(r.id, &fault{code: "not_found", message: "Device not found"})
		return
	}
	old := *d
	setField(r, "area_id", &d.AreaID)
	setField(r, "name_by_user", &d.NameByUser)
	setField(r, "disabled_by", &d.DisabledBy)
	if setField(r, "labels", &d.Labels) {
		d.Labels = slices.DeleteFunc(d.Labels, func(l string) bool { return h.reg.label(l) == nil })
	}
	if changes := rowChanges(&old, d); len(changes) > 0 {
		d.ModifiedAt = unix(h.now())
		h.fireJSON("device_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "device_id": d.ID, "changes": changes})
		h.renameMembers(d)
	}
	c.result(r.id, d)
}

// renameMembers makes the states of a device's entities show its new name.
func (h *House) renameMembers(d *deviceRow) {
	for _, e := range h.reg.entities {
		s := h.states[e.EntityID]
		if deref(e.DeviceID) != d.ID || s == nil {
			continue
		}
		if name := h.friendlyName(e); name != "" {
			h.write(e.EntityID, s.value, merged(s.attrs, map[string]any{"friendly_name": name}), h.newCause("", ""))
		}
	}
}

// rowChanges are the old values of what differs between two rows.
func rowChanges(old, now any) map[string]any {
	was, is := map[string]any{}, map[string]any{}
	json.Unmarshal(mustJSON(old), &was)
	json.Unmarshal(mustJSON(now), &is)
	for k, v := range was {
		if same(v, is[k]) {
			delete(was, k)
		}
	}
	return was
}

func compositeSplits(c *conn, r request) {
	m := map[string]any{}
	for id, parts := range c.h.reg.composites {
		m[id] = map[string]any{"device_ids": parts, "primary_device_id": parts[0]}
	}
	c.result(r.id, m)
}

func areaList(c *conn, r request)  { c.result(r.id, orEmpty(c.h.reg.areas)) }
func floorList(c *conn, r request) { c.result(r.id, orEmpty(c.h.reg.floors)) }
func labelList(c *conn, r request) { c.result(r.id, orEmpty(c.h.reg.labels)) }

// nameTaken answers invalid_info when another row has the name already.
func nameTaken(c *conn, r request, name string, taken bool) bool {
	if taken {
		c.fail(r.id, &fault{code: "invalid_info", message: "The name " + name + " (" + squash(name) + ") is already in use"})
	}
	return taken
}

func areaCreate(c *conn, r request) {
	h := c.h
	name := r.text("name")
	if nameTaken(c, r, name, find(h.reg.areas, func(a *areaRow) bool { return squash(a.Name) == squash(name) }) != nil) {
		return
	}
	a := &areaRow{ID: free(name, func(id string) bool { return h.reg.area(id) != nil }), Name: name, CreatedAt: unix(h.now())}
	h.applyArea(a, r)
	h.reg.areas = append(h.reg.areas, a)
	h.areaEvent("create", a.ID)
	c.result(r.id, a)
}

func (h *House) applyArea(a *areaRow, r request) {
	setField(r, "name", &a.Name)
	setField(r, "floor_id", &a.FloorID)
	setField(r, "icon", &a.Icon)
	setField(r, "aliases", &a.Aliases)
	setField(r, "labels", &a.Labels)
	setField(r, "picture", &a.Picture)
	a.Aliases, a.Labels = orEmpty(a.Aliases), orEmpty(a.Labels)
	a.ModifiedAt = unix(h.now())
}

func (h *House) areaEvent(action, id string) {
	h.fireJSON("area_registry_updated", h.newCause("", ""), map[string]any{"action": action, "area_id": id})
}

func areaUpdate(c *conn, r request) {
	h := c.h
	a := h.reg.area(r.text("area_id"))
	if a == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Area ID doesn't exist"})
		return
	}
	if name := r.text("name"); name != "" && nameTaken(c, r, name, find(h.reg.areas, func(o *areaRow) bool {
		return o != a && squash(o.Name) == squash(name)
	}) != nil) {
		return
	}
	h.applyArea(a, r)
	h.areaEvent("update", a.ID)
	c.result(r.id, a)
}

func areaDelete(c *conn, r request) {
	h := c.h
	id := r.text("area_id")
	if h.reg.area(id) == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Area ID doesn't exist"})
		return
	}
	h.reg.areas = slices.DeleteFunc(h.reg.areas, func(a *areaRow) bool { return a.ID == id })
	for _, d := range h.reg.devices {
		if deref(d.AreaID) == id {
			d.AreaID = nil
			h.fireJSON("device_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "device_id": d.ID, "changes": map[string]any{"area_id": id}})
		}
	}
	for _, e := range h.reg.entities {
		if deref(e.AreaID) == id {
			e.AreaID = nil
			h.fireJSON("entity_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "entity_id": e.EntityID, "changes": map[string]any{"area_id": id}})
		}
	}
	h.areaEvent("remove", id)
	c.resultJSON(r.id, []byte(`"success"`))
}

func floorCreate(c *conn, r request) {
	h := c.h
	name := r.text("name")
	if nameTaken(c, r, name, find(h.reg.floors, func(f *floorRow) bool { return squash(f.Name) == squash(name) }) != nil) {
		return
	}
	f := &floorRow{ID: free(name, func(id string) bool { return h.reg.floor(id) != nil }), CreatedAt: unix(h.now())}
	h.applyFloor(f, r)
	h.reg.floors = append(h.reg.floors, f)
	h.fireJSON("floor_registry_updated", h.newCause("", ""), map[string]any{"action": "create", "floor_id": f.ID})
	c.result(r.id, f)
}

func (h *House) applyFloor(f *floorRow, r request) {
	setField(r, "name", &f.Name)
	setField(r, "level", &f.Level)
	setField(r, "icon", &f.Icon)
	setField(r, "aliases", &f.Aliases)
	f.Aliases = orEmpty(f.Aliases)
	f.ModifiedAt = unix(h.now())
}

func floorUpdate(c *conn, r request) {
	h := c.h
	f := h.reg.floor(r.text("floor_id"))
	if f == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Floor ID doesn't exist"})
		return
	}
	h.applyFloor(f, r)
	h.fireJSON("floor_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "floor_id": f.ID})
	c.result(r.id, f)
}

func floorDelete(c *conn, r request) {
	h := c.h
	id := r.text("floor_id")
	if h.reg.floor(id) == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Floor ID doesn't exist"})
		return
	}
	h.reg.floors = slices.DeleteFunc(h.reg.floors, func(f *floorRow) bool { return f.ID == id })
	h.fireJSON("floor_registry_updated", h.newCause("", ""), map[string]any{"action": "remove", "floor_id": id})
	for _, a := range h.reg.areas {
		if deref(a.FloorID) == id {
			a.FloorID = nil
			h.areaEvent("update", a.ID)
		}
	}
	c.result(r.id, nil)
}

func labelCreate(c *conn, r request) {
	h := c.h
	name := r.text("name")
	if nameTaken(c, r, name, find(h.reg.labels, func(l *labelRow) bool { return squash(l.Name) == squash(name) }) != nil) {
		return
	}
	l := &labelRow{ID: free(name, func(id string) bool { return h.reg.label(id) != nil }), CreatedAt: unix(h.now())}
	h.applyLabel(l, r)
	h.reg.labels = append(h.reg.labels, l)
	h.fireJSON("label_registry_updated", h.newCause("", ""), map[string]any{"action": "create", "label_id": l.ID})
	c.result(r.id, l)
}

func (h *House) applyLabel(l *labelRow, r request) {
	setField(r, "name", &l.Name)
	setField(r, "color", &l.Color)
	setField(r, "icon", &l.Icon)
	setField(r, "description", &l.Description)
	l.ModifiedAt = unix(h.now())
}

func labelUpdate(c *conn, r request) {
	h := c.h
	l := h.reg.label(r.text("label_id"))
	if l == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Label ID doesn't exist"})
		return
	}
	h.applyLabel(l, r)
	h.fireJSON("label_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "label_id": l.ID})
	c.result(r.id, l)
}

func labelDelete(c *conn, r request) {
	h := c.h
	id := r.text("label_id")
	if h.reg.label(id) == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: "Label ID doesn't exist"})
		return
	}
	h.reg.labels = slices.DeleteFunc(h.reg.labels, func(l *labelRow) bool { return l.ID == id })
	h.fireJSON("label_registry_updated", h.newCause("", ""), map[string]any{"action": "remove", "label_id": id})
	for _, e := range h.reg.entities {
		if slices.Contains(e.Labels, id) {
			old := e.Labels
			e.Labels = slices.DeleteFunc(slices.Clone(old), func(l string) bool { return l == id })
			h.fireJSON("entity_registry_updated", h.newCause("", ""), map[string]any{"action": "update", "entity_id": e.EntityID, "changes": map[string]any{"labels": old}})
		}
	}
	c.result(r.id, nil)
}
