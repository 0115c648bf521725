package mirror

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Attribute objects stay raw JSON. The functions here take them apart at the
// top level only, without decoding values, because a difference touches one or
// two of fifteen members and nobody has asked for the rest yet.

var errObject = errors.New("not a JSON object")

var emptyObject = json.RawMessage("{}")

// member is one raw member of an object: the key with its quotes, the value.
type member struct {
	key, value []byte
}

// name is the key as text. Only keys with escapes cost an allocation.
func (m member) name() []byte {
	inner := m.key[1 : len(m.key)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(m.key, &s) != nil {
		return inner
	}
	return []byte(s)
}

// members walks the top level of an object.
type members struct {
	in  []byte
	pos int
	bad bool
}

// object starts walking raw; empty input and null are an empty object.
func object(raw []byte) members {
	m := members{in: raw}
	m.space()
	switch {
	case m.pos == len(raw):
	case raw[m.pos] == '{':
		m.pos++
	case bytes.Equal(bytes.TrimSpace(raw), []byte("null")):
		m.pos = len(raw)
	default:
		m.fail()
	}
	return m
}

func (m *members) fail() {
	m.bad = true
	m.pos = len(m.in)
}

func (m *members) space() {
	for m.pos < len(m.in) {
		switch m.in[m.pos] {
		case ' ', '\t', '\n', '\r':
			m.pos++
		default:
			return
		}
	}
}

// next gives the next member; ok is false at the end and when the input is no
// object, which err tells apart.
func (m *members) next() (out member, ok bool) {
	m.space()
	if m.pos >= len(m.in) {
		return out, false
	}
	if m.in[m.pos] == '}' {
		m.pos++
		m.space()
		if m.pos != len(m.in) {
			m.fail()
		}
		m.pos = len(m.in)
		return out, false
	}
	from := m.pos
	if !m.text() {
		return out, false
	}
	out.key = m.in[from:m.pos]
	m.space()
	if m.pos >= len(m.in) || m.in[m.pos] != ':' {
		m.fail()
		return out, false
	}
	m.pos++
	m.space()
	from = m.pos
	if !m.value() {
		return out, false
	}
	out.value = m.in[from:m.pos]
	return out, m.separator()
}

// separator passes the comma after a member, or stops before the end.
func (m *members) separator() bool {
	m.space()
	switch {
	case m.pos < len(m.in) && m.in[m.pos] == '}':
		return true
	case m.pos < len(m.in) && m.in[m.pos] == ',':
		m.pos++
		m.space()
		if m.pos < len(m.in) && m.in[m.pos] == '"' {
			return true
		}
	}
	m.fail()
	return false
}

func (m *members) err() error {
	if m.bad {
		return errObject
	}
	return nil
}

// text passes one string.
func (m *members) text() bool {
	if m.pos >= len(m.in) || m.in[m.pos] != '"' {
		m.fail()
		return false
	}
	for i := m.pos + 1; i < len(m.in); i++ {
		switch m.in[i] {
		case '\\':
			i++
		case '"':
			m.pos = i + 1
			return true
		}
	}
	m.fail()
	return false
}

// value passes one value of any kind by counting brackets.
func (m *members) value() bool {
	if m.pos >= len(m.in) {
		m.fail()
		return false
	}
	switch m.in[m.pos] {
	case '"':
		return m.text()
	case '{', '[':
		return m.nested()
	}
	from := m.pos
	for m.pos < len(m.in) {
		switch m.in[m.pos] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
			if m.pos == from {
				m.fail()
			}
			return !m.bad
		}
		m.pos++
	}
	m.fail()
	return false
}

