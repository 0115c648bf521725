package secret

import (
	"encoding/json"
	"regexp"
	"strings"
)

const starred = `"` + Stars + `"`

// Star replaces the values of sensitive keys at any depth by "***", and
// bearer-like tokens inside strings; JSON that is itself a string is looked
// into as well. Order, spacing and numbers of the rest stay as they are, and
// the input itself is returned when nothing had to change. Null stays null.
// What is not valid JSON is starred whole, since it cannot be judged. Empty
// input stays empty.
func Star(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return json.RawMessage(starred)
	}
	w := walker{in: raw}
	w.value()
	return w.done()
}

// walker goes once through valid JSON and copies only when it must replace.
type walker struct {
	in   []byte
	i    int
	out  []byte
	last int // in[:last] is in out already
}

func (w *walker) done() json.RawMessage {
	if w.out == nil {
		return w.in
	}
	return append(w.out, w.in[w.last:]...)
}

func (w *walker) replace(from, to int, by string) {
	w.out = append(w.out, w.in[w.last:from]...)
	w.out = append(w.out, by...)
	w.last = to
}

func (w *walker) space() {
	for w.i < len(w.in) {
		switch w.in[w.i] {
		case ' ', '\t', '\n', '\r':
			w.i++
		default:
			return
		}
	}
}

func (w *walker) value() {
	w.space()
	switch w.in[w.i] {
	case '{':
		w.members('}', true)
	case '[':
		w.members(']', false)
	case '"':
		w.text()
	default:
		w.skipPlain()
	}
}

// members walks an object or an array up to its closing byte.
func (w *walker) members(end byte, keyed bool) {
	w.i++
	for {
		w.space()
		switch w.in[w.i] {
		case end:
			w.i++
			return
		case ',':
			w.i++
			continue
		}
		if keyed {
			w.member()
		} else {
			w.value()
		}
	}
}

func (w *walker) member() {
	from := w.i
	w.skipString()
	key := unquote(w.in[from:w.i])
	w.space()
	w.i++ // the colon
	w.space()
	if !Sensitive(key) || w.in[w.i] == 'n' {
		w.value()
		return
	}
	from = w.i
	w.skip()
	w.replace(from, w.i, starred)
}

// skip passes over one value of any kind.
func (w *walker) skip() {
	switch w.in[w.i] {
	case '"':
		w.skipString()
	case '{', '[':
		depth := 0
		for {
			switch w.in[w.i] {
			case '"':
				w.skipString()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			w.i++
			if depth == 0 {
				return
			}
		}
	default:
		w.skipPlain()
	}
}

func (w *walker) skipPlain() {
	for w.i < len(w.in) && !strings.ContainsRune(",]} \t\r\n", rune(w.in[w.i])) {
		w.i++
	}
}

func (w *walker) skipString() {
	for w.i++; w.in[w.i] != '"'; w.i++ {
		if w.in[w.i] == '\\' {
			w.i++
		}
	}
	w.i++
}

// text looks into a string value.
func (w *walker) text() {
	from := w.i
	w.skipString()
	raw := w.in[from:w.i]
	if len(raw) < 10 { // shorter than `{"pin":"1"}` or any token
		return
	}
	s := unquote(raw)
	var t string
	if inner := strings.TrimSpace(s); inner != "" && (inner[0] == '{' || inner[0] == '[') && json.Valid([]byte(inner)) {
		t = string(Star(json.RawMessage(s)))
	} else {
		t = Text(s)
	}
	if t == s {
		return
	}
	b, err := json.Marshal(t)
	if err != nil {
		b = []byte(starred)
	}
	w.replace(from, w.i, string(b))
}

func unquote(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	plain := true
	for _, c := range inner {
		if c == '\\' || c >= 0x80 {
			plain = false
			break
		}
	}
	if plain {
		return string(inner)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(inner)
	}
	return s
}

var (
	// A JSON web token, as Home Assistant's long-lived tokens are.
	jwt = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}\.?[A-Za-z0-9_-]*`)
	// Authorization headers and what is pasted from them.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+|%20)[A-Za-z0-9._~+/=-]{8,}`)
	// Hearth's own tokens.
	own = regexp.MustCompile(`\b` + ownPrefix + `[A-Za-z0-9_-]{12,}`)
	// key=value and key: value in running text, with or without quotes.
	pair = regexp.MustCompile(`(?i)\b([a-z0-9_-]*(?:token|password|passwd|secret|api_?key|authsig|passphrase|psk))(["']?\s*[=:]\s*["']?)([^\s"'&,;}\]]+)`)
	// The password in a URL.
	userinfo = regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`)
)

// Text replaces what looks like a token or a password in running text: JSON
// web tokens, bearer values, Hearth's own tokens, name=value pairs with a
// sensitive name, and passwords in URLs. The rest stays as it is.
func Text(s string) string {
	if len(s) < 8 || !suspicious(s) {
		return s
	}
	s = jwt.ReplaceAllString(s, Stars)
	s = bearer.ReplaceAllString(s, "${1} "+Stars)
	s = own.ReplaceAllString(s, Stars)
	s = pair.ReplaceAllStringFunc(s, func(m string) string {
		p := pair.FindStringSubmatch(m)
		if !Sensitive(p[1]) || strings.HasPrefix(p[3], Stars) || prose(p[2], p[3]) {
			return m
		}
		return p[1] + p[2] + Stars
	})
	return userinfo.ReplaceAllString(s, "${1}"+Stars+"@")
}

// prose reports whether "token: word" is a sentence about a token and not the
// token itself: an unquoted colon, then a short word without digits.
func prose(sep, word string) bool {
	return strings.TrimSpace(sep) == ":" && len(word) < 20 && !strings.ContainsAny(word, "0123456789")
}

// suspicious is a cheap look before the patterns: most text holds none of it.
func suspicious(s string) bool {
	if strings.Contains(s, "eyJ") || strings.Contains(s, ownPrefix) || strings.Contains(s, "://") {
		return true
	}
	if !strings.ContainsAny(s, "=: ") && !strings.Contains(s, "%20") {
		return false
	}
	low := strings.ToLower(s)
	for _, w := range [...]string{"bearer", "basic", "token", "passw", "passphrase", "secret", "key", "authsig", "psk"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
