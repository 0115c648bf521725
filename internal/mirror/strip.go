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
// any depth: access tokens, entity pictures, coordinates, codes; tokens within
// addresses become stars. It returns the input itself when there is nothing to
// remove, and {} for what is no object.
func Strip(attrs json.RawMessage) json.RawMessage {
	m := object(attrs)
	found := false
	for {
		x, ok := m.next()
		if !ok {
			break
		}
		found = found || sensitive(string(x.name())) || tainted(x.value)
	}
	switch {
	case m.err() != nil || len(attrs) == 0:
		return emptyObject
	case !found:
		return attrs
	}
	out := []byte{'{'}
	m = object(attrs)
	for {
		x, ok := m.next()
		if !ok {
			return clip(append(out, '}'))
		}
		if !sensitive(string(x.name())) {
			out = put(out, x.key, clean(x.value))
		}
	}
}

// clean is a value without sensitive members inside it and with tokens in
// addresses starred: v itself when there are none, as nearly always.
func clean(v []byte) []byte {
	if !tainted(v) {
		return v
	}
	if addressed(v) {
		v = secret.Star(v)
	}
	switch v[0] {
	case '{':
		return Strip(v)
	case '[':
		out := []byte{'['}
		for item := range items(v) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, clean(item)...)
		}
		return append(out, ']')
	}
	return v
}

// tainted reports whether clean has anything to do. It allocates nothing.
func tainted(v []byte) bool {
	switch {
	case len(v) == 0:
		return false
	case addressed(v):
		return true
	case v[0] == '{':
		m := object(v)
		for {
			x, ok := m.next()
			if !ok {
				return m.err() != nil
			}
			if sensitive(string(x.name())) || tainted(x.value) {
				return true
			}
		}
	case v[0] == '[' && bytes.IndexByte(v, '{') > 0:
		for item := range items(v) {
			if tainted(item) {
				return true
			}
		}
	}
	return false
}

// addressed reports whether a value holds an address with a token that is not
// starred yet.
func addressed(v []byte) bool {
	for _, mark := range [...]string{"oken=", "uthSig="} {
		if i := bytes.Index(v, []byte(mark)); i >= 0 && !bytes.HasPrefix(v[i+len(mark):], []byte(secret.Stars)) {
			return true
		}
	}
	return false
}

// items walks the items of an array; it ends where the array is broken.
func items(v []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		m := members{in: v, pos: 1}
		for {
			m.space()
			if m.pos < len(v) && v[m.pos] == ',' {
				m.pos++
				continue
			}
			if m.pos >= len(v) || v[m.pos] == ']' {
				return
			}
			from := m.pos
			if !m.value() || !yield(v[from:m.pos]) {
				return
			}
		}
	}
}
