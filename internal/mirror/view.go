package mirror

import (
	"encoding/json"
	"iter"
	"time"

	"hearth/internal/home"
)

// View is the house at one sequence number. It never changes.
type View struct {
	seq      uint64
	registry uint64    // grows when any row, place, device or name differs
	loaded   bool      // something was ever known
	live     bool      // fed by a link
	down     bool      // the link said that it is down
	since    time.Time // not live: since when what we know has not been renewed
	fetched  bool      // states were read directly, at since

	slots *names[home.EntityID]
	rids  *registryIDs
	cells vec[cell]
	index *index
	*places
	devs *devices
	misc *misc
}

// misc is what changes rarely and is looked up seldom.
type misc struct {
	info      home.Info
	location  *time.Location
	services  []home.Service
	serviceAt map[string]int
	bodies    map[home.EntityID]home.Body
}

func emptyView(slots *names[home.EntityID], rids *registryIDs) *View {
	x := &index{}
	for d := range x.dims {
		x.dims[d].names = &names[string]{}
	}
	var none home.Registries
	return &View{
		slots: slots, rids: rids, index: x,
		places: (&places{}).with(&none), devs: (&devices{}).with(&none),
		misc: &misc{location: time.UTC},
	}
}

// Seq is the sequence number: the view holds every change up to it.
func (v *View) Seq() uint64 { return v.seq }

// Registry grows whenever a registry, a name or the set of entities changed:
// what is derived from those is good while it stays the same.
func (v *View) Registry() uint64 { return v.registry }

// Stale says since when what the view shows has not been renewed; ok is false
// while it is live. For a view that Fresh fetched, since is when it was read.
func (v *View) Stale() (since time.Time, ok bool) { return v.since, !v.live }

// Fetched reports whether the states were read directly from Home Assistant,
// because the live map is not up.
func (v *View) Fetched() bool { return v.fetched }

// Empty reports whether nothing was ever loaded.
func (v *View) Empty() bool { return !v.loaded }

// Info is what Home Assistant says of itself.
func (v *View) Info() home.Info { return v.misc.info }

// Location is the home's time zone, UTC when unknown.
func (v *View) Location() *time.Location { return v.misc.location }

func (v *View) cell(id home.EntityID) *cell {
	i, ok := v.slots.find(id)
	if !ok {
		return nil
	}
	return v.cells.at(i)
}

// Entity gives state and joined row of id within sight. The row is never nil
// when ok: an entity without a registry row has a stand-in. The state is nil
// for a registered entity without one.
func (v *View) Entity(sc home.Scope, id home.EntityID) (e *home.Entity, s *home.State, ok bool) {
	c := v.cell(id)
	if c == nil || !sc.Sees(c.row) {
		return nil, nil, false
	}
	return c.row, c.state, true
}

// State is the state of id without scope: for the house's own work.
func (v *View) State(id home.EntityID) *home.State {
	if c := v.cell(id); c != nil {
		return c.state
	}
	return nil
}

// Row is the joined row of id without scope, nil when unknown.
func (v *View) Row(id home.EntityID) *home.Entity {
	if c := v.cell(id); c != nil {
		return c.row
	}
	return nil
}

// EntityByRegistryID is the joined row whose registry id is rid, nil when unknown.
func (v *View) EntityByRegistryID(rid string) *home.Entity {
	if rid == "" {
		return nil
	}
	newest, before, ok := v.rids.find(rid)
	if !ok {
		return nil
	}
	if c := v.cells.at(newest); c != nil && c.row.RegistryID == rid {
		return c.row
	}
	for _, slot := range before {
		if c := v.cells.at(slot); c != nil && c.row.RegistryID == rid {
			return c.row
		}
	}
	return nil
}

// Filter chooses entities; all set fields must fit. Area and Floor mean the
// joined ones, Label the entity's own labels.
type Filter struct {
	Domain string
	Area   home.AreaID
	Floor  home.FloorID
	Label  home.LabelID
	Device home.DeviceID
	State  string
}

// Entities yields what fits, ordered by id, using the narrowest lookup.
// Registered entities without a state (disabled ones, too) come with a nil
// state, unless State asks for one.
func (v *View) Entities(sc home.Scope, f Filter) iter.Seq2[*home.Entity, *home.State] {
	return func(yield func(*home.Entity, *home.State) bool) {
		if sc.Zero() {
			return
		}
		for _, slot := range v.narrowest(f) {
			c := v.cells.at(slot)
			if c == nil || !sc.Sees(c.row) || !fits(c, f) {
				continue
			}
			if !yield(c.row, c.state) {
				return
			}
		}
	}
}

func (v *View) narrowest(f Filter) list {
	best := v.index.all
	for d, key := range [dimensions]string{f.Domain, string(f.Area), string(f.Floor), string(f.Label), string(f.Device)} {
		if key == "" {
			continue
		}
		if l := v.index.dims[d].get(key); len(l) < len(best) {
			best = l
		}
	}
	return best
}

