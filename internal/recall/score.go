package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// scratch is the memory of one search, reused.
type scratch struct {
	count []uint8  // per word: groups of letters shared
	words []uint32 // words with a count
	total []float32
	cur   []float32 // of the term at hand
	named []uint8   // terms found in the name
	terms []uint8   // terms found at all
	docs  []uint32  // with a total
	now   []uint32  // with a cur
	best  []uint8   // field of cur
	kind  []float32 // what the term at hand says of the kind
}

func (s *scratch) grow(words, docs int) {
	if len(s.count) < words {
		s.count = make([]uint8, words+words/8)
	}
	if len(s.total) < docs {
		n := docs + docs/8
		s.total, s.cur = make([]float32, n), make([]float32, n)
		s.named, s.terms, s.best = make([]uint8, n), make([]uint8, n), make([]uint8, n)
		s.kind = make([]float32, n)
	}
}

func (s *scratch) reset() {
	for _, d := range s.docs {
		s.total[d], s.named[d], s.terms[d] = 0, 0, 0
	}
	s.docs = s.docs[:0]
}

// kindBonus is what a word adds when it also says what kind of thing it is: a
// vacuum's battery is no vacuum.
const kindBonus = 0.15

// rarity is how much a word says: rare words say more.
func (c *catalog) rarity(word uint32) float32 {
	df := float64(c.start[word+1] - c.start[word])
	return float32(math.Log(1 + float64(len(c.docs)+1)/(df+0.5)))
}

// score gives every entity that has any of the words its score.
func (c *catalog) score(text string, terms []term, s *scratch) {
	most := float32(0)
	for i := range terms {
		most += terms[i].weight
		c.scoreTerm(&terms[i], s)
	}
	for _, d := range s.docs {
		cover := float32(s.terms[d]) / float32(len(terms))
		inName := float32(min(s.named[d], c.docs[d].words)) / float32(max(c.docs[d].words, 1))
		s.total[d] *= (0.45 + 0.55*cover) * (1 + 0.35*inName)
		if c.docs[d].minor {
			s.total[d] *= 0.85
		}
	}
	// Saying a whole name, or several joined by commas, wins.
	whole := append(strings.Split(text, ","), text)
	for _, name := range whole {
		for _, d := range c.called(name) {
			if s.total[d] == 0 {
				s.docs = append(s.docs, d)
			}
			s.total[d] = s.total[d]*1.5 + most
		}
	}
}

// literal is how much the rarest of a term's own words says; said is false when
// the catalogue has none of them.
func (c *catalog) literal(t *term) (most float32, said bool) {
	for _, v := range t.variants {
		if v.own {
			most, said = max(most, c.rarity(v.word)), true
		}
	}
	return most, said
}

// scoreTerm adds what one word of the question finds. Where the house has the
// word itself, what else it may mean neither gains by being rarer nor counts as
// a part of the name: who says guest means the guest mode before the visitors.
func (c *catalog) scoreTerm(t *term, s *scratch) {
	most, said := c.literal(t)
	for _, v := range t.variants {
		rare := c.rarity(v.word)
		if said && !v.own {
			rare = min(rare, most) * besideWeight
		}
		w := rare * v.weight * t.weight
		for _, p := range c.of(v.word) {
			d, f := p>>fieldBits, field(p&(1<<fieldBits-1))
			x := w * f.weight()
			if s.cur[d] == 0 {
				s.now = append(s.now, d)
			}
			if f == inKind {
				s.kind[d] = max(s.kind[d], w)
			}
			if x <= s.cur[d] {
				continue
			}
			s.cur[d], s.best[d] = x, uint8(f)
			if said && !v.own {
				s.best[d] = uint8(inPart) // not named so
			}
		}
	}
	for _, d := range s.now {
		if s.total[d] == 0 {
			s.docs = append(s.docs, d)
		}
		s.total[d] += s.cur[d] + kindBonus*s.kind[d]
		s.kind[d] = 0
		s.terms[d]++
		if f := field(s.best[d]); f == inName || f == inAlias {
			s.named[d]++
		}
		s.cur[d] = 0
	}
	s.now = s.now[:0]
}

// ranked is a hit with its place in the catalogue.
type ranked struct {
	Hit
	doc uint32
}

// best takes the highest scores that the filters and the scope let through. A
// heap gives them one by one, so that twenty thousand matches are not sorted
// for ten hits.
func (x *Index) best(v *mirror.View, sc home.Scope, q *Query, c *catalog, s *scratch) []ranked {
	h := heap{docs: s.docs, s: s, c: c}
	h.init()
	var out []ranked
	want := q.limit()
	for len(out) < want {
		d, ok := h.pop()
		if !ok {
			break
		}
		score := float64(s.total[d])
		if len(out) > 0 && score < 0.22*out[0].Score {
			break
		}
		e, st, ok := v.Entity(sc, c.docs[d].id)
		if !ok || !passes(e, q) {
			continue
		}
		out = append(out, ranked{Hit{Entity: e, State: st, Score: score}, d})
	}
	return out
}

