package journal

import (
	"bytes"
	"encoding/json"
)

// members calls f for each key and raw value of a JSON object, without
// allocating, until f returns false. Keys come unescaped only when they have no
// escape, which holds for every attribute Home Assistant itself names. Malformed
// input ends the walk.
func members(obj []byte, f func(key, val []byte) bool) {
	i := space(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return
	}
	i++
	for {
		i = space(obj, i)
		if i >= len(obj) || obj[i] != '"' {
			return
		}
		end := textEnd(obj, i)
		if end < 0 {
			return
		}
		key := obj[i+1 : end-1]
		i = space(obj, end)
		if i >= len(obj) || obj[i] != ':' {
			return
		}
		i = space(obj, i+1)
		end = valueEnd(obj, i)
		if end < 0 || !f(key, obj[i:end]) {
			return
		}
		i = space(obj, end)
		if i >= len(obj) || obj[i] != ',' {
			return
		}
		i++
	}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// textEnd is the index after the closing quote of the string at i, -1 without one.
func textEnd(b []byte, i int) int {
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

// valueEnd is the index after the value at i, -1 when it does not end.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return textEnd(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			case '"':
				if i = textEnd(b, i); i < 0 {
					return -1
				}
				continue
			}
			i++
		}
		return -1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// member is the raw value of one key, nil when the object has none.
func member(obj []byte, key string) []byte {
	var out []byte
	members(obj, func(k, v []byte) bool {
		if string(k) == key {
			out = v
			return false
		}
		return true
	})
	return out
}

// text is the string in a raw JSON value, "" when it is none.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// changed gives, as a JSON object, those of the named attributes whose value
// differs between two attribute objects; null stands for one that is gone. It
// is nil when none differs.
func changed(old, now []byte, names []string) json.RawMessage {
	if len(names) == 0 || bytes.Equal(old, now) {
		return nil
	}
	var before, after [maxAttributes][]byte
	pick(old, names, &before)
	pick(now, names, &after)
	var out []byte
	for i, name := range names {
		a, b := before[i], after[i]
		if bytes.Equal(a, b) || (isNull(a) && isNull(b)) {
			continue
		}
		if b == nil {
			b = []byte("null")
		}
		if out == nil {
			out = append(make([]byte, 0, 64), '{')
		} else {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, name...)
		out = append(out, '"', ':')
		out = append(out, b...)
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}

func isNull(v []byte) bool { return v == nil || string(v) == "null" }

// maxAttributes bounds the attributes one rule may name.
const maxAttributes = 16

func pick(obj []byte, names []string, into *[maxAttributes][]byte) {
	left := len(names)
	members(obj, func(k, v []byte) bool {
		for i, n := range names {
			if string(k) == n {
				into[i] = v
				left--
				break
			}
		}
		return left > 0
	})
}
