package tool

import (
	"strings"
	"unicode"

	"hearth/internal/home"
)

// errorBytes is how long an error to a model may be.
const errorBytes = 2048

// Quote gives text that came from outside as it may stand in a sentence: on one
// line, without control and direction characters, at most n bytes, in quotes.
func Quote(s string, n int) string { return `"` + home.Clip(Plain(s), n) + `"` }

// Plain takes control characters, line ends and the invisible characters that
// change reading direction out of s; what remains is one line.
func Plain(s string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\ufeff':
			return -1
		case r >= 0xE0000 && r <= 0xE007F: // invisible tag characters
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// oneLine makes an error fit for a model: one line of at most 2 KB in all. The
// hint is kept whole where possible, since it says what to do.
func oneLine(e *home.Error) *home.Error {
	c := *e
	c.Hint = home.Sentence(home.Clip(Plain(c.Hint), errorBytes/2))
	c.Msg = home.Clip(Plain(c.Msg), errorBytes-len(c.Hint)-len(c.Code)-8)
	return &c
}
