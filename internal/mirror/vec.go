package mirror

// vec is a persistent vector of pointers: an edit copies the nodes on the way
// to what it sets (under 1 KB for 40,000 items) and shares the rest with the
// vector it came from.
type vec[T any] struct {
	root []*mid[T]
}

const (
	fan     = 32
	perNode = fan * fan
)

// Nodes carry the generation of the edit that made them: that edit alone may
// still change them in place, since nobody else has seen them.
type mid[T any] struct {
	gen    uint64
	leaves [fan]*leaf[T]
}

type leaf[T any] struct {
	gen   uint64
	items [fan]*T
}

// at gives item i, nil where nothing was set.
func (v *vec[T]) at(i uint32) *T {
	if int(i/perNode) >= len(v.root) {
		return nil
	}
	m := v.root[i/perNode]
	if m == nil {
		return nil
	}
	l := m.leaves[i/fan%fan]
	if l == nil {
		return nil
	}
	return l.items[i%fan]
}

// each calls f for every item that is set, in order of index.
func (v *vec[T]) each(f func(i uint32, item *T)) {
	for a, m := range v.root {
		if m == nil {
			continue
		}
		for b, l := range m.leaves {
			if l == nil {
				continue
			}
			for c, item := range l.items {
				if item != nil {
					f(uint32(a*perNode+b*fan+c), item)
				}
			}
		}
	}
}

// editor changes a vec within one generation.
type editor[T any] struct {
	vec[T]
	gen   uint64
	owned bool // root is our own copy
}

func (v vec[T]) edit(gen uint64) editor[T] { return editor[T]{vec: v, gen: gen} }

// set puts item at i.
func (e *editor[T]) set(i uint32, item *T) {
	a := int(i / perNode)
	if !e.owned {
		e.root = append(make([]*mid[T], 0, max(a+1, len(e.root))), e.root...)
		e.owned = true
	}
	for len(e.root) <= a {
		e.root = append(e.root, nil)
	}
	m := e.root[a]
	switch {
	case m == nil:
		m = &mid[T]{gen: e.gen}
		e.root[a] = m
	case m.gen != e.gen:
		c := *m
		c.gen = e.gen
		m = &c
		e.root[a] = m
	}
	b := i / fan % fan
	l := m.leaves[b]
	switch {
	case l == nil:
		l = &leaf[T]{gen: e.gen}
		m.leaves[b] = l
	case l.gen != e.gen:
		c := *l
		c.gen = e.gen
		l = &c
		m.leaves[b] = l
	}
	l.items[i%fan] = item
}
