package simhome

import (
	"encoding/json"
	"slices"
)

// shelf is one of the three small registries: areas, floors, labels.
type shelf[T any] struct {
	key   string // area_id
	event string // area_registry_updated
	what  string // Area
	rows  func(*registries) *[]*T
	id    func(*T) *string
	name  func(*T) *string
	apply func(*T, request, float64) // takes the fields of a request; the time is created_at of a new row
	leave func(*House, string)       // what loses the row when it goes, before the event
	after func(*House, string)       // the same, after the event
	gone  any                        // what delete answers
}

func (s shelf[T]) find(r *registries, id string) *T {
	return find(*s.rows(r), func(x *T) bool { return *s.id(x) == id })
}

func (s shelf[T]) say(h *House, action, id string) {
	h.fireJSON(s.event, h.newCause("", ""), map[string]any{"action": action, s.key: id})
}

func (s shelf[T]) list(c *conn, r request) { c.result(r.id, orEmpty(*s.rows(&c.h.reg))) }

// taken answers invalid_info when another row has the name already.
func (s shelf[T]) taken(c *conn, r request, self *T) bool {
	name := r.text("name")
	clash := name != "" && find(*s.rows(&c.h.reg), func(x *T) bool { return x != self && squash(*s.name(x)) == squash(name) }) != nil
	if clash {
		c.fail(r.id, &fault{code: "invalid_info", message: "The name " + name + " (" + squash(name) + ") is already in use"})
	}
	return clash
}

func (s shelf[T]) create(c *conn, r request) {
	h, row := c.h, new(T)
	if s.taken(c, r, nil) {
		return
	}
	*s.id(row) = free(r.text("name"), func(id string) bool { return s.find(&h.reg, id) != nil })
	s.apply(row, r, unix(h.now()))
	*s.rows(&h.reg) = append(*s.rows(&h.reg), row)
	s.say(h, "create", *s.id(row))
	c.result(r.id, row)
}

// known is the row a request names; nil was answered.
func (s shelf[T]) known(c *conn, r request) *T {
	row := s.find(&c.h.reg, r.text(s.key))
	if row == nil {
		c.fail(r.id, &fault{code: "invalid_info", message: s.what + " ID doesn't exist"})
	}
	return row
}

func (s shelf[T]) update(c *conn, r request) {
	row := s.known(c, r)
	if row == nil || s.taken(c, r, row) {
		return
	}
	s.apply(row, r, 0)
	s.say(c.h, "update", *s.id(row))
	c.result(r.id, row)
}

func (s shelf[T]) remove(c *conn, r request) {
	row := s.known(c, r)
	if row == nil {
		return
	}
	h, id := c.h, *s.id(row)
	*s.rows(&h.reg) = slices.DeleteFunc(*s.rows(&h.reg), func(x *T) bool { return x == row })
	if s.leave != nil {
		s.leave(h, id)
	}
	s.say(h, "remove", id)
	if s.after != nil {
		s.after(h, id)
	}
	c.result(r.id, s.gone)
}

// commands are the four of a shelf.
func (s shelf[T]) commands(prefix, fields string) map[string]command {
	return map[string]command{
		prefix + "/list":   {do: s.list},
		prefix + "/create": {admin: true, keys: "name! " + fields, do: s.create},
		prefix + "/update": {admin: true, keys: s.key + "! name " + fields, do: s.update},
		prefix + "/delete": {admin: true, keys: s.key + "!", do: s.remove},
	}
}

func areaShelf() shelf[areaRow] {
	return shelf[areaRow]{key: "area_id", event: "area_registry_updated", what: "Area", gone: "success",
		rows: func(r *registries) *[]*areaRow { return &r.areas },
		id:   func(a *areaRow) *string { return &a.ID }, name: func(a *areaRow) *string { return &a.Name },
		apply: func(a *areaRow, r request, at float64) {
			setField(r, "name", &a.Name)
			setField(r, "floor_id", &a.FloorID)
			setField(r, "icon", &a.Icon)
			setField(r, "aliases", &a.Aliases)
			setField(r, "labels", &a.Labels)
			a.Aliases, a.Labels = orEmpty(a.Aliases), orEmpty(a.Labels)
			a.CreatedAt, a.ModifiedAt = stamps(a.CreatedAt, at)
		},
		leave: func(h *House, id string) {
			for _, d := range h.reg.devices {
				if deref(d.AreaID) == id {
					d.AreaID = nil
					h.rowEvent("device", d.ID, map[string]any{"area_id": id})
				}
			}
			for _, e := range h.reg.entities {
				if deref(e.AreaID) == id {
					e.AreaID = nil
					h.rowEvent("entity", e.EntityID, map[string]any{"area_id": id})
				}
			}
		}}
}

