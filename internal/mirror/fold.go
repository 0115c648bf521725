package mirror

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold makes spellings of the same words equal: lower case, no accents (ß is
// ss, ø is o, æ is ae), compatibility forms resolved, no apostrophes, and
// everything that is neither letter nor digit one space between words.
func Fold(s string) string {
	if ascii(s) {
		return foldPlain(s)
	}
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(s) {
		if r >= 0x300 && r <= 0x36F { // accents; the marks of kana and Hangul stay
			continue
		}
		r = unicode.ToLower(r)
		switch {
		case r == '\'' || r == '’' || r == '‘' || r == 'ʼ':
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			if x := spelt(r); x != "" {
				b.WriteString(x)
			} else {
				b.WriteRune(r)
			}
		default:
			gap = true
		}
	}
	return norm.NFC.String(b.String())
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func foldPlain(s string) string {
	b := make([]byte, 0, len(s))
	gap := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c == '\'':
			continue
		default:
			gap = true
			continue
		}
		if gap && len(b) > 0 {
			b = append(b, ' ')
		}
		gap = false
		b = append(b, c)
	}
	return string(b)
}

// spelt writes out letters that do not decompose.
func spelt(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'ø':
		return "o"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ł':
		return "l"
	case 'đ', 'ð':
		return "d"
	case 'þ':
		return "th"
	case 'ı':
		return "i"
	case 'ς':
		return "σ"
	}
	return ""
}

// squash is Fold without the spaces: Home Assistant compares names that way.
func squash(s string) string { return strings.ReplaceAll(Fold(s), " ", "") }
