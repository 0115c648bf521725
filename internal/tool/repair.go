package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hearth/internal/home"
)

// maxArgs is how many bytes of arguments the door reads.
const maxArgs = 1 << 20

// repair makes canonical arguments of what a client sent. Clients send numbers
// and objects as text, one value where a list is due, other spellings of a
// name, and null for what they leave out; each is understood where only one
// meaning fits. Everything else is an error that says what to correct.
func (s *shape) repair(raw json.RawMessage) (json.RawMessage, *home.Error) {
	given, err := s.object(raw)
	if err != nil {
		return nil, err
	}
	got := make([]json.RawMessage, len(s.fields))
	var rest []string
	for key, v := range given {
		if isNull(v) {
			continue
		}
		if i, ok := s.byName[key]; ok {
			got[i] = v
		} else {
			rest = append(rest, key)
		}
	}
	if len(rest) > 0 {
		slices.Sort(rest)
		if err := s.place(given, got, rest); err != nil {
			return nil, err
		}
	}
	return s.canonical(got)
}

// strict accepts only what needs no repair: the schema itself.
func (s *shape) strict(raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	for key, v := range given {
		i, ok := s.byName[key]
		if !ok {
			return fmt.Errorf("unknown argument %s", key)
		}
		want, p := s.fields[i].value(v)
		if p != nil {
			return errors.New(p.msg)
		}
		var have bytes.Buffer
		if err := json.Compact(&have, v); err != nil || !bytes.Equal(have.Bytes(), want) {
			return fmt.Errorf("%s is written %s, the schema wants %s", key, v, want)
		}
	}
	for _, f := range s.fields {
		if _, ok := given[f.name]; f.required && !ok {
			return fmt.Errorf("%s is missing", f.name)
		}
	}
	return nil
}

// object reads the outer object, also where it comes as text or wrapped once more.
func (s *shape) object(raw json.RawMessage) (map[string]json.RawMessage, *home.Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > maxArgs {
		return nil, home.Errorf(home.Invalid, "the arguments have %d bytes, at most %d are read", len(raw), maxArgs).WithHint("send less at once")
	}
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			raw = bytes.TrimSpace([]byte(text))
			if len(raw) == 0 || isNull(raw) {
				return nil, nil
			}
		}
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, home.Errorf(home.Invalid, "the arguments of %s are no JSON object", s.tool).WithHint("%s", s.usage())
	}
	if len(given) == 1 {
		for key, v := range given {
			if _, known := s.byName[key]; known || len(v) == 0 || v[0] != '{' || s.folds >= 0 {
				break
			}
			switch key {
			case "arguments", "args", "params", "parameters", "input":
				return s.object(v)
			}
		}
	}
	return given, nil
}

// place finds a home for the keys that are not exactly an argument's name.
func (s *shape) place(given map[string]json.RawMessage, got []json.RawMessage, rest []string) *home.Error {
	var unknown []string
	from := make([]string, len(got)) // which key an argument was repaired from
	for _, key := range rest {
		i, ok := s.meant(key)
		if !ok {
			unknown = append(unknown, key)
			continue
		}
		if got[i] != nil {
			other := from[i]
			if other == "" {
				other = s.fields[i].name
			}
			return home.Errorf(home.Ambiguous, "%s and %s both stand for %s", Quote(other, 60), Quote(key, 60), s.fields[i].name).
				WithHint("give %s once", s.fields[i].name)
		}
		got[i], from[i] = given[key], key
	}
	if len(unknown) == 0 {
		return nil
	}
	if s.folds >= 0 {
		return s.foldIn(given, got, unknown)
	}
	return s.unknown(unknown)
}

// meant is the one argument that a misspelt key can stand for.
func (s *shape) meant(key string) (int, bool) {
	if hits := s.byLoose[loose(key)]; len(hits) == 1 {
		return hits[0], true
	}
	want := loose(key)
	if len(want) < 5 {
		return 0, false
	}
	found, at := 0, -1
	for i := range s.fields {
		if name := loose(s.fields[i].name); len(name) >= 5 && home.Distance(want, name, 2) <= 2 {
			found++
			if home.Distance(want, name, 1) <= 1 {
				at = i
			}
		}
	}
	return at, found == 1 && at >= 0
}

// foldIn puts unknown flat arguments into the free-form object.
func (s *shape) foldIn(given map[string]json.RawMessage, got []json.RawMessage, keys []string) *home.Error {
	f := &s.fields[s.folds]
	inside := map[string]json.RawMessage{}
	if got[s.folds] != nil {
		v, p := f.value(got[s.folds])
		if p != nil {
			return p.error(s)
		}
		if v != nil {
			if err := json.Unmarshal(v, &inside); err != nil {
				return home.Errorf(home.Invalid, "%s is no JSON object", f.name).WithHint("%s", f.need())
			}
		}
	}
	for _, key := range keys {
		if have, twice := inside[key]; twice && !bytes.Equal(bytes.TrimSpace(have), bytes.TrimSpace(given[key])) {
			return home.Errorf(home.Ambiguous, "%s stands beside %s and inside it, with different values", Quote(key, 60), f.name).
				WithHint("give it once, inside %s", f.name)
		}
		inside[key] = given[key]
	}
	b, err := marshal(inside)
	if err != nil {
		return home.Errorf(home.Invalid, "%s is no JSON object", f.name).WithHint("%s", f.need())
	}
	got[s.folds] = b
	return nil
}

// unknown is the error for arguments that do not exist.
func (s *shape) unknown(keys []string) *home.Error {
	var quoted, near []string
	names := make([]string, len(s.fields))
	for i := range s.fields {
		names[i] = s.fields[i].name
	}
	for _, k := range keys[:min(3, len(keys))] {
		quoted = append(quoted, Quote(k, 60))
		for _, n := range Nearest(k, names, 2) {
			if !slices.Contains(near, n) && len(near) < 3 {
				near = append(near, n)
			}
		}
	}
	msg := fmt.Sprintf("%s has no argument %s", s.tool, strings.Join(quoted, ", "))
	if len(near) > 0 {
		return home.Errorf(home.Invalid, "%s. Did you mean %s?", msg, strings.Join(near, ", ")).WithHint("%s", s.usage())
	}
	return home.Errorf(home.Invalid, "%s", msg).WithHint("%s", s.usage())
}

// usage says in one line what the tool takes.
func (s *shape) usage() string {
	if len(s.fields) == 0 {
		return s.tool + " takes no arguments."
	}
	names := make([]string, len(s.fields))
	for i := range s.fields {
		names[i] = s.fields[i].name
	}
	return "It takes " + strings.Join(names, ", ") + "."
}

// canonical checks every argument and writes them in order.
func (s *shape) canonical(got []json.RawMessage) (json.RawMessage, *home.Error) {
	var out bytes.Buffer
	out.WriteByte('{')
	var problems []*problem
	for i := range s.fields {
		f := &s.fields[i]
		v := f.def
		if got[i] != nil {
			fixed, p := f.value(got[i])
			if p != nil {
				problems = append(problems, p)
				continue
			}
			if fixed != nil {
				v = fixed
			}
		}
		if v == nil {
			if f.required {
				problems = append(problems, &problem{field: f, msg: f.name + " is missing", hint: f.need()})
			}
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.WriteByte('"')
		out.WriteString(f.name)
		out.WriteString(`":`)
		out.Write(v)
	}
	if len(problems) > 0 {
		return nil, allOf(problems, s)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }
