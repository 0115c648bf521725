package recall

import (
	"slices"
	"strings"

	"hearth/internal/home"
)

// variant is one word of the catalogue that a word of the question may mean.
type variant struct {
	word   uint32
	weight float32
	typo   bool
	own    bool // the very word, or it written another way
}

// term is one word of the question with what it may mean.
type term struct {
	text     string
	variants []variant
	weight   float32
}

const (
	meansWeight  = 0.7  // a synonym
	beginsWeight = 0.65 // the word begins so
	partWeight   = 0.8  // half of a compound
	besideWeight = 0.9  // another word, where the house has the one that was said
)

// terms reads a question. Words that say nothing are dropped unless there are
// no others.
func (c *catalog) terms(text string, s *scratch) []term {
	lex := words()
	raw := rawWords(text)
	kept := make([]string, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if i+1 < len(raw) && lex.stop[raw[i]+" "+raw[i+1]] {
			i++
			continue
		}
		if !lex.stop[raw[i]] {
			kept = append(kept, raw[i])
		}
	}
	if len(kept) == 0 {
		kept = raw
	}
	kept = kept[:min(len(kept), 24)]
	var out []term
	for i := 0; i < len(kept); {
		n := c.phrase(lex, kept[i:])
		out = c.add(out, lex, kept[i:i+n], s)
		i += n
	}
	return out
}

// rawWords folds and separates a question without stemming it.
func rawWords(text string) []string {
	var out []string
	for _, w := range strings.Fields(foldQuery(text)) {
		if isASCII(w) {
			for _, p := range parts(w) {
				if p == stem(w) {
					p = w
				}
				out = append(out, p)
			}
			continue
		}
		out = dissect(out, w, false)
	}
	return out
}

// phrase says how many words the longest known phrase at the start has.
func (c *catalog) phrase(lex *lexicon, ws []string) int {
	for n := min(lex.phrase, len(ws)); n > 1; n-- {
		if _, ok := lex.means[strings.Join(stems(ws[:n]), " ")]; ok {
			return n
		}
	}
	return 1
}

// add adds the term or terms of one word or phrase.
func (c *catalog) add(out []term, lex *lexicon, ws []string, s *scratch) []term {
	if len(ws) > 1 {
		// A phrase: each word for itself, and the first for what all of them mean.
		key := strings.Join(stems(ws), " ")
		for i, w := range ws {
			t := term{text: w, weight: 1}
			if id, ok := c.at[stem(w)]; ok {
				t.put(variant{word: id, weight: 1, own: true})
			}
			if i > 0 {
				t.weight = 0.5
			} else {
				for _, m := range lex.means[key] {
					t.take(c, m, meansWeight)
				}
			}
			out = append(out, t)
		}
		return out
	}
	w := ws[0]
	t := term{text: w, weight: 1}
	c.know(&t, lex, stem(w), 1)
	if len(t.variants) == 0 {
		c.know(&t, lex, umlauts(stem(w)), 0.95)
	}
	if len(t.variants) == 0 {
		if halves := c.halves(lex, w); len(halves) > 0 {
			return append(out, halves...)
		}
	}
	exact := slices.ContainsFunc(t.variants, func(v variant) bool { return v.weight > 0.9 })
	if !exact {
		weight := float32(beginsWeight)
		if len(t.variants) > 0 {
			weight /= 2 // a synonym is the better guess
		}
		c.beginnings(&t, stem(w), weight)
		if len(t.variants) == 0 {
			c.misspelt(&t, lex, stem(w), s)
		}
	}
	return append(out, t)
}

// know takes the word itself and what it means.
func (c *catalog) know(t *term, lex *lexicon, w string, weight float32) {
	if id, ok := c.at[w]; ok {
		t.put(variant{word: id, weight: weight, own: true})
	}
	for _, m := range lex.means[w] {
		t.take(c, m, meansWeight*weight)
	}
}

func (t *term) take(c *catalog, w string, weight float32) {
	id, ok := c.at[w]
	if !ok {
		return
	}
	t.put(variant{word: id, weight: weight})
}

func (t *term) put(v variant) {
	for i := range t.variants {
		if t.variants[i].word == v.word {
			t.variants[i].weight = max(t.variants[i].weight, v.weight)
			return
		}
	}
	t.variants = append(t.variants, v)
}

// umlauts undoes the way umlauts are written without them: kueche is kuche.
func umlauts(w string) string {
	return strings.NewReplacer("ae", "a", "oe", "o", "ue", "u").Replace(w)
}

// halves understands a compound that nothing is called by: kuchenlicht.
func (c *catalog) halves(lex *lexicon, w string) []term {
	for _, w := range []string{w, umlauts(w)} {
		head, tail := lex.cut(w)
		if tail == "" {
			continue
		}
		var out []term
		for _, h := range []string{head, tail} {
			t := term{text: h, weight: partWeight}
			c.know(&t, lex, h, 1)
			if len(t.variants) > 0 {
				out = append(out, t)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// beginnings takes words of the catalogue that begin with w.
func (c *catalog) beginnings(t *term, w string, weight float32) {
	if len(w) < 3 {
		return
	}
	i, _ := slices.BinarySearchFunc(c.sorted, w, func(x uint32, want string) int {
		return strings.Compare(c.words[x], want)
	})
	for n := 0; i < len(c.sorted) && n < 40 && strings.HasPrefix(c.words[c.sorted[i]], w); i, n = i+1, n+1 {
		t.put(variant{word: c.sorted[i], weight: weight})
	}
}

// misspelt takes the nearest words of the catalogue and of the lists.
func (c *catalog) misspelt(t *term, lex *lexicon, w string, s *scratch) {
	for _, v := range c.near(w, s) {
		t.put(v)
	}
	// The word may be a misspelt synonym: telvision.
	most := slack(len(w))
	if most == 0 || len(t.variants) > 0 {
		return
	}
	for known := range lex.means {
		if len(known) > len(w)+most || len(known) < len(w)-most {
			continue
		}
		if d := home.Distance(w, known, most); d <= most {
			for _, m := range lex.means[known] {
				if id, ok := c.at[m]; ok {
					t.put(variant{word: id, weight: meansWeight * typoWeight(d), typo: true})
				}
			}
		}
	}
}
