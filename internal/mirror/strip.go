package mirror

import (
	"bytes"
	"encoding/json"

	"hearth/internal/secret"
)

// sensitive reports whether an attribute must never leave the mirror: pictures
// (their address carries a token), coordinates, and what secret calls so.
func sensitive(name string) bool {
	switch name {
	case "entity_picture", "entity_picture_local", "latitude", "longitude", "gps_accuracy":
		return true
	}
	return secret.Sensitive(name)
}

// Strip removes what must never leave the mirror from an attribute object, at
// any depth: access tokens, entity pictures, coordinates, codes. It returns the
// input itself when there is nothing to remove, and {} for what is no object.
func Strip(attrs json.RawMessage) json.RawMessage {
	m := object(attrs)
	out, changed := []byte{'{'}, false
	for {
		x, ok := m.next()
		if !ok {
			break
		}
		if sensitive(string(x.name())) {
			changed = true
			continue
		}
		v := clean(x.value)
		changed = changed || !bytes.Equal(v, x.value)
		out = put(out, x.key, v)
	}
	if m.err() != nil {
		return emptyObject
	}
	if !changed && len(attrs) > 0 {
		return attrs
	}
	return clip(append(out, '}'))
}

// clean removes sensitive members inside a nested value, and stars tokens in
// addresses. Values without any object in them, nearly all, come back untouched.
func clean(v []byte) []byte {
	if bytes.Contains(v, []byte("oken=")) || bytes.Contains(v, []byte("uthSig=")) {
		v = secret.Star(v)
	}
	if len(v) == 0 || v[0] != '{' && v[0] != '[' || bytes.IndexByte(v, '{') < 0 {
		return v
	}
	if v[0] == '{' {
		return Strip(v)
	}
	return cleanList(v)
}

// cleanList cleans the items of an array, walking it like an object without keys.
func cleanList(v []byte) []byte {
	m := members{in: v, pos: 1}
	out, changed := []byte{'['}, false
	for {
		m.space()
		if m.pos < len(v) && v[m.pos] == ',' {
			m.pos++
			continue
		}
		if m.pos >= len(v) || v[m.pos] == ']' {
			break
		}
		from := m.pos
		if !m.value() {
			return []byte("[]")
		}
		item := clean(v[from:m.pos])
		changed = changed || !bytes.Equal(item, v[from:m.pos])
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	if !changed {
		return v
	}
	return append(out, ']')
}
