package recall

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// Index is the search index over the mirror.
type Index struct {
	house   *mirror.House
	now     atomic.Pointer[catalog]
	running atomic.Bool
	first   sync.Mutex // builds for searches that come before Run did
	pool    sync.Pool
}

// New makes an empty index; Run keeps it.
func New(house *mirror.House) *Index {
	return &Index{house: house, pool: sync.Pool{New: func() any { return new(scratch) }}}
}

// Run builds the index anew, in the background, whenever registries, names or
// the set of entities differ, until ctx ends. Bursts of changes are waited out,
// so that building takes at most a twentieth of the time.
func (x *Index) Run(ctx context.Context) error {
	x.running.Store(true)
	defer x.running.Store(false)
	built := ^uint64(0)
	if v := x.house.View(); v.Empty() {
		built = v.Registry() // nothing to index yet
	}
	for {
		v, ok := x.house.AwaitRegistry(ctx, built)
		if !ok {
			return nil
		}
		began := time.Now()
		c := build(v)
		x.now.Store(c)
		built = c.registry
		pause := time.NewTimer(max(100*time.Millisecond, 20*time.Since(began)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
	}
}

// catalog is the newest index. Only when there is none yet, when it was built
// before the house was known, or when nobody runs Run, is it built here.
func (x *Index) catalog() *catalog {
	if c := x.now.Load(); x.usable(c, x.house.View()) {
		return c
	}
	x.first.Lock()
	defer x.first.Unlock()
	v := x.house.View()
	c := x.now.Load()
	if x.usable(c, v) {
		return c
	}
	c = build(v)
	x.now.Store(c)
	return c
}

func (x *Index) usable(c *catalog, v *mirror.View) bool {
	return c != nil && (c.registry == v.Registry() || x.running.Load() && len(c.docs) > 0)
}

// Query is a search. Domain, Area, Floor and Label narrow before ranking.
type Query struct {
	Text   string
	Domain string
	Area   home.AreaID
	Floor  home.FloorID
	Label  home.LabelID
	Limit  int // 0 means 10; at most 50
}

func (q *Query) limit() int {
	if q.Limit <= 0 {
		return 10
	}
	return min(q.Limit, 50)
}

func (q *Query) filter() mirror.Filter {
	return mirror.Filter{Domain: q.Domain, Area: q.Area, Floor: q.Floor, Label: q.Label}
}

func (q *Query) narrows() bool { return q.filter() != mirror.Filter{} }

// Hit is one entity found; Why says which words matched what.
type Hit struct {
	Entity *home.Entity
	State  *home.State // from the newest view; nil when it has none
	Score  float64     // comparable within one answer only
	Why    string      // kitchen: name, area; lihgt ≈ light: name
}

// Find gives the best hits first, within sight. ambiguous is true when the
// first two cannot be told apart by the words, unless these ask for all of a
// kind: low batteries, window sensors. A query without words gives what
// its filters leave, by id; without either, nothing.
func (x *Index) Find(sc home.Scope, q Query) (hits []Hit, ambiguous bool) {
	v := x.house.View()
	c := x.catalog()
	s := x.pool.Get().(*scratch)
	defer x.pool.Put(s)
	terms := c.terms(q.Text, s)
	if len(terms) == 0 {
		return listed(v, sc, q), false
	}
	s.grow(len(c.words), len(c.docs))
	c.score(q.Text, terms, s)
	found := x.best(v, sc, &q, c, s)
	for i := range found {
		hits = append(hits, found[i].Hit)
		hits[i].Why = c.why(terms, found[i].doc)
	}
	s.reset()
	return hits, tied(found, hits) && !c.plural(terms, found)
}

// tied reports whether the words do not tell the first two hits apart.
func tied(found []ranked, hits []Hit) bool {
	if len(hits) < 2 {
		return false
	}
	a, b := &hits[0], &hits[1]
	if b.Score >= a.Score*0.995 {
		return true
	}
	same := mirror.Fold(a.Entity.Name) == mirror.Fold(b.Entity.Name) && a.Entity.ID.Domain() == b.Entity.ID.Domain()
	return same && a.Why == b.Why
}

func listed(v *mirror.View, sc home.Scope, q Query) (hits []Hit) {
	if !q.narrows() {
		return nil
	}
	for e, st := range v.Entities(sc, q.filter()) {
		hits = append(hits, Hit{Entity: e, State: st, Why: "fits the filters"})
		if len(hits) == q.limit() {
			break
		}
	}
	return hits
}

// Near gives the entities whose ids are nearest to a misspelt id, at most n,
// within sight; those that are too far off are left out.
func (x *Index) Near(sc home.Scope, id string, n int) []Hit {
	want := home.EntityID(id)
	hits, _ := x.Find(sc, Query{Text: want.Object(), Limit: 50})
	if d := want.Domain(); d != "" {
		more, _ := x.Find(sc, Query{Text: want.Object(), Domain: d, Limit: 20})
		hits = merge(more, hits)
	}
	return nearest(hits, id, n)
}
