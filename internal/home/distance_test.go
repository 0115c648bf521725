package home

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		most, d int
	}{
		{"light", "light", 2, 0}, {"lihgt", "light", 2, 1}, {"kichen", "kitchen", 2, 1}, {"kitchen", "chicken", 2, 3},
		{"", "ab", 2, 2}, {"küche", "kuche", 1, 1}, {"abc", "xyz", 1, 2}, {strings.Repeat("a", 90), strings.Repeat("a", 89) + "b", 2, 1},
	} {
		if d := Distance(c.a, c.b, c.most); d != c.d {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, d, c.d)
		}
	}
}
