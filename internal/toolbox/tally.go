package toolbox

import (
	"cmp"
	"slices"
	"sync"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// tally is what one walk over a view finds for overviews and histograms.
type tally struct {
	total       int // entities with a state
	byDomain    []count
	byArea      []placeCount // areas in order of the number of their entities
	byFloor     []placeCount
	noArea      int
	people      []*home.State // persons, those at home first
	atHome      int
	lightsOn    found
	open        found
	unlocked    found
	unavailable found
}

// count is how many there are of something.
type count struct {
	Name  string `json:"name" jsonschema:"what is counted"`
	Count int    `json:"count" jsonschema:"how many"`
}

// placeCount is how many entities a place has.
type placeCount struct {
	ID    string `json:"id" jsonschema:"id of the place"`
	Name  string `json:"name" jsonschema:"name of the place"`
	Count int    `json:"count" jsonschema:"entities in it"`
}

// found keeps the first few of what may be many.
type found struct {
	total int
	first []finding
}

type finding struct {
	e    *home.Entity
	rank int // lower is said first
}

const findings = 8

func (f *found) add(e *home.Entity, rank int) {
	f.total++
	if len(f.first) == findings && rank >= f.first[findings-1].rank {
		return
	}
	at, _ := slices.BinarySearchFunc(f.first, rank, func(x finding, r int) int {
		if x.rank <= r {
			return -1
		}
		return 1
	})
	f.first = slices.Insert(f.first, at, finding{e, rank})
	f.first = f.first[:min(len(f.first), findings)]
}

// overviewCache keeps the tally of the newest view that was asked about: a
// model that looks round asks several times within one view.
type overviewCache struct {
	mu   sync.Mutex
	view *mirror.View
	sc   home.Scope
	t    *tally
}

// overview is the tally of the view, counted once per view and scope.
func (v sight) overview() *tally {
	c := &v.b.overviews
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t == nil || c.view != v.View || c.sc != v.sc {
		c.view, c.sc, c.t = v.View, v.sc, v.count()
	}
	return c.t
}

// entities is how many entities have a state: all the tally that a status needs.
func (v sight) entities() int {
	n := 0
	for _, s := range v.Entities(v.sc, mirror.Filter{}) {
		if s != nil {
			n++
		}
	}
	return n
}

func (v sight) count() *tally {
	t := &tally{}
	areas, floors := map[home.AreaID]int{}, map[home.FloorID]int{}
	domain, n := "", 0
	for e, s := range v.Entities(v.sc, mirror.Filter{}) {
		if s == nil {
			continue
		}
		t.total++
		areas[e.Area]++
		floors[e.Floor]++
		if d := e.ID.Domain(); d != domain { // ids come in order
			t.domain(domain, n)
			domain, n = d, 0
		}
		n++
		t.look(domain, e, s)
	}
	t.domain(domain, n)
	t.noArea = areas[""]
	byCount(t.byDomain, func(c count) (int, string) { return c.Count, c.Name })
	for _, a := range v.Areas() {
		t.byArea = append(t.byArea, placeCount{string(a.ID), home.Clip(clean(a.Name), shortMax), areas[a.ID]})
	}
	for _, f := range v.Floors() {
		t.byFloor = append(t.byFloor, placeCount{string(f.ID), home.Clip(clean(f.Name), shortMax), floors[f.ID]})
	}
	byCount(t.byArea, func(p placeCount) (int, string) { return p.Count, p.Name })
	byCount(t.byFloor, func(p placeCount) (int, string) { return p.Count, p.Name })
	slices.SortStableFunc(t.people, func(a, b *home.State) int {
		return cmp.Compare(b2i(b.Value == "home"), b2i(a.Value == "home"))
	})
	return t
}

func (t *tally) domain(d string, n int) {
	if n > 0 {
		t.byDomain = append(t.byDomain, count{d, n})
	}
}

// look sorts one entity into what a person coming home would ask about.
func (t *tally) look(domain string, e *home.Entity, s *home.State) {
	if s.Value == home.Unavailable {
		rank := 1
		if e.Category != "" {
			rank = 2
		}
		t.unavailable.add(e, rank)
		return
	}
	switch domain {
	case "person":
		t.people = append(t.people, s)
		if s.Value == "home" {
			t.atHome++
		}
	case "light":
		if s.Value == "on" {
			t.lightsOn.add(e, 0)
		}
	case "cover", "valve":
		if s.Value == "open" || s.Value == "opening" {
			t.open.add(e, entrance(mirror.Class(e, s)))
		}
	case "lock":
		switch s.Value {
		case "unlocked", "unlocking", "open", "opening", "jammed":
			t.unlocked.add(e, 0)
		}
	case "binary_sensor":
		if s.Value != "on" {
			return
		}
		switch c := mirror.Class(e, s); c {
		case "door", "garage_door", "window", "opening":
			t.open.add(e, entrance(c))
		case "lock":
			t.unlocked.add(e, 1)
		}
	}
}

// entrance ranks openings: doors, garages and gates before windows before the rest.
func entrance(class string) int {
	switch class {
	case "door", "garage_door", "garage", "gate":
		return 0
	case "window", "opening":
		return 1
	}
	return 2
}

func byCount[T any](all []T, key func(T) (int, string)) {
	slices.SortFunc(all, func(a, b T) int {
		na, sa := key(a)
		nb, sb := key(b)
		return cmp.Or(cmp.Compare(nb, na), cmp.Compare(sa, sb))
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
