package mirror

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

// Apply takes one report and makes the next view. It never blocks on disk or
// on a watcher. It is safe from several goroutines; the order of one caller's
// reports is kept. What a report carries is copied where it could be reused.
func (w *Writer) Apply(r home.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.begin(r.Site, r.At)
	switch r.Kind {
	case home.ReportLink:
		a.link(r)
	case home.ReportSnapshot:
		a.snapshot(r)
	case home.ReportStates:
		for i := range r.Patches {
			a.patch(&r.Patches[i])
		}
	case home.ReportEntities:
		if r.Registries == nil {
			r.Registries = &home.Registries{}
		}
		a.rename(r.Renamed)
		a.rows(r.Registries.Entities, r.RemovedEntities)
	case home.ReportRegistry:
		if r.Registries != nil {
			a.registries(r.Registries)
		}
	case home.ReportEvent:
		if r.Event != nil {
			e := *r.Event
			e.Data = bytes.Clone(e.Data) // the link may reuse its buffer
			a.change(home.Change{Kind: home.Happened, Event: &e})
		}
	case home.ReportServices:
		a.services(r.Services)
	case home.ReportBodies:
		a.bodies(r.Bodies)
	case home.ReportInfo:
		a.info(r.Info)
	default:
		w.log.Error("a link made a report of no known kind", home.KeyKind, fmt.Sprint(r.Kind))
		return
	}
	a.finish()
}

// step is one report being applied.
type step struct {
	w       *Writer
	v       View
	cells   editor[cell]
	edits   edits
	site    home.Site
	at      time.Time
	catchUp bool
	touched bool // the view differs though no change tells so
	changes []home.Change
	one     [1]home.Change // most reports make one change
}

func (w *Writer) begin(site home.Site, at time.Time) *step {
	w.gen++
	if site == "" {
		site = w.c.Site
	}
	if at.IsZero() {
		at = time.Now()
	}
	s := &w.step
	*s = step{w: w, v: *w.house.View(), site: site, at: at.UTC()}
	s.cells = s.v.cells.edit(w.gen)
	s.changes = s.one[:0]
	return s
}

func (a *step) finish() {
	if len(a.changes) == 0 && !a.touched {
		return
	}
	a.v.cells = a.cells.vec
	if !a.edits.empty() {
		a.v.index = a.v.index.apply(&a.edits, a.w.slots.all(), a.w.gen)
	}
	v := a.v
	a.w.house.publish(&v, a.changes)
	a.v, a.cells, a.changes, a.one = View{}, editor[cell]{}, nil, [1]home.Change{} // hold nothing
}

// change gives c its place in the order.
func (a *step) change(c home.Change) {
	a.v.seq++
	c.Seq, c.Site, c.At, c.CaughtUp = a.v.seq, a.site, a.at, a.catchUp
	a.changes = append(a.changes, c)
}

// slot finds or makes the place of an entity. id is the copy of its id that is
// kept, whatever the link's string was cut from.
func (a *step) slot(name home.EntityID) (slot uint32, id home.EntityID) {
	if i, ok := a.w.slots.find(name); ok {
		return i, a.w.slots.all()[i]
	}
	id = home.EntityID(strings.Clone(string(name)))
	return a.w.slots.number(id), id
}

// put replaces the cell at slot; nil removes it.
func (a *step) put(slot uint32, old, c *cell) {
	a.cells.set(slot, c)
	if old == nil || c == nil || old.row != c.row {
		a.edits.move(slot, old, c)
		a.v.registry++
	} else if (old.state == nil) != (c.state == nil) {
		a.v.registry++
	}
	a.v.loaded = true
}

