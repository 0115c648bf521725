package samehouse

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vars are values captured by "<$name>" and used as "$name".
type vars map[string]any

var shapes = map[string]*regexp.Regexp{
	"<ulid>":  regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`),
	"<hex32>": regexp.MustCompile(`^[0-9a-f]{32}$`),
	"<iso>":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?[+-]\d\d:\d\d$`),
	"<jwt>":   regexp.MustCompile(`^[\w-]+\.[\w-]+\.[\w-]+$`),
}

// match compares an answer with what is wanted. Objects must have exactly the
// wanted keys, unless "..." is among them. Strings in angle brackets are shapes.
func match(want, got any, path string, v vars) error {
	switch w := want.(type) {
	case string:
		return matchText(w, got, path, v)
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object, got %s", path, brief(got))
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if k == "..." {
				continue
			}
			if _, ok := g[k]; !ok {
				return fmt.Errorf("%s.%s is missing in %s", path, k, brief(got))
			}
			if err := match(w[k], g[k], path+"."+k, v); err != nil {
				return err
			}
		}
		if _, open := w["..."]; open {
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[k]; !ok {
				return fmt.Errorf("%s.%s = %s was not expected", path, k, brief(g[k]))
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s: want %s, got %s", path, brief(want), brief(got))
		}
		for i := range w {
			if err := match(w[i], g[i], fmt.Sprintf("%s[%d]", path, i), v); err != nil {
				return err
			}
		}
		return nil
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("%s: want %s, got %s", path, brief(want), brief(got))
	}
	return nil
}

func matchText(w string, got any, path string, v vars) error {
	bad := fmt.Errorf("%s: want %s, got %s", path, w, brief(got))
	s, isText := got.(string)
	_, isNumber := got.(float64)
	_, isList := got.([]any)
	_, isObject := got.(map[string]any)
	ok := false
	switch {
	case w == "<any>":
		ok = true
	case w == "<string>":
		ok = isText
	case w == "<number>":
		ok = isNumber
	case w == "<list>":
		ok = isList
	case w == "<object>":
		ok = isObject
	case strings.HasPrefix(w, "<$"):
		v[strings.Trim(w, "<$>")] = got
		ok = true
	case strings.HasPrefix(w, "<~"): // a part of the text
		ok = isText && strings.Contains(s, strings.TrimSuffix(w[2:], ">"))
	case strings.HasPrefix(w, "$"):
		ok = reflect.DeepEqual(v[w[1:]], got)
	case shapes[w] != nil:
		ok = isText && shapes[w].MatchString(s)
	default:
		ok = isText && s == w
	}
	if ok {
		return nil
	}
	return bad
}

func brief(v any) string {
	b, _ := json.Marshal(v)
	if len(b) > 400 {
		return string(b[:400]) + "…"
	}
	return string(b)
}

// parse reads JSON written in a table; "$name" strings become captured values.
func parse(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// fill puts captured values where "$name" stands.
func fill(v any, all vars) any {
	switch x := v.(type) {
	case string:
		if got, ok := all[strings.TrimPrefix(x, "$")]; ok && strings.HasPrefix(x, "$") {
			return got
		}
	case map[string]any:
		for k := range x {
			x[k] = fill(x[k], all)
		}
	case []any:
		for i := range x {
			x[i] = fill(x[i], all)
		}
	}
	return v
}
