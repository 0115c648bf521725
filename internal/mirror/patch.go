package mirror

import (
	"bytes"
	"strings"

	"hearth/internal/home"
)

// patch applies one entity's part of a report.
func (a *step) patch(p *home.Patch) {
	if p.Removed {
		a.remove(p.ID)
		return
	}
	if !p.Full && !a.known(p.ID) {
		// A difference from something we never saw cannot be made whole.
		a.w.health.Counter("mirror.orphans").Add(1)
		a.w.log.Warn("a difference came for an entity without state, it is left out", home.KeyEntity, string(p.ID))
		return
	}
	slot, id := a.slot(p.ID)
	c := a.cells.at(slot)
	var old *home.State
	if c != nil {
		old = c.state
	}
	s, err := a.w.next(old, p, id)
	if err != nil {
		a.w.health.Counter("mirror.bad_attributes").Add(1)
		a.w.log.Warn("attributes are no JSON object, the old ones stay", home.KeyEntity, string(p.ID), home.KeyError, err)
	}
	if s == nil {
		return
	}
	n := &cell{id: id, state: s}
	if c != nil {
		n.row = c.row
		if named(old, s) {
			n.row = joined(c.row, s, a.v.places, a.v.devs)
		}
	} else {
		n.row = joined(&home.Entity{ID: n.id}, s, a.v.places, a.v.devs)
	}
	a.put(slot, c, n)
	a.change(home.Change{Kind: home.StateChanged, Entity: n.id, Old: old, New: s})
}

// known reports whether the entity has a state.
func (a *step) known(id home.EntityID) bool {
	slot, ok := a.w.slots.find(id)
	if !ok {
		return false
	}
	c := a.cells.at(slot)
	return c != nil && c.state != nil
}

// named reports whether the name a state carries may have changed.
func named(old, s *home.State) bool {
	if old == nil {
		return true
	}
	if len(old.Attrs) > 0 && len(s.Attrs) > 0 && &old.Attrs[0] == &s.Attrs[0] {
		return false
	}
	return !bytes.Equal(attribute(old.Attrs, "friendly_name"), attribute(s.Attrs, "friendly_name"))
}

// next is the state after p, or nil when p says nothing new. id is the copy of
// the entity's id that is kept.
func (w *Writer) next(old *home.State, p *home.Patch, id home.EntityID) (*home.State, error) {
	var s home.State
	switch {
	case old != nil && !p.Full:
		s = *old
	case old == nil:
		s.Attrs = emptyObject
	}
	s.ID = id
	if p.Value != nil {
		if old != nil && old.Value == *p.Value {
			s.Value = old.Value
		} else {
			s.Value = w.words.value(*p.Value)
		}
	}
	err := w.attributes(&s, old, p)
	if !p.Changed.IsZero() {
		s.Changed = p.Changed.UTC()
		if p.Updated.IsZero() {
			s.Updated = s.Changed
		}
	}
	if !p.Updated.IsZero() {
		s.Updated = p.Updated.UTC()
		if s.Changed.IsZero() {
			s.Changed = s.Updated
		}
	}
	s.Context = p.ContextOver(s.Context)
	s.Context.User = w.words.word(s.Context.User)
	if old != nil && s.Value == old.Value && s.Context == old.Context &&
		s.Changed.Equal(old.Changed) && s.Updated.Equal(old.Updated) && bytes.Equal(s.Attrs, old.Attrs) {
		return nil, err
	}
	kept := s // only now does it need memory of its own
	return &kept, err
}

func (w *Writer) attributes(s, old *home.State, p *home.Patch) (err error) {
	var was []byte
	if old != nil {
		was = old.Attrs
	}
	switch {
	case p.Full:
		s.Attrs, err = w.merge.whole(was, p.Set)
		if s.Attrs == nil {
			s.Attrs = emptyObject
		}
	case len(p.Set) > 0 || len(p.Unset) > 0:
		s.Attrs, err = w.merge.merge(s.Attrs, p.Set, p.Unset)
	}
	return err
}

// remove takes an entity's state away; its registry row stays.
func (a *step) remove(id home.EntityID) {
	slot, ok := a.w.slots.find(id)
	if !ok {
		return
	}
	c := a.cells.at(slot)
	if c == nil || c.state == nil {
		return
	}
	var n *cell
	if c.row.RegistryID != "" {
		n = &cell{id: c.id, row: joined(c.row, nil, a.v.places, a.v.devs)}
	}
	a.put(slot, c, n)
	a.change(home.Change{Kind: home.StateRemoved, Entity: c.id, Old: c.state})
}

// kept gives row with its shared words interned, so that forty thousand rows
// do not each carry their own "sensor".
func (w *Writer) kept(row home.Entity, id home.EntityID) *home.Entity {
	in := w.words.word
	row.ID = id
	row.Platform = in(row.Platform)
	row.Device = home.DeviceID(in(string(row.Device)))
	row.OwnArea = home.AreaID(in(string(row.OwnArea)))
	row.Category, row.HiddenBy, row.DisabledBy = in(row.Category), in(row.HiddenBy), in(row.DisabledBy)
	row.Class, row.OrigClass = in(row.Class), in(row.OrigClass)
	row.OriginalName = in(row.OriginalName)
	row.Labels = append([]home.LabelID(nil), row.Labels...)
	for i, l := range row.Labels {
		row.Labels[i] = home.LabelID(in(string(l)))
	}
	row.Aliases = append([]string(nil), row.Aliases...)
	row.Options = w.words.object(optionsOf(row.Options))
	row.Name, row.Area, row.Floor = "", "", ""
	row.UniqueID = strings.Clone(row.UniqueID)
	return &row
}

// optionsOf is a row's options, nil when they say nothing.
func optionsOf(raw []byte) []byte {
	switch string(raw) {
	case "", "{}", "null":
		return nil
	}
	return raw
}