func (m *members) nested() bool {
	depth := 0
	for m.pos < len(m.in) {
		switch m.in[m.pos] {
		case '"':
			if !m.text() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		m.pos++
		if depth == 0 {
			return true
		}
	}
	m.fail()
	return false
}

// attribute gives the raw value of one member, nil when there is none.
func attribute(raw json.RawMessage, name string) json.RawMessage {
	// Nearly all objects are asked for something they lack or hold once.
	if !bytes.Contains(raw, []byte(name)) && bytes.IndexByte(raw, '\\') < 0 {
		return nil
	}
	for m := object(raw); ; {
		x, ok := m.next()
		if !ok {
			return nil
		}
		if string(x.name()) == name {
			return x.value
		}
	}
}

// text gives a member that is a string, "" for anything else.
func text(raw json.RawMessage, name string) string {
	s, _ := Unquote(attribute(raw, name))
	return s
}

// EachMember calls f for each member of a JSON object in its order, until f
// returns false: the name as text, the value raw. It decodes nothing, and
// allocates only for names with escapes. What is no object has no members, and
// a fault ends the walk.
func EachMember(raw []byte, f func(name, value []byte) bool) {
	for m := object(raw); ; {
		x, ok := m.next()
		if !ok || !f(x.name(), x.value) {
			return
		}
	}
}

// Unquote is the text of a raw JSON string; ok is false for anything else.
func Unquote(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// merger merges differences with one reused buffer.
type merger struct {
	buf []byte
	set []member
}

// split takes a difference apart once.
func (g *merger) split(set json.RawMessage) error {
	g.set = g.set[:0]
	m := object(set)
	for {
		x, ok := m.next()
		if !ok {
			return m.err()
		}
		if !sensitive(string(x.name())) {
			x.value = clean(x.value)
			g.set = append(g.set, x)
		}
	}
}

// merge gives old with set's members put in and unset's taken out; old itself
// when nothing differs. Neither input is kept.
func (g *merger) merge(old, set json.RawMessage, unset []string) (json.RawMessage, error) {
	if err := g.split(set); err != nil {
		return old, err
	}
	out, changed := append(g.buf[:0], '{'), false
	m := object(old)
	for {
		x, ok := m.next()
		if !ok {
			break
		}
		name := x.name()
		if contains(unset, name) {
			changed = true
			continue
		}
		value := x.value
		for i := range g.set {
			if g.set[i].key != nil && bytes.Equal(g.set[i].name(), name) {
				if !bytes.Equal(value, g.set[i].value) {
					value, changed = g.set[i].value, true
				}
				g.set[i].key = nil // used
			}
		}
		out = put(out, x.key, value)
	}
	if err := m.err(); err != nil {
		return old, err
	}
	for _, x := range g.set {
		if x.key != nil {
			out, changed = put(out, x.key, x.value), true
		}
	}
	g.buf = append(out, '}')
	if !changed {
		return old, nil
	}
	return clip(g.buf), nil
}

// whole gives a full attribute object without what Strip removes, or old
// itself when it says the same.
func (g *merger) whole(old, full json.RawMessage) (json.RawMessage, error) {
	out := append(g.buf[:0], '{')
	m := object(full)
	for {
		x, ok := m.next()
		if !ok {
			break
		}
		if !sensitive(string(x.name())) {
			out = put(out, x.key, clean(x.value))
		}
	}
	if err := m.err(); err != nil {
		return old, err
	}
	g.buf = append(out, '}')
	if len(old) > 0 && same(old, g.buf) {
		return old, nil
	}
	return clip(g.buf), nil
}

func put(out, key, value []byte) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(out, key...)
	out = append(out, ':')
	return append(out, value...)
}

// clip copies b into memory of just its size.
func clip(b []byte) json.RawMessage {
	if len(b) <= 2 {
		return emptyObject
	}
	out := make(json.RawMessage, len(b))
	copy(out, b)
	return out
}

func contains(names []string, name []byte) bool {
	for _, n := range names {
		if n == string(name) {
			return true
		}
	}
	return false
}

// same reports whether two objects have the same members, in any order. After
// a reconnect Home Assistant may name them in another order than its
// differences did.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) != len(b) { // same members in compact form have the same length
		return false
	}
	var all [48]member
	left := all[:0]
	m := object(a)
	for {
		x, ok := m.next()
		if !ok {
			break
		}
		left = append(left, x)
	}
	n := object(b)
	i := 0
	for {
		x, ok := n.next()
		if !ok {
			break
		}
		// Orders are nearly equal: look on from where the last one was found.
		at := -1
		for k := range left {
			j := (i + k) % len(left)
			if bytes.Equal(left[j].key, x.key) {
				at = j
				break
			}
		}
		if at < 0 || !bytes.Equal(left[at].value, x.value) {
			return false
		}
		i = at + 1
	}
	return m.err() == nil && n.err() == nil
}
