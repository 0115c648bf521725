package recall

// distance is the Damerau-Levenshtein distance (optimal string alignment) of
// two words, or most+1 when it is greater than most.
func distance(a, b string, most int) int {
	if a == b {
		return 0
	}
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > most {
		return most + 1
	}
	var mem [3 * 66]int
	width := len(x) + 1
	rows := mem[:]
	if 3*width > len(mem) {
		rows = make([]int, 3*width)
	}
	before, prev, cur := rows[:width], rows[width:2*width], rows[2*width:3*width]
	for i := range prev {
		prev[i] = i
	}
	for j := 1; j <= len(y); j++ {
		cur[0] = j
		best := j
		for i := 1; i <= len(x); i++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(prev[i]+1, cur[i-1]+1, prev[i-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[i-2]+1)
			}
			cur[i] = d
			best = min(best, d)
		}
		if best > most {
			return most + 1
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(x)], most+1)
}

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
		if d := distance(w, c.words[id], most); d <= most {
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