func fits(c *cell, f Filter) bool {
	switch {
	case f.Domain != "" && c.id.Domain() != f.Domain,
		f.Area != "" && c.row.Area != f.Area,
		f.Floor != "" && c.row.Floor != f.Floor,
		f.Device != "" && c.row.Device != f.Device,
		f.State != "" && (c.state == nil || c.state.Value != f.State):
		return false
	case f.Label == "":
		return true
	}
	for _, l := range c.row.Labels {
		if l == f.Label {
			return true
		}
	}
	return false
}

// Count is how many entities have a state or a row within sight.
func (v *View) Count(sc home.Scope) int {
	n := 0
	for range v.Entities(sc, Filter{}) {
		n++
	}
	return n
}

// Areas are all areas, ordered by name.
func (v *View) Areas() []home.Area { return v.areas }

// Floors are all floors, ordered by name.
func (v *View) Floors() []home.Floor { return v.floors }

// Labels are all labels, ordered by name.
func (v *View) Labels() []home.Label { return v.labels }

// Users are all accounts, ordered by name.
func (v *View) Users() []home.User { return v.users }

// Devices are all devices, ordered by the name people see.
func (v *View) Devices() []home.Device { return v.devs.rows }

// Services are all services, ordered by domain and name.
func (v *View) Services() []home.Service { return v.misc.services }

// Area finds one area by id, nil when unknown.
func (v *View) Area(id home.AreaID) *home.Area { return v.area[id] }

// Floor finds one floor by id, nil when unknown.
func (v *View) Floor(id home.FloorID) *home.Floor { return v.floor[id] }

// Label finds one label by id, nil when unknown.
func (v *View) Label(id home.LabelID) *home.Label { return v.label[id] }

// Device finds one device by id, nil when unknown.
func (v *View) Device(id home.DeviceID) *home.Device { return v.devs.byID[id] }

// User finds one account by id, nil when unknown.
func (v *View) User(id string) *home.User { return v.user[id] }

// Service finds one service, nil when unknown.
func (v *View) Service(domain, name string) *home.Service {
	if i, ok := v.misc.serviceAt[domain+"."+name]; ok {
		return &v.misc.services[i]
	}
	return nil
}

// Body is the stored text of an automation, script or scene; ok is false while
// it was not asked for yet.
func (v *View) Body(id home.EntityID) (home.Body, bool) {
	b, ok := v.misc.bodies[id]
	return b, ok
}

// Bodies says of how many automations, scripts and scenes the body (or the
// reason why there is none) is known and not in doubt, of how many there are.
func (v *View) Bodies() (have, want int) {
	for _, d := range [...]string{"automation", "script", "scene"} {
		for _, slot := range v.index.dims[byDomain].get(d) {
			if c := v.cells.at(slot); c != nil && c.state != nil {
				want++
				if b, ok := v.misc.bodies[c.id]; ok && !b.Old {
					have++
				}
			}
		}
	}
	return have, want
}

// DeviceArea is the area a device is in: its own, else its parent's; "" for none.
func (v *View) DeviceArea(id home.DeviceID) home.AreaID { return v.devs.area[id] }

// Class is the effective device class of a row and its state: the person's,
// else the state's attribute, else the integration's.
func Class(e *home.Entity, s *home.State) string {
	if e != nil && e.Class != "" {
		return e.Class
	}
	if s != nil {
		if c := text(s.Attrs, "device_class"); c != "" {
			return c
		}
	}
	if e != nil {
		return e.OrigClass
	}
	return ""
}

// Attribute gives one raw attribute of a state, nil when it has none.
func Attribute(s *home.State, name string) json.RawMessage {
	if s == nil {
		return nil
	}
	return attribute(s.Attrs, name)
}

// FindArea finds areas by id, name or alias, whatever the spelling of accents,
// case and spaces. A name that several areas have gives all; the id itself
// always gives one.
func (v *View) FindArea(s string) []home.Area {
	if a := v.area[home.AreaID(s)]; a != nil {
		return []home.Area{*a}
	}
	return pick(v.areas, v.findArea[squash(s)])
}

// FindFloor finds floors as FindArea finds areas.
func (v *View) FindFloor(s string) []home.Floor {
	if f := v.floor[home.FloorID(s)]; f != nil {
		return []home.Floor{*f}
	}
	return pick(v.floors, v.findFloor[squash(s)])
}

// FindLabel finds labels by id or name as FindArea finds areas.
func (v *View) FindLabel(s string) []home.Label {
	if l := v.label[home.LabelID(s)]; l != nil {
		return []home.Label{*l}
	}
	return pick(v.labels, v.findLabel[squash(s)])
}

func pick[T any](rows []T, at []int) []T {
	out := make([]T, 0, len(at))
	for _, i := range at {
		out = append(out, rows[i])
	}
	return out
}
