package tool

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Nearest gives at most n of the names that are close to s, the closest first.
// Case, separators and the order of words do not count; a few typing errors do
// not matter. Equal distances are ordered by name.
func Nearest(s string, names []string, n int) []string {
	type hit struct {
		name string
		far  int
	}
	want, words := loose(s), sortedWords(s)
	if want == "" {
		return nil
	}
	var hits []hit
	for _, name := range names {
		have := loose(name)
		far, limit := 0, max(2, min(len(want), len(have))/3)
		switch {
		case have == want:
		case words == sortedWords(name):
			far = 1
		default:
			if far = Distance(want, have, limit); far > limit {
				if len(want) < 3 || !strings.Contains(have, want) && !(len(have) >= 4 && strings.Contains(want, have)) {
					continue
				}
				far = limit + 1
			}
		}
		hits = append(hits, hit{name, far})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, h.name)
	}
	return out
}

// Distance is the number of typing errors between a and b: letters added, left
// out, replaced or swapped with their neighbour. Beyond limit it stops and
// gives limit+1.
func Distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}

// loose is a name's normal form: letters and digits in lower case.
func loose(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// looseKeys are the normal forms under which an argument is found: its own and,
// for names of things, with or without the plural's s.
func looseKeys(name string) []string {
	n := loose(name)
	if strings.HasSuffix(n, "ss") || len(n) < 4 {
		return []string{n}
	}
	if one, ok := strings.CutSuffix(n, "s"); ok {
		return []string{n, one}
	}
	return []string{n, n + "s"}
}

// sortedWords is a name's words in alphabetical order: "get_entity" and
// "EntityGet" give the same.
func sortedWords(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteByte(' ')
		}
	}
	words := strings.Fields(b.String())
	slices.Sort(words)
	return strings.Join(words, " ")
}
