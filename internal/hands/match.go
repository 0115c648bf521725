package hands

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// shows reports whether a state is what is wanted: one of the values, and all
// of the attributes.
func shows(s *home.State, e home.Expect) bool {
	if len(e.States) > 0 && !slices.ContainsFunc(e.States, func(want string) bool { return sameValue(s.Value, want, e.Within) }) {
		return false
	}
	if len(e.States) == 0 && len(e.Attrs) == 0 {
		return false // only moving states were named
	}
	for name, want := range e.Attrs {
		if !sameJSON(mirror.Attribute(s, name), want, e.Within) {
			return false
		}
	}
	return true
}

// moves reports whether a state is on its way to what is wanted.
func moves(s *home.State, e home.Expect) bool { return slices.Contains(e.Moving, s.Value) }

// sameValue compares two state values; numbers are compared as numbers, since
// "40" is shown as "40.0".
func sameValue(have, want string, within float64) bool {
	if have == want {
		return true
	}
	a, err := strconv.ParseFloat(have, 64)
	if err != nil {
		return false
	}
	b, err := strconv.ParseFloat(want, 64)
	return err == nil && near(a, b, within)
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within+1e-9 }

// sameJSON compares two attributes: numbers within the tolerance, lists item by
// item, everything else exactly. An absent attribute equals null.
func sameJSON(have, want json.RawMessage, within float64) bool {
	have, want = bytes.TrimSpace(have), bytes.TrimSpace(want)
	if len(have) == 0 {
		have = []byte("null")
	}
	if len(want) == 0 {
		want = []byte("null")
	}
	if bytes.Equal(have, want) {
		return true
	}
	var a, b any
	if json.Unmarshal(have, &a) != nil || json.Unmarshal(want, &b) != nil {
		return false
	}
	return sameAny(a, b, within)
}

func sameAny(a, b any, within float64) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && near(x, y, within)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(p, q any) bool { return sameAny(p, q, within) })
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !sameAny(v, w, within) {
				return false
			}
		}
		return true
	}
	return a == b
}
