package mirror

import (
	"maps"
	"slices"

	"hearth/internal/home"
)

// mostNamed is how many entities a change of the registry names one by one;
// beyond it says nil, for all.
const mostNamed = 1000

func some(ids []home.EntityID) []home.EntityID {
	if len(ids) > mostNamed {
		return nil
	}
	return ids
}

// rows takes new and changed rows of the entity registry, and those gone.
func (a *step) rows(rows []home.Entity, gone []home.EntityID) {
	var touched []home.EntityID
	for i := range rows {
		if a.row(&rows[i]) {
			touched = append(touched, rows[i].ID)
		}
	}
	for _, id := range gone {
		if a.unrow(id) {
			touched = append(touched, id)
		}
	}
	if len(touched) > 0 {
		a.registryChanged("entity", some(touched))
	}
}

// row takes one row; it reports whether that changed anything.
func (a *step) row(row *home.Entity) bool {
	slot, id := a.slot(row.ID)
	c := a.cells.at(slot)
	if c != nil && sameRow(c.row, row) {
		return false
	}
	n := &cell{id: id}
	if c != nil {
		n.state = c.state
	}
	n.row = a.w.kept(*row, id)
	n.row.Name, n.row.Area, n.row.Floor = join(n.row, n.state, a.v.places, a.v.devs)
	if row.RegistryID != "" {
		a.w.rids.add(n.row.RegistryID, slot)
	}
	a.put(slot, c, n)
	return true
}

// unrow takes a row away; a state that is still there keeps a stand-in.
func (a *step) unrow(id home.EntityID) bool {
	slot, ok := a.w.slots.find(id)
	if !ok {
		return false
	}
	c := a.cells.at(slot)
	if c == nil || c.row.RegistryID == "" {
		return false
	}
	var n *cell
	if c.state != nil {
		n = &cell{id: c.id, state: c.state}
		n.row = joined(&home.Entity{ID: c.id}, c.state, a.v.places, a.v.devs)
	}
	a.put(slot, c, n)
	return true
}

// rename moves rows to their new ids. The states follow by reports of their
// own: Home Assistant removes the old one and adds the new one.
func (a *step) rename(ids map[home.EntityID]home.EntityID) {
	var touched []home.EntityID
	for _, from := range slices.Sorted(maps.Keys(ids)) {
		to := ids[from]
		old, ok := a.w.slots.find(from)
		if !ok || from == to {
			continue
		}
		c := a.cells.at(old)
		if c == nil || c.row.RegistryID == "" {
			continue
		}
		row := *c.row
		row.ID = to
		a.unrow(from)
		a.row(&row)
		touched = append(touched, from, to)
		if b, ok := a.v.misc.bodies[from]; ok {
			m := *a.v.misc
			m.bodies = maps.Clone(m.bodies)
			delete(m.bodies, from)
			b.Entity = to
			m.bodies[to] = b
			a.v.misc = &m
		}
	}
	if len(touched) > 0 {
		a.registryChanged("entity", some(touched))
	}
}

// registries replaces the lists that are not nil and joins anew what that
// concerns.
func (a *step) registries(r *home.Registries) {
	oldPlaces, oldDevs := a.v.places, a.v.devs
	if r.Areas != nil || r.Floors != nil || r.Labels != nil || r.Users != nil {
		a.v.places = oldPlaces.with(r)
		a.tellPlaces(oldPlaces)
	}
	if r.Devices != nil || r.Composites != nil {
		a.v.devs = oldDevs.with(r)
	}
	concerned := map[uint32]bool{}
	moved := a.concerns(oldPlaces, oldDevs, concerned)
	a.rejoin(concerned)
	if moved || r.Devices != nil && !equalFunc(oldDevs.rows, a.v.devs.rows, sameDevice) {
		a.registryChanged("device", nil)
	}
	a.touched = true
	if r.Entities == nil {
		return
	}
	listed := make(map[home.EntityID]struct{}, len(r.Entities))
	for i := range r.Entities {
		listed[r.Entities[i].ID] = struct{}{}
	}
	var gone []home.EntityID
	a.cells.each(func(_ uint32, c *cell) {
		if _, ok := listed[c.id]; !ok && c.row.RegistryID != "" {
			gone = append(gone, c.id)
		}
	})
	slices.Sort(gone)
	a.rows(r.Entities, gone)
}

func (a *step) tellPlaces(old *places) {
	n := a.v.places
	if !equalFunc(old.areas, n.areas, sameArea) {
		a.registryChanged("area", nil)
	}
	if !equalFunc(old.floors, n.floors, sameFloor) {
		a.registryChanged("floor", nil)
	}
	if !slices.Equal(old.labels, n.labels) {
		a.registryChanged("label", nil)
	}
	if !slices.Equal(old.users, n.users) {
		a.registryChanged("user", nil)
	}
}

// concerns collects the entities whose name, area or floor may differ now:
// those of devices that are called otherwise or are elsewhere, and those in
// areas whose floor changed. It reports whether any device did.
func (a *step) concerns(oldP *places, oldD *devices, out map[uint32]bool) bool {
	moved := false
	if oldD != a.v.devs {
		check := func(id home.DeviceID) {
			x, y := oldD.byID[id], a.v.devs.byID[id]
			if x != nil && y != nil && x.DisplayName() == y.DisplayName() && oldD.area[id] == a.v.devs.area[id] {
				return
			}
			moved = true
			for _, slot := range a.v.index.dims[byDevice].get(string(id)) {
				out[slot] = true
			}
		}
		for id := range a.v.devs.byID {
			check(id)
		}
		for id := range oldD.byID {
			if a.v.devs.byID[id] == nil {
				check(id)
			}
		}
	}
	if oldP != a.v.places {
		a.v.index.dims[byArea].keys(func(key string, _ int) {
			x, y := oldP.area[home.AreaID(key)], a.v.places.area[home.AreaID(key)]
			if (x == nil) == (y == nil) && (x == nil || x.Floor == y.Floor) {
				return
			}
			for _, slot := range a.v.index.dims[byArea].get(key) {
				out[slot] = true
			}
		})
	}
	return moved
}

func (a *step) rejoin(slots map[uint32]bool) {
	for slot := range slots {
		c := a.cells.at(slot)
		if c == nil {
			continue
		}
		row := joined(c.row, c.state, a.v.places, a.v.devs)
		if row != c.row {
			a.put(slot, c, &cell{id: c.id, state: c.state, row: row})
		}
	}
}

func equalFunc[T any](a, b []T, same func(x, y *T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameArea(x, y *home.Area) bool {
	return x.ID == y.ID && x.Name == y.Name && x.Floor == y.Floor &&
		equalLists(x.Aliases, y.Aliases) && equalLists(x.Labels, y.Labels)
}

func sameFloor(x, y *home.Floor) bool {
	if x.ID != y.ID || x.Name != y.Name || !equalLists(x.Aliases, y.Aliases) || (x.Level == nil) != (y.Level == nil) {
		return false
	}
	return x.Level == nil || *x.Level == *y.Level
}

func sameDevice(x, y *home.Device) bool {
	return x.ID == y.ID && x.Name == y.Name && x.NameByUser == y.NameByUser && x.Manufacturer == y.Manufacturer &&
		x.Model == y.Model && x.Area == y.Area && x.Parent == y.Parent && x.Via == y.Via &&
		equalLists(x.Labels, y.Labels) && x.DisabledBy == y.DisabledBy && x.EntryType == y.EntryType
}
