package recall

import "hearth/internal/home"

// slack is how many errors a word of that many bytes may have.
func slack(n int) int {
	switch {
	case n < 4:
		return 0
	case n < 7:
		return 1
	}
	return 2
}

// grams calls f for every group of three bytes of w with its edges marked.
func grams(w string, f func(g uint32)) {
	prev, cur := uint32('^'), uint32(w[0])
	for i := 1; i <= len(w); i++ {
		next := uint32('$')
		if i < len(w) {
			next = uint32(w[i])
		}
		f(prev<<16 | cur<<8 | next)
		prev, cur = cur, next
	}
}

// near gives the words of the catalogue that may be meant by a misspelt one,
// with the number of errors.
func (c *catalog) near(w string, s *scratch) []variant {
	most := slack(len(w))
	if most == 0 || len(c.words) == 0 {
		return nil
	}
	s.grow(len(c.words), len(c.docs))
	grams(w, func(g uint32) {
		for _, id := range c.grams[g] {
			if s.count[id] == 0 {
				s.words = append(s.words, id)
			}
			s.count[id]++
		}
	})
	// One error spoils three groups, a swap of neighbours four.
	need := max(1, len(w)-4*most)
	var out []variant
	for _, id := range s.words {
		n := int(s.count[id])
		s.count[id] = 0
		if n < need || len(out) >= 24 {
			continue
		}
		if d := home.Distance(w, c.words[id], most); d <= most {
			out = append(out, variant{word: id, weight: typoWeight(d), typo: true})
		}
	}
	s.words = s.words[:0]
	return out
}

func typoWeight(d int) float32 {
	if d <= 1 {
		return 0.8
	}
	return 0.5
}