func passes(e *home.Entity, q *Query) bool {
	return (q.Domain == "" || e.ID.Domain() == q.Domain) && (q.Area == "" || e.Area == q.Area) &&
		(q.Floor == "" || e.Floor == q.Floor) && (q.Label == "" || slices.Contains(e.Labels, q.Label))
}

// heap is a max-heap of documents; equal scores go by id. It leaves docs as a
// permutation, so that reset still clears all.
type heap struct {
	docs []uint32
	n    int
	s    *scratch
	c    *catalog
}

func (h *heap) less(i, j int) bool { // i before j
	a, b := h.docs[i], h.docs[j]
	if x, y := h.s.total[a], h.s.total[b]; x != y {
		return x > y
	}
	return a < b // documents are ordered by id
}

func (h *heap) init() {
	h.n = len(h.docs)
	for i := h.n/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap) pop() (uint32, bool) {
	if h.n == 0 {
		return 0, false
	}
	h.n--
	h.docs[0], h.docs[h.n] = h.docs[h.n], h.docs[0]
	h.down(0)
	return h.docs[h.n], true
}

func (h *heap) down(i int) {
	for {
		l := 2*i + 1
		if l >= h.n {
			return
		}
		if r := l + 1; r < h.n && h.less(r, l) {
			l = r
		}
		if !h.less(l, i) {
			return
		}
		h.docs[i], h.docs[l] = h.docs[l], h.docs[i]
		i = l
	}
}

// plural reports whether several words all say what kind of thing the first two
// hits are: who asks for low batteries wants all of them, and no word names one.
func (c *catalog) plural(terms []term, found []ranked) bool {
	if len(terms) < 2 || len(found) < 2 {
		return false
	}
	for i := range terms {
		if !c.ofKind(&terms[i], found[0].doc) || !c.ofKind(&terms[i], found[1].doc) {
			return false
		}
	}
	return true
}

func (c *catalog) ofKind(t *term, d uint32) bool {
	return slices.ContainsFunc(t.variants, func(v variant) bool {
		_, ok := slices.BinarySearch(c.of(v.word), d<<fieldBits|uint32(inKind))
		return ok
	})
}

// why says for each word of the question what it matched in one entity.
func (c *catalog) why(terms []term, d uint32) string {
	var b strings.Builder
	for i := range terms {
		t := &terms[i]
		word, best, typo := "", float32(0), false
		var where []string
		for _, v := range t.variants {
			ps := c.of(v.word)
			at, _ := slices.BinarySearch(ps, d<<fieldBits)
			for ; at < len(ps) && ps[at]>>fieldBits == d; at++ {
				f := field(ps[at] & (1<<fieldBits - 1))
				x := v.weight * f.weight()
				switch {
				case x > best && c.words[v.word] != word:
					word, best, typo, where = c.words[v.word], x, v.typo, []string{f.String()}
				case c.words[v.word] == word && !slices.Contains(where, f.String()):
					best = max(best, x)
					where = append(where, f.String())
				}
			}
		}
		if word == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(t.text)
		switch {
		case typo:
			b.WriteString(" ≈ " + word)
		case word != stem(t.text):
			b.WriteString(" → " + word)
		}
		if len(where) == 1 && where[0] == inKind.String() {
			where[0] = "kind, not state"
		}
		b.WriteString(": " + strings.Join(where, ", "))
	}
	if b.Len() == 0 {
		return "the whole name"
	}
	return b.String()
}

// merge gives a and then what only b has.
func merge(a, b []Hit) []Hit {
	for _, h := range b {
		if !slices.ContainsFunc(a, func(x Hit) bool { return x.Entity.ID == h.Entity.ID }) {
			a = append(a, h)
		}
	}
	return a
}

// nearest orders hits by how little their ids differ from id.
func nearest(hits []Hit, id string, n int) []Hit {
	type near struct {
		Hit
		off float64
	}
	ns := make([]near, 0, len(hits))
	want := home.EntityID(strings.ToLower(id))
	for i, h := range hits {
		most := max(len(id), len(h.Entity.ID))
		off := float64(home.Distance(want.Object(), h.Entity.ID.Object(), most)) / float64(max(most, 1))
		if want.Domain() != "" && want.Domain() != h.Entity.ID.Domain() {
			off += 0.15
		}
		ns = append(ns, near{h, off + float64(i)*0.004})
	}
	slices.SortStableFunc(ns, func(a, b near) int { return cmp.Compare(a.off, b.off) })
	out := make([]Hit, 0, n)
	for _, x := range ns {
		if len(out) < n && x.off < 0.75 {
			out = append(out, x.Hit)
		}
	}
	return out
}

func foldQuery(s string) string { return mirror.Fold(unelide(home.Clip(s, 400))) }