func floorShelf() shelf[floorRow] {
	return shelf[floorRow]{key: "floor_id", event: "floor_registry_updated", what: "Floor",
		rows: func(r *registries) *[]*floorRow { return &r.floors },
		id:   func(f *floorRow) *string { return &f.ID }, name: func(f *floorRow) *string { return &f.Name },
		apply: func(f *floorRow, r request, at float64) {
			setField(r, "name", &f.Name)
			setField(r, "level", &f.Level)
			setField(r, "icon", &f.Icon)
			setField(r, "aliases", &f.Aliases)
			f.Aliases = orEmpty(f.Aliases)
			f.CreatedAt, f.ModifiedAt = stamps(f.CreatedAt, at)
		},
		after: func(h *House, id string) {
			for _, a := range h.reg.areas {
				if deref(a.FloorID) == id {
					a.FloorID = nil
					areaShelf().say(h, "update", a.ID)
				}
			}
		}}
}

func labelShelf() shelf[labelRow] {
	return shelf[labelRow]{key: "label_id", event: "label_registry_updated", what: "Label",
		rows: func(r *registries) *[]*labelRow { return &r.labels },
		id:   func(l *labelRow) *string { return &l.ID }, name: func(l *labelRow) *string { return &l.Name },
		apply: func(l *labelRow, r request, at float64) {
			setField(r, "name", &l.Name)
			setField(r, "color", &l.Color)
			setField(r, "icon", &l.Icon)
			setField(r, "description", &l.Description)
			l.CreatedAt, l.ModifiedAt = stamps(l.CreatedAt, at)
		},
		after: func(h *House, id string) {
			for _, e := range h.reg.entities {
				if old := e.Labels; slices.Contains(old, id) {
					e.Labels = slices.DeleteFunc(slices.Clone(old), func(l string) bool { return l == id })
					h.rowEvent("entity", e.EntityID, map[string]any{"labels": old})
				}
			}
		}}
}

// stamps are created_at and modified_at of a row; one that has none is new.
func stamps(created, at float64) (float64, float64) {
	if created == 0 {
		created = at
	}
	return created, max(created, at)
}

// rowEvent tells that a row of the entity or device registry changed.
func (h *House) rowEvent(kind, id string, changes map[string]any) {
	h.fireJSON(kind+"_registry_updated", h.newCause("", ""), map[string]any{"action": "update", kind + "_id": id, "changes": changes})
}

func deviceList(c *conn, r request) {
	rows := []any{}
	for _, d := range c.h.reg.devices {
		rows = append(rows, d.shown())
	}
	c.result(r.id, rows)
}

// shown is the row as lists show it: a child device has fewer fields.
func (d *deviceRow) shown() any {
	d.NextNamePart = nil
	switch {
	case d.AreaID != nil:
		d.NextNamePart = ptr("area")
	case d.ParentDeviceID != nil:
		d.NextNamePart = ptr("parent_device")
	}
	if d.ParentDeviceID == nil {
		return d
	}
	return map[string]any{"area_id": d.AreaID, "config_entry_id": d.ConfigEntryID, "config_subentry_id": d.ConfigSubentryID, "created_at": d.CreatedAt,
		"disabled_by": d.DisabledBy, "id": d.ID, "identifiers": d.Identifiers, "labels": d.Labels, "modified_at": d.ModifiedAt,
		"name_by_user": d.NameByUser, "name": d.Name, "next_name_part": d.NextNamePart, "parent_device_id": d.ParentDeviceID}
}

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
		h.rowEvent("device", d.ID, changes)
		for _, e := range h.reg.entities {
			if deref(e.DeviceID) == d.ID {
				h.followRow(e, e)
			}
		}
	}
	c.result(r.id, d.shown())
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
		m[id] = map[string]any{"split_ids": parts, "primary_id": parts[0]}
	}
	c.result(r.id, m)
}
