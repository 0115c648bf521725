package toolbox

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// members yields the keys and raw values of a JSON object in their order,
// decoding nothing: attribute objects are read once per entity and answer, and
// most of what they hold is not looked at. It stops at the first fault.
func members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		i := space(raw, 0)
		if i >= len(raw) || raw[i] != '{' {
			return
		}
		i = space(raw, i+1)
		for i < len(raw) && raw[i] == '"' {
			end := skipString(raw, i)
			if end < 0 {
				return
			}
			key, ok := unquote(raw[i:end])
			i = space(raw, end)
			if !ok || i >= len(raw) || raw[i] != ':' {
				return
			}
			i = space(raw, i+1)
			end = skipValue(raw, i)
			if end < 0 || !yield(key, raw[i:end]) {
				return
			}
			i = space(raw, end)
			if i >= len(raw) || raw[i] != ',' {
				return
			}
			i = space(raw, i+1)
		}
	}
}

// attrText is a string attribute, "" without it.
func attrText(s *home.State, key string) string {
	t, _ := unquote(mirror.Attribute(s, key))
	return t
}

// attrNumber is a numeric attribute; null and anything else is no number.
func attrNumber(s *home.State, key string) (float64, bool) {
	f, err := strconv.ParseFloat(string(mirror.Attribute(s, key)), 64)
	return f, err == nil
}

// attrTexts is an attribute that is a list of strings, nil when it is none.
func attrTexts(s *home.State, key string) []string {
	v := mirror.Attribute(s, key)
	if v == nil {
		return nil
	}
	var out []string
	if json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

// attrTrue reports whether an attribute is true.
func attrTrue(s *home.State, key string) bool { return string(mirror.Attribute(s, key)) == "true" }

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString is the index after the string that begins at i, -1 when it has no end.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// skipValue is the index after the value that begins at i, -1 when it has no end.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end := skipString(b, i)
			if end < 0 {
				return -1
			}
			if i = end; depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}

func unquote(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b[1 : len(b)-1]), true
	}
	var s string
	err := json.Unmarshal(b, &s)
	return s, err == nil
}
