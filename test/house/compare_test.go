package house_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// differences compares an answer with what it must hold: every field of want is
// in got and equal. Numbers may differ by rounding; times are compared as instants, to
// the precision the shorter text has.
func differences(path string, got, want any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: got %v, want an object", path, brief(got))}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(w)) {
			out = append(out, differences(path+"."+k, g[k], w[k])...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok && len(w) > 0 {
			return []string{fmt.Sprintf("%s: got %v, want a list of %d", path, brief(got), len(w))}
		}
		if len(g) != len(w) {
			return []string{fmt.Sprintf("%s: %d elements, want %d: %v, want %v", path, len(g), len(w), brief(g), brief(w))}
		}
		var out []string
		for i := range w {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])...)
		}
		return out
	case float64:
		if g, ok := got.(float64); ok && math.Abs(g-w) <= 1e-6*max(1, math.Abs(w)) {
			return nil
		}
	case string:
		if g, ok := got.(string); ok && (g == w || sameTime(g, w)) {
			return nil
		}
		if w == "" && got == nil {
			return nil
		}
	case nil:
		if got == nil {
			return nil
		}
	case bool:
		if got == w || !w && got == nil {
			return nil
		}
	default:
		return []string{fmt.Sprintf("%s: cannot compare %T", path, want)}
	}
	return []string{fmt.Sprintf("%s: got %v, want %v", path, brief(got), brief(want))}
}

// sameTime compares RFC 3339 times of different zones and precisions.
func sameTime(a, b string) bool {
	ta, erra := time.Parse(time.RFC3339Nano, a)
	tb, errb := time.Parse(time.RFC3339Nano, b)
	if erra != nil || errb != nil {
		return false
	}
	if !strings.Contains(a, ".") || !strings.Contains(b, ".") {
		return ta.Truncate(time.Second).Equal(tb.Truncate(time.Second))
	}
	return ta.Equal(tb)
}

func brief(v any) string {
	b, _ := json.Marshal(v)
	if len(b) > 300 {
		b = append(b[:300], "…"...)
	}
	return string(b)
}

// agree fails the test on differences, and then proves that the comparison can
// fail: a wrong value planted at each field in turn must turn it red.
func agree(t *testing.T, name string, got, want map[string]any) {
	t.Helper()
	want = normal(want)
	for _, d := range differences(name, got, want) {
		t.Error(d)
	}
	if t.Failed() {
		return
	}
	n := 0
	for _, p := range leaves(nil, want) {
		wrong := normal(got)
		plant(wrong, p)
		if len(differences(name, wrong, want)) == 0 {
			t.Errorf("%s: a wrong value planted at %v was not noticed", name, p)
		}
		n++
	}
	if n == 0 {
		t.Errorf("%s: nothing was compared", name)
	}
}

// normal is a deep copy as JSON has it.
func normal(m map[string]any) map[string]any {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// leaves lists the paths of all leaf values.
func leaves(at []any, v any) [][]any {
	var out [][]any
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leaves(append(slices.Clone(at), k), v[k])...)
		}
	case []any:
		for i := range v {
			out = append(out, leaves(append(slices.Clone(at), i), v[i])...)
		}
	default:
		out = append(out, at)
	}
	return out
}

// plant changes the value at a path into a wrong one.
func plant(root any, path []any) {
	last := path[len(path)-1]
	for _, p := range path[:len(path)-1] {
		switch p := p.(type) {
		case string:
			if object(root)[p] == nil {
				object(root)[p] = map[string]any{}
			}
			root = object(root)[p]
		case int:
			if p >= len(list(root)) {
				return
			}
			root = list(root)[p]
		}
	}
	wrong := func(v any) any {
		switch v := v.(type) {
		case float64:
			return v + 1
		case bool:
			return !v
		case string:
			return v + "?"
		}
		return "planted"
	}
	switch p := last.(type) {
	case string:
		object(root)[p] = wrong(object(root)[p])
	case int:
		list(root)[p] = wrong(list(root)[p])
	}
}

func TestComparisonNotices(t *testing.T) {
	want := map[string]any{"a": 1.0, "b": []any{map[string]any{"c": "2026-01-02T03:04:05.5+01:00"}}, "d": nil, "e": false}
	got := map[string]any{"a": 1.0, "b": []any{map[string]any{"c": "2026-01-02T02:04:05.5Z", "more": 1.0}}, "x": 2.0}
	if d := differences("t", got, want); len(d) > 0 {
		t.Errorf("equal values differ: %v", d)
	}
	for _, p := range leaves(nil, want) {
		wrong := normal(got)
		plant(wrong, p)
		if len(differences("t", wrong, want)) == 0 {
			t.Errorf("a wrong value at %v was not noticed", p)
		}
	}
}
