package hass

import (
	"encoding/json"
	"strconv"
)

// scanner walks JSON without building anything: it is the hot path of the link,
// where a decoder that allocates per field would cost more than the rest. It
// accepts what encoding/json accepts, except nesting deeper than maxDepth; the
// fuzz tests hold the two together. Once bad is set every method gives up.
type scanner struct {
	b     []byte
	i     int
	bad   bool
	first bool // just after an opening bracket: no comma is due
	depth int
}

const maxDepth = 500

// fail marks the text as broken and ends all loops.
func (s *scanner) fail() { s.bad = true }

// space skips white space.
func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek gives the next byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// open enters an object or array; it reports whether the next value is one.
func (s *scanner) open(bracket byte) bool {
	if s.peek() != bracket {
		s.fail()
		return false
	}
	s.i++
	s.first = true
	s.depth++
	if s.depth > maxDepth {
		s.fail()
	}
	return !s.bad
}

// more reports whether another element follows before the closing bracket,
// which it consumes. Every opened bracket must be walked to its end.
func (s *scanner) more(closing byte) bool {
	c := s.peek()
	switch {
	case c == 0:
		s.fail()
		return false
	case c == closing:
		s.i++
		s.first = false
		s.depth--
		return false
	case s.first:
		s.first = false
		return true
	case c != ',':
		s.fail()
		return false
	}
	s.i++
	if s.peek() == closing { // a comma before the end
		s.fail()
		return false
	}
	return !s.bad
}

// key reads a member's name and its colon. The bytes are those between the
// quotes, unescaped when they need it.
func (s *scanner) key() []byte {
	raw, escaped := s.str()
	if s.peek() != ':' {
		s.fail()
		return nil
	}
	s.i++
	if escaped {
		return []byte(unquote(raw))
	}
	return raw[1 : len(raw)-1]
}

// str reads a string and gives it with its quotes, and whether it holds escapes.
func (s *scanner) str() (raw []byte, escaped bool) {
	if s.peek() != '"' {
		s.fail()
		return quotes(), false
	}
	start := s.i
	for i := s.i + 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:s.i], escaped
		case c < 0x20:
			s.fail()
			return quotes(), false
		case c == '\\':
			n := escape(s.b[i:])
			if n == 0 {
				s.fail()
				return quotes(), false
			}
			escaped = true
			i += n - 1
		}
	}
	s.fail()
	return quotes(), false
}

func quotes() []byte { return []byte(`""`) }

// escape is the length of the escape sequence at the start of b, 0 when broken.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// unquote decodes a string given with its quotes.
func unquote(raw []byte) string {
	var v string
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	return v
}

// text reads a string value into its own memory.
func (s *scanner) text() string {
	raw, escaped := s.str()
	if escaped {
		return unquote(raw)
	}
	return shared(raw[1 : len(raw)-1])
}

// textOrNull is text, with "" for null.
func (s *scanner) textOrNull() string {
	if s.peek() == 'n' {
		s.literal("null")
		return ""
	}
	return s.text()
}

// shared copies b into a string, except for the words that most states consist
// of, which need no memory of their own.
func shared(b []byte) string {
	switch string(b) {
	case "":
		return ""
	case "on":
		return "on"
	case "off":
		return "off"
	case "unavailable":
		return "unavailable"
	case "unknown":
		return "unknown"
	case "home":
		return "home"
	case "not_home":
		return "not_home"
	case "idle":
		return "idle"
	case "open":
		return "open"
	case "closed":
		return "closed"
	case "0":
		return "0"
	}
	return string(b)
}

// number reads a number.
func (s *scanner) number() float64 {
	s.space()
	start := s.i
	s.skipNumber()
	if s.bad {
		return 0
	}
	f, err := strconv.ParseFloat(string(s.b[start:s.i]), 64)
	if err != nil {
		s.fail()
	}
	return f
}

// boolean reads true or false.
func (s *scanner) boolean() bool {
	if s.peek() == 't' {
		s.literal("true")
		return !s.bad
	}
	s.literal("false")
	return false
}

// raw checks the next value and gives its bytes, without surrounding space.
func (s *scanner) raw() []byte {
	s.space()
	start := s.i
	s.skip()
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// skip checks the next value and walks over it.
func (s *scanner) skip() {
	switch c := s.peek(); {
	case c == '"':
		s.str()
	case c == '{':
		for s.open('{'); s.more('}'); {
			s.str()
			if s.peek() != ':' {
				s.fail()
				return
			}
			s.i++
			s.skip()
		}
	case c == '[':
		for s.open('['); s.more(']'); {
			s.skip()
		}
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.skipNumber()
	}
}

func (s *scanner) literal(word string) {
	if s.bad || len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.fail()
		return
	}
	s.i += len(word)
}

// skipNumber walks over a number, as strict as JSON is.
func (s *scanner) skipNumber() {
	if s.at('-') {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.i++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.i++
		if s.at('+') || s.at('-') {
			s.i++
		}
		s.digits()
	}
}

func (s *scanner) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

// digits walks over at least one digit.
func (s *scanner) digits() {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	if s.i == start {
		s.fail()
	}
}

// end reports whether nothing but space is left and nothing was broken.
func (s *scanner) end() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}
