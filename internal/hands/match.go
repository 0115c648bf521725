package hands

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

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

// distance is how far a state that shows what is wanted is from showing it
// exactly: the sum over all numbers, 0 for the same.
func distance(s *home.State, e home.Expect) float64 {
	far := 0.0
	if len(e.States) > 0 {
		far = math.Inf(1)
		for _, want := range e.States {
			far = min(far, apart(s.Value, want))
		}
		if math.IsInf(far, 1) {
			far = 0 // not a number: it is one of them, or shows would say so
		}
	}
	for name, want := range e.Attrs {
		far += apartJSON(mirror.Attribute(s, name), want)
	}
	return far
}

// apart is the distance of two values, infinite where they are no numbers.
func apart(have, want string) float64 {
	if have == want {
		return 0
	}
	a, err := strconv.ParseFloat(have, 64)
	b, err2 := strconv.ParseFloat(want, 64)
	if err != nil || err2 != nil {
		return math.Inf(1)
	}
	return gap(a, b)
}

func apartJSON(have, want json.RawMessage) float64 {
	var a, b any
	if json.Unmarshal(have, &a) != nil || json.Unmarshal(want, &b) != nil {
		return 0 // an absent attribute equals null, or shows would say so
	}
	return apartAny(a, b)
}

func apartAny(a, b any) float64 {
	far := 0.0
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok {
			return gap(x, y)
		}
	case []any:
		y, _ := b.([]any)
		for i := range min(len(x), len(y)) {
			far += apartAny(x[i], y[i])
		}
	case map[string]any:
		y, _ := b.(map[string]any)
		for k := range x {
			far += apartAny(x[k], y[k])
		}
	}
	return far
}

// gap is the distance of two numbers. What single precision cannot tell apart
// is the same: many devices keep 0.31 as 0.31000000238.
func gap(a, b float64) float64 {
	d := math.Abs(a - b)
	if d <= 1e-9 || d <= 1e-6*max(math.Abs(a), math.Abs(b)) {
		return 0
	}
	return d
}

// instead says what a state shows where it is not exactly what is wanted.
func instead(s *home.State, e home.Expect) string {
	text := "shows " + home.Clip(s.Value, 60)
	if len(e.States) > 0 && !slices.ContainsFunc(e.States, func(w string) bool { return sameValue(s.Value, w, e.Within) }) {
		return text
	}
	for _, name := range slices.Sorted(maps.Keys(e.Attrs)) {
		if have := mirror.Attribute(s, name); !sameJSON(have, e.Attrs[name], 0) {
			if have == nil {
				have = json.RawMessage("none")
			}
			text += ", " + name + " " + home.Clip(string(have), 60)
		}
	}
	return text
}

// showing is what a receipt says of a state: its value, and the attributes that
// a command is about, as far as it has them.
func showing(s *home.State, e home.Expect) string {
	if s == nil {
		return ""
	}
	text := home.Clip(s.Value, 60)
	names := slices.Collect(maps.Keys(e.Attrs))
	for name := range e.Proof {
		if _, twice := e.Attrs[name]; !twice {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		have := mirror.Attribute(s, name)
		if have == nil || string(have) == "null" {
			continue
		}
		value := string(have)
		if t, ok := mirror.Unquote(have); ok {
			value = t
		} else if f, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(f, 'f', -1, 32) // what single precision cannot tell apart is the same
			if name == "brightness" {
				value += " (" + strconv.FormatFloat(math.RoundToEven(f*100/255), 'f', -1, 64) + " %)"
			}
		}
		text += ", " + name + " " + home.Clip(value, 60)
	}
	return text
}

// listed joins the names of fields, a few of them.
func listed(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:4], ", ") + " and more"
	}
	return strings.Join(names, ", ")
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
