package mirror

import (
	"cmp"
	"slices"
	"sync"

	"hearth/internal/home"
)

// names gives every key a small number, for good. It only ever grows, so all
// views share it: a key that a view does not know has a number whose place in
// that view is empty.
type names[K comparable] struct {
	mu   sync.RWMutex
	to   map[K]uint32
	keys []K
}

func (n *names[K]) find(k K) (uint32, bool) {
	n.mu.RLock()
	i, ok := n.to[k]
	n.mu.RUnlock()
	return i, ok
}

// all gives the keys by number, as far as there are any now.
func (n *names[K]) all() []K {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.keys
}

// number finds k or gives it the next number.
func (n *names[K]) number(k K) uint32 {
	if i, ok := n.find(k); ok {
		return i
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := n.to[k]; ok {
		return i
	}
	if n.to == nil {
		n.to = map[K]uint32{}
	}
	i := uint32(len(n.keys))
	n.to[k] = i
	n.keys = append(n.keys, k)
	return i
}

// cell is all a view knows of one entity: its state, its joined row, or both.
type cell struct {
	id    home.EntityID
	state *home.State
	row   *home.Entity
}

// list is a set of cells ordered by entity id. It never changes.
type list []uint32

// dim is one way to look entities up: key → the entities that have it.
type dim struct {
	names *names[string]
	lists vec[list]
}

func (d *dim) get(key string) list {
	if i, ok := d.names.find(key); ok {
		if l := d.lists.at(i); l != nil {
			return *l
		}
	}
	return nil
}

// keys calls f for every key that has entities, in no order.
func (d *dim) keys(f func(key string, n int)) {
	d.names.mu.RLock()
	defer d.names.mu.RUnlock()
	for k, i := range d.names.to {
		if l := d.lists.at(i); l != nil && len(*l) > 0 {
			f(k, len(*l))
		}
	}
}

// The dimensions of an index.
const (
	byDomain = iota
	byArea
	byFloor
	byLabel
	byDevice
	dimensions
)

// index holds all lookups of a view.
type index struct {
	all  list
	dims [dimensions]dim
}

// keysOf are the keys under which a cell is found, per dimension.
func keysOf(c *cell, d int, buf []string) []string {
	one := func(k string) []string {
		if k == "" {
			return buf
		}
		return append(buf, k)
	}
	if c == nil {
		return buf
	}
	switch d {
	case byDomain:
		return one(c.id.Domain())
	case byArea:
		return one(string(c.row.Area))
	case byFloor:
		return one(string(c.row.Floor))
	case byDevice:
		return one(string(c.row.Device))
	case byLabel:
		for _, l := range c.row.Labels {
			buf = append(buf, string(l))
		}
	}
	return buf
}

// edits collects what one report does to an index, so that each list is
// rewritten once, however many entities come or go.
type edits struct {
	slot map[uint32]bool // cells that came (true) or went (false)
	dims [dimensions]map[string]map[uint32]bool
}

func (e *edits) note(d int, key string, slot uint32, in bool) {
	if e.dims[d] == nil {
		e.dims[d] = map[string]map[uint32]bool{}
	}
	m := e.dims[d][key]
	if m == nil {
		m = map[uint32]bool{}
		e.dims[d][key] = m
	}
	m[slot] = in
}

// move notes that a cell changed from old to new; either may be nil.
func (e *edits) move(slot uint32, old, new *cell) {
	if (old == nil) != (new == nil) {
		if e.slot == nil {
			e.slot = map[uint32]bool{}
		}
		e.slot[slot] = new != nil
	}
	if old != nil && new != nil && old.row == new.row {
		return
	}
	var a, b [8]string
	for d := range dimensions {
		was, is := keysOf(old, d, a[:0]), keysOf(new, d, b[:0])
		for _, k := range was {
			if !slices.Contains(is, k) {
				e.note(d, k, slot, false)
			}
		}
		for _, k := range is {
			if !slices.Contains(was, k) {
				e.note(d, k, slot, true)
			}
		}
	}
}

func (e *edits) empty() bool {
	for _, m := range e.dims {
		if len(m) > 0 {
			return false
		}
	}
	return len(e.slot) == 0
}

// apply gives the index after the edits; ids resolves slots.
func (x *index) apply(e *edits, ids []home.EntityID, gen uint64) *index {
	out := *x
	out.all = x.all.with(e.slot, ids)
	for d := range dimensions {
		if len(e.dims[d]) == 0 {
			continue
		}
		ed := out.dims[d].lists.edit(gen)
		for key, m := range e.dims[d] {
			n := out.dims[d].names.number(key)
			var old list
			if l := ed.at(n); l != nil {
				old = *l
			}
			l := old.with(m, ids)
			ed.set(n, &l)
		}
		out.dims[d].lists = ed.vec
	}
	return &out
}

// with gives the list after slots came and went: places are found by halving
// and the stretches between are copied whole.
func (l list) with(m map[uint32]bool, ids []home.EntityID) list {
	if len(m) == 0 {
		return l
	}
	touched := make(list, 0, len(m))
	for s := range m {
		touched = append(touched, s)
	}
	slices.SortFunc(touched, func(a, b uint32) int { return cmp.Compare(ids[a], ids[b]) })
	out := make(list, 0, len(l)+len(touched))
	for _, s := range touched {
		at, found := slices.BinarySearchFunc(l, ids[s], func(x uint32, want home.EntityID) int {
			return cmp.Compare(ids[x], want)
		})
		out = append(out, l[:at]...)
		l = l[at:]
		if found {
			l = l[1:]
		}
		if m[s] {
			out = append(out, s)
		}
	}
	return append(out, l...)
}
