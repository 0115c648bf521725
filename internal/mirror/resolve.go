package mirror

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hearth/internal/home"
)

// Resolution is what a target really is. All lists are sorted.
type Resolution struct {
	// Entities are those referenced, by id or through anything else.
	Entities []home.EntityID
	// Devices are those named, their children, and those in the areas.
	Devices []home.DeviceID
	// Areas are those named and those of floors and labels.
	Areas []home.AreaID
	// Missing is what was named but is unknown.
	Missing struct {
		Entities []home.EntityID
		Devices  []home.DeviceID
		Areas    []home.AreaID
		Floors   []home.FloorID
		Labels   []home.LabelID
	}
}

// set is a set that is read out sorted.
type set[T ~string] map[T]struct{}

func (s set[T]) add(items ...T) {
	for _, x := range items {
		s[x] = struct{}{}
	}
}

func (s set[T]) sorted() []T { return slices.Sorted(maps.Keys(s)) }

// resolving is one target being resolved.
type resolving struct {
	v        *View
	entities set[home.EntityID]
	devices  set[home.DeviceID]
	areas    set[home.AreaID]
	missing  struct {
		entities set[home.EntityID]
		devices  set[home.DeviceID]
		areas    set[home.AreaID]
		floors   set[home.FloorID]
		labels   set[home.LabelID]
	}
}

// Resolve says what Home Assistant's extract_from_target says of t, with
// expand as its expand_group: whether group entities that are named become
// their members. Entities found through a device, an area or a floor leave out
// hidden, config and diagnostic ones; those found by their own label leave out
// only hidden ones; those named are kept whatever they are. In addition, named
// entities that have neither state nor row are listed as missing.
func (v *View) Resolve(t home.Target, expand bool) Resolution {
	r := resolving{v: v, entities: set[home.EntityID]{}, devices: set[home.DeviceID]{}, areas: set[home.AreaID]{}}
	r.missing.entities, r.missing.devices, r.missing.areas = set[home.EntityID]{}, set[home.DeviceID]{}, set[home.AreaID]{}
	r.missing.floors, r.missing.labels = set[home.FloorID]{}, set[home.LabelID]{}
	r.named(t.Entities, expand)
	for _, id := range t.Floors {
		if v.floor[id] == nil {
			r.missing.floors.add(id)
		}
		r.areas.add(v.areasOnFloor[id]...)
	}
	for _, id := range t.Areas {
		if v.area[id] == nil {
			r.missing.areas.add(id)
		}
		r.areas.add(id)
	}
	for _, id := range t.Devices {
		r.device(id)
	}
	for _, id := range t.Labels {
		r.label(id)
	}
	r.indirect()
	out := Resolution{Entities: r.entities.sorted(), Devices: r.devices.sorted(), Areas: r.areas.sorted()}
	out.Missing.Entities, out.Missing.Devices = r.missing.entities.sorted(), r.missing.devices.sorted()
	out.Missing.Areas, out.Missing.Floors = r.missing.areas.sorted(), r.missing.floors.sorted()
	out.Missing.Labels = r.missing.labels.sorted()
	return out
}

func (r *resolving) named(ids []home.EntityID, expand bool) {
	seen := set[home.EntityID]{}
	for _, id := range ids {
		id = home.EntityID(strings.ToLower(string(id)))
		if id == "none" {
			continue
		}
		if id != "all" && r.v.cell(id) == nil {
			r.missing.entities.add(id)
		}
		switch {
		case !expand:
			r.entities.add(id)
		case id != "all":
			r.expand(id, seen)
		}
	}
}

// expand puts the members of a group in its place, groups in groups included,
// and stops at circles.
func (r *resolving) expand(id home.EntityID, seen set[home.EntityID]) {
	if !r.v.expands(id) {
		r.entities.add(id)
		return
	}
	if _, ok := seen[id]; ok {
		return
	}
	seen.add(id)
	for _, m := range r.v.Members(id) {
		r.expand(m, seen)
	}
}

// expands reports whether Home Assistant replaces the entity by its members:
// groups of the old kind, and lock groups. Groups of other domains act as
// entities of their own.
func (v *View) expands(id home.EntityID) bool {
	switch id.Domain() {
	case "group":
		return true
	case "lock":
		c := v.cell(id)
		return c != nil && (c.row.RegistryID == "" || c.row.Platform == "group") && v.Members(id) != nil
	}
	return false
}

// device adds a named device with its children. A composite one stands for the
// devices it was split into and is not itself referenced.
func (r *resolving) device(id home.DeviceID) {
	d := r.v.devs
	if split := d.composites[id]; len(split) > 0 {
		for _, s := range split {
			r.withChildren(s)
		}
		return
	}
	if d.byID[id] == nil {
		r.missing.devices.add(id)
		r.devices.add(id)
		return
	}
	r.withChildren(id)
}

func (r *resolving) withChildren(id home.DeviceID) {
	r.devices.add(id)
	r.devices.add(r.v.devs.children[id]...)
}

func (r *resolving) label(id home.LabelID) {
	if r.v.label[id] == nil {
		r.missing.labels.add(id)
	}
	for _, slot := range r.v.index.dims[byLabel].get(string(id)) {
		if c := r.v.cells.at(slot); c != nil && !c.row.Hidden() {
			r.entities.add(c.id)
		}
	}
	for _, dev := range r.v.devs.withLabel[id] {
		r.withChildren(dev)
	}
	r.areas.add(r.v.areasWithLabel[id]...)
}

// indirect adds what hangs on the devices and areas found so far. The order
// matters: a device found through its area gives only the entities that have
// no area of their own.
func (r *resolving) indirect() {
	for id := range r.devices {
		r.through(id, false)
	}
	found := set[home.DeviceID]{}
	for area := range r.areas {
		found.add(r.v.devs.inArea[area]...)
		for _, slot := range r.v.index.dims[byArea].get(string(area)) {
			if c := r.v.cells.at(slot); c != nil && c.row.OwnArea == area && ordinary(c.row) {
				r.entities.add(c.id)
			}
		}
	}
	for id := range found {
		r.through(id, true)
		r.devices.add(id)
	}
}

// through adds a device's entities, without disabled ones.
func (r *resolving) through(id home.DeviceID, byArea bool) {
	for _, slot := range r.v.index.dims[byDevice].get(string(id)) {
		c := r.v.cells.at(slot)
		if c == nil || c.row.DisabledBy != "" || !ordinary(c.row) || byArea && c.row.OwnArea != "" {
			continue
		}
		r.entities.add(c.id)
	}
}

// ordinary reports whether an indirect target reaches the entity.
func ordinary(e *home.Entity) bool { return !e.Hidden() && e.Category == "" }

// Members are the entities of a group-like entity (attribute entity_id), in
// its own order; nil when it is none. Groups, group helpers and scenes have it.
func (v *View) Members(id home.EntityID) []home.EntityID {
	s := v.State(id)
	if s == nil {
		return nil
	}
	raw := attribute(s.Attrs, "entity_id")
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	var ids []home.EntityID
	if json.Unmarshal(raw, &ids) != nil || len(ids) == 0 {
		return nil
	}
	for i := range ids {
		ids[i] = home.EntityID(strings.ToLower(string(ids[i])))
	}
	return ids
}
