package recall

import (
	"hash/maphash"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// field is where a word of an entity stands.
type field uint32

// The fields, best first.
const (
	inName field = iota
	inAlias
	inID
	inDevice
	inArea
	inLabel
	inFloor
	inKind
	inPart // part of a compound of the name
	fields
)

const fieldBits = 4

func (f field) weight() float32 {
	return [fields]float32{1, 0.95, 0.8, 0.6, 0.7, 0.5, 0.35, 0.5, 0.7}[f]
}

func (f field) String() string {
	return [fields]string{"name", "alias", "id", "device", "area", "label", "floor", "kind", "name"}[f]
}

// doc is one entity of the catalogue.
type doc struct {
	id    home.EntityID
	words uint8 // of its name
	minor bool  // config or diagnostic
}

// named is a whole name or alias by its hash.
type named struct {
	hash uint64
	doc  uint32
}

// catalog is the index of one moment. It never changes.
type catalog struct {
	registry uint64
	docs     []doc
	at       map[string]uint32 // word → number
	words    []string
	start    []uint32 // word → its first posting; one more at the end
	postings []uint32 // doc<<fieldBits | field, ordered
	grams    map[uint32][]uint32
	sorted   []uint32 // words in order, for beginnings
	names    []named
	seed     maphash.Seed
}

// builder collects postings word by word.
type builder struct {
	c     *catalog
	lex   *lexicon
	word  []uint32
	post  []uint32
	cache map[string][]string // texts split before: areas, devices, kinds
}

func build(v *mirror.View) *catalog {
	c := &catalog{registry: v.Registry(), at: map[string]uint32{}, seed: maphash.MakeSeed()}
	b := &builder{c: c, lex: words(), cache: map[string][]string{}}
	for e, s := range v.Entities(home.Everything(), mirror.Filter{}) {
		b.entity(v, e, s)
	}
	b.finish()
	return c
}

func (b *builder) entity(v *mirror.View, e *home.Entity, s *home.State) {
	n := uint32(len(b.c.docs))
	own := split(e.Name, true)
	b.c.docs = append(b.c.docs, doc{id: e.ID, words: uint8(min(len(own), 255)), minor: e.Category != ""})
	b.put(n, inName, own)
	b.compounds(n, own)
	b.whole(n, e.Name)
	for _, a := range e.Aliases {
		b.put(n, inAlias, split(a, true))
		b.whole(n, a)
	}
	b.put(n, inID, split(e.ID.Object(), true))
	b.whole(n, string(e.ID))
	if d := v.Device(e.Device); d != nil {
		b.shared(n, inDevice, d.DisplayName())
		b.shared(n, inKind, d.Manufacturer+" "+d.Model)
	}
	if a := v.Area(e.Area); a != nil {
		b.shared(n, inArea, a.Name)
		for _, x := range a.Aliases {
			b.shared(n, inArea, x)
		}
	}
	if f := v.Floor(e.Floor); f != nil {
		b.shared(n, inFloor, f.Name)
		for _, x := range f.Aliases {
			b.shared(n, inFloor, x)
		}
	}
	for _, id := range e.Labels {
		if l := v.Label(id); l != nil {
			b.shared(n, inLabel, l.Name)
		}
	}
	domain, class := e.ID.Domain(), mirror.Class(e, s)
	b.shared(n, inKind, domain)
	b.put(n, inKind, b.lex.domain[domain])
	if class != "" {
		b.shared(n, inKind, class)
		b.put(n, inKind, b.lex.class[class])
	}
}

// shared puts words that many entities have; they are split once.
func (b *builder) shared(n uint32, f field, s string) {
	ws, ok := b.cache[s]
	if !ok {
		ws = split(s, true)
		b.cache[s] = ws
	}
	b.put(n, f, ws)
}

func (b *builder) put(n uint32, f field, ws []string) {
	for _, w := range ws {
		b.word = append(b.word, b.number(w))
		b.post = append(b.post, n<<fieldBits|uint32(f))
	}
}

func (b *builder) number(w string) uint32 {
	if i, ok := b.c.at[w]; ok {
		return i
	}
	w = strings.Clone(w)
	i := uint32(len(b.c.words))
	b.c.at[w] = i
	b.c.words = append(b.c.words, w)
	return i
}

// compounds puts the known halves of long words: Kuchenfenster is a Fenster.
func (b *builder) compounds(n uint32, ws []string) {
	for _, w := range ws {
		if len(w) < 7 {
			continue
		}
		if _, tail := b.lex.cut(w); tail != "" {
			b.put(n, inPart, []string{tail})
		}
	}
}

// cut finds a compound's two halves, of which the second is a known word; the
// first may have lost a joint (Wohnung-s-tur, Kuche-n-fenster). A short second
// half counts only behind a known first one: a monitor is no Tor.
func (l *lexicon) cut(w string) (head, tail string) {
	for i := 3; i <= len(w)-3; i++ {
		t := w[i:]
		if !l.known[t] {
			continue
		}
		h := w[:i]
		for _, joint := range [...]string{"", "n", "s", "es", "en"} {
			if x, ok := strings.CutSuffix(h, joint); ok && l.known[x] {
				return x, t
			}
		}
		if len(t) >= 4 && i >= 4 {
			return h, t
		}
	}
	return "", ""
}

// whole keeps a name as a whole, so that saying it exactly wins.
func (b *builder) whole(n uint32, name string) {
	if h, ok := b.c.hash(name); ok {
		b.c.names = append(b.c.names, named{h, n})
	}
}

func (c *catalog) hash(name string) (uint64, bool) {
	k := strings.ReplaceAll(mirror.Fold(name), " ", "")
	return maphash.String(c.seed, k), k != ""
}

// finish orders the postings by word and makes the lookups for errors and
// beginnings.
func (b *builder) finish() {
	c := b.c
	c.start = make([]uint32, len(c.words)+1)
	for _, w := range b.word {
		c.start[w+1]++
	}
	for i := 1; i < len(c.start); i++ {
		c.start[i] += c.start[i-1]
	}
	next := slices.Clone(c.start)
	c.postings = make([]uint32, len(b.post))
	for i, w := range b.word {
		c.postings[next[w]] = b.post[i]
		next[w]++
	}
	slices.SortFunc(c.names, func(x, y named) int {
		switch {
		case x.hash < y.hash:
			return -1
		case x.hash > y.hash:
			return 1
		}
		return int(x.doc) - int(y.doc)
	})
	c.names = slices.Compact(c.names)
	c.grams = map[uint32][]uint32{}
	for i, w := range c.words {
		if len(w) >= 3 && !number(w) {
			grams(w, func(g uint32) { c.grams[g] = append(c.grams[g], uint32(i)) })
		}
	}
	c.sorted = make([]uint32, len(c.words))
	for i := range c.sorted {
		c.sorted[i] = uint32(i)
	}
	slices.SortFunc(c.sorted, func(x, y uint32) int { return strings.Compare(c.words[x], c.words[y]) })
}

func number(w string) bool { return strings.Trim(w, "0123456789") == "" }

// of gives a word's postings.
func (c *catalog) of(word uint32) []uint32 { return c.postings[c.start[word]:c.start[word+1]] }

// called gives the entities whose whole name or alias is name.
func (c *catalog) called(name string) []uint32 {
	h, ok := c.hash(name)
	if !ok {
		return nil
	}
	i, _ := slices.BinarySearchFunc(c.names, h, func(x named, want uint64) int {
		switch {
		case x.hash < want:
			return -1
		case x.hash > want:
			return 1
		}
		return 0
	})
	var out []uint32
	for ; i < len(c.names) && c.names[i].hash == h; i++ {
		out = append(out, c.names[i].doc)
	}
	return out
}