func (a *step) link(r home.Report) {
	a.v.down = !r.Up
	if r.Up {
		a.change(home.Change{Kind: home.LinkUp})
		return
	}
	if a.v.live {
		a.v.live, a.v.since = false, a.at
	}
	text := "nothing is known of the house yet"
	if !a.v.since.IsZero() {
		text = "what is shown dates from " + home.FormatTime(a.v.since, a.v.misc.location)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	a.w.health.Light(health.MirrorStale, text)
	a.change(home.Change{Kind: home.LinkDown, Reason: r.Reason, Silent: r.Silent})
}

// snapshot makes the view equal to the whole house as a link just read it, and
// tells the difference.
func (a *step) snapshot(r home.Report) {
	a.catchUp = true
	a.info(r.Info)
	if r.Registries != nil {
		a.registries(r.Registries)
	}
	if r.Services != nil {
		a.services(r.Services)
	}
	there := make(map[uint32]struct{}, len(r.Patches))
	for i := range r.Patches {
		p := &r.Patches[i]
		if p.Removed {
			continue
		}
		slot, _ := a.slot(p.ID)
		there[slot] = struct{}{}
		a.patch(p)
	}
	var gone []home.EntityID
	a.cells.each(func(i uint32, c *cell) {
		if _, ok := there[i]; !ok && c.state != nil {
			gone = append(gone, c.id)
		}
	})
	slices.Sort(gone)
	for _, id := range gone {
		a.remove(id)
	}
	a.doubtBodies()
	a.v.live, a.v.loaded, a.v.down, a.v.since, a.v.fetched = true, true, false, time.Time{}, false
	a.touched = true
	a.w.health.Clear(health.MirrorStale)
}

// doubtBodies marks all bodies as old: what they are was not heard of while
// nobody listened. The link reads them again after a snapshot.
func (a *step) doubtBodies() {
	m := *a.v.misc
	m.bodies = maps.Clone(m.bodies)
	for id, b := range m.bodies {
		b.Old = true
		m.bodies[id] = b
	}
	a.v.misc = &m
}

func (a *step) services(ss []home.Service) {
	out := slices.Clone(ss)
	slices.SortFunc(out, func(x, y home.Service) int {
		if c := compare(x.Domain, y.Domain); c != 0 {
			return c
		}
		return compare(x.Name, y.Name)
	})
	m := *a.v.misc
	m.services, m.serviceAt = out, make(map[string]int, len(out))
	for i := range out {
		m.serviceAt[out[i].Domain+"."+out[i].Name] = i
	}
	a.v.misc = &m
	a.registryChanged("service", nil)
}

func (a *step) bodies(bs []home.Body) {
	if len(bs) == 0 {
		return
	}
	m := *a.v.misc
	m.bodies = make(map[home.EntityID]home.Body, len(a.v.misc.bodies)+len(bs))
	for id, b := range a.v.misc.bodies {
		m.bodies[id] = b
	}
	for _, b := range bs {
		old, had := m.bodies[b.Entity]
		if b.Old {
			if had {
				old.Old = true
				m.bodies[b.Entity] = old
			}
			continue
		}
		m.bodies[b.Entity] = b
		if !had || string(old.Config) != string(b.Config) || old.Missing != b.Missing {
			a.change(home.Change{Kind: home.BodyChanged, Entity: b.Entity})
		}
	}
	a.v.misc = &m
	a.touched = true
}

func (a *step) info(i *home.Info) {
	if i == nil {
		return
	}
	old := a.v.misc.info
	if old.Name == i.Name && old.Version == i.Version && old.Zone == i.Zone && old.State == i.State &&
		old.Language == i.Language && old.Currency == i.Currency && old.Country == i.Country &&
		old.Components == i.Components && fmt.Sprint(old.Units) == fmt.Sprint(i.Units) {
		return
	}
	m := *a.v.misc
	m.info = *i
	if m.location == nil || old.Zone != i.Zone {
		m.location = zone(i.Zone)
	}
	a.v.misc = &m
	a.registryChanged("info", nil)
}

// zone loads a time zone; an unknown one is UTC.
func zone(name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return l
}

func (a *step) registryChanged(which string, ids []home.EntityID) {
	a.v.registry++
	a.change(home.Change{Kind: home.RegistryChanged, Registry: which, Entities: ids})
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
