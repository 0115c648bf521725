package tool

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"hearth/internal/home"
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
			if far = home.Distance(want, have, limit); far > limit {
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
