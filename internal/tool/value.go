package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hearth/internal/home"
)

// problem is what is wrong with one argument: what, and what to do.
type problem struct {
	field *field
	msg   string
	hint  string
}

// error is the problem as a model sees it.
func (p *problem) error(s *shape) *home.Error { return allOf([]*problem{p}, s) }

// String is for the panic of a faulty declaration.
func (p *problem) String() string {
	if p == nil {
		return "it is empty"
	}
	return p.msg
}

// allOf joins problems; three are named, so that one call mends them all.
func allOf(ps []*problem, s *shape) *home.Error {
	var msgs, hints []string
	for _, p := range ps[:min(3, len(ps))] {
		msgs = append(msgs, p.msg)
		if p.hint != "" {
			hints = append(hints, p.hint)
		}
	}
	if len(ps) > 3 {
		msgs = append(msgs, fmt.Sprintf("and %d more", len(ps)-3))
	}
	if s.example != "" {
		hints = append(hints, "For example "+s.example)
	}
	return home.Errorf(home.Invalid, "%s", strings.Join(msgs, "; ")).WithHint("%s", strings.Join(hints, ". "))
}

// need says what a field wants, in words.
func (f *field) need() string {
	switch {
	case len(f.enum) > 0 && len(f.enum) <= 12:
		return f.name + " is one of " + strings.Join(f.enum, ", ")
	case f.list:
		return "give " + f.name + " as a list: " + home.Clip(f.about, 120)
	case f.kind == kObject:
		return "give " + f.name + ` as an object such as {"key": "value"}`
	}
	return "give " + f.name + " as a " + f.kind.word() + ": " + home.Clip(f.about, 120)
}

// value makes the canonical JSON of one argument; nil without a problem means
// that it is as good as absent.
func (f *field) value(raw json.RawMessage) (json.RawMessage, *problem) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	switch {
	case f.list:
		return f.items(raw)
	case f.kind == kObject:
		return f.object(raw)
	case raw[0] == '[':
		// One value in a list where the value itself is due.
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && len(items) == 1 {
			return f.single(items[0])
		}
		return nil, f.wrong(raw, f.kind.word())
	}
	return f.single(raw)
}

// wrong is the problem of a value of the wrong kind.
func (f *field) wrong(raw json.RawMessage, want string) *problem {
	return &problem{field: f, msg: fmt.Sprintf("%s must be a %s, not %s", f.name, want, shown(raw)), hint: f.need()}
}

// shown is a value as it may stand in a message.
func shown(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return Quote(s, 60)
	}
	return home.Clip(Plain(string(raw)), 60)
}

// object takes an object or its text.
func (f *field) object(raw json.RawMessage) (json.RawMessage, *problem) {
	if raw[0] == '"' {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, f.wrong(raw, "object")
		}
		if text = strings.TrimSpace(text); text == "" || text == "null" {
			return nil, nil
		}
		if text[0] != '{' || !json.Valid([]byte(text)) {
			return nil, f.wrong(raw, "object")
		}
		raw = json.RawMessage(text)
	}
	var out bytes.Buffer
	if raw[0] != '{' || json.Compact(&out, raw) != nil {
		return nil, f.wrong(raw, "object")
	}
	return out.Bytes(), nil
}

// items takes a list, the text of a list, a comma list or a single value.
func (f *field) items(raw json.RawMessage) (json.RawMessage, *problem) {
	var in []json.RawMessage
	switch raw[0] {
	case '[':
		if json.Unmarshal(raw, &in) != nil {
			return nil, f.wrong(raw, "list")
		}
	case '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, f.wrong(raw, "list")
		}
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &in) == nil {
			break
		}
		in = splitText(text)
	case '{':
		return nil, f.wrong(raw, "list")
	default:
		in = []json.RawMessage{raw}
	}
	var vs []json.RawMessage
	for _, item := range in {
		if item = bytes.TrimSpace(item); isNull(item) {
			continue
		}
		parts := []json.RawMessage{item}
		if f.pattern != nil && len(item) > 0 && item[0] == '"' {
			var text string
			if json.Unmarshal(item, &text) == nil && strings.Contains(text, ",") {
				parts = splitText(text)
			}
		}
		for _, part := range parts {
			v, p := f.single(part)
			if p != nil {
				return nil, p
			}
			vs = append(vs, v)
		}
	}
	return f.join(vs)
}

// join checks the list's size and writes it.
func (f *field) join(vs []json.RawMessage) (json.RawMessage, *problem) {
	if f.min != nil && float64(len(vs)) < *f.min {
		return nil, &problem{f, fmt.Sprintf("%s has %d items, at least %s are needed", f.name, len(vs), number(*f.min)), f.need()}
	}
	if f.max != nil && float64(len(vs)) > *f.max {
		return nil, &problem{f, fmt.Sprintf("%s has %d items, at most %s are taken", f.name, len(vs), number(*f.max)), "send them in several calls"}
	}
	var out bytes.Buffer
	out.WriteByte('[')
	for i, v := range vs {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(v)
	}
	out.WriteByte(']')
	return out.Bytes(), nil
}

// splitText makes the items of a comma list.
func splitText(text string) []json.RawMessage {
	var out []json.RawMessage
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, jsonText(part))
		}
	}
	return out
}

// single takes one value that is no list and no object.
func (f *field) single(raw json.RawMessage) (json.RawMessage, *problem) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || isNull(raw) || raw[0] == '{' || raw[0] == '[' {
		return nil, f.wrong(raw, f.kind.word())
	}
	text, quoted := string(raw), false
	if raw[0] == '"' {
		quoted = true
		if json.Unmarshal(raw, &text) != nil {
			return nil, f.wrong(raw, f.kind.word())
		}
	}
	switch f.kind {
	case kText:
		return f.text(text)
	case kBool:
		return f.truth(raw, text)
	}
	if text = strings.TrimSpace(text); quoted && text == "" {
		return nil, f.wrong(raw, f.kind.word())
	}
	return f.number(raw, text)
}

func (f *field) truth(raw json.RawMessage, text string) (json.RawMessage, *problem) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return json.RawMessage("true"), nil
	case "false", "no", "off", "0":
		return json.RawMessage("false"), nil
	}
	return nil, &problem{f, fmt.Sprintf("%s must be true or false, not %s", f.name, shown(raw)), "give " + f.name + " as true or false"}
}

// number takes a JSON number or its text.
func (f *field) number(raw json.RawMessage, text string) (json.RawMessage, *problem) {
	text = strings.TrimPrefix(text, "+")
	n, err := strconv.ParseFloat(text, 64)
	// ParseFloat also takes hexadecimal, infinity and underscores; JSON does not.
	if err != nil || !json.Valid([]byte(text)) || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, f.wrong(raw, f.kind.word())
	}
	if f.kind == kInt && (n != math.Trunc(n) || !f.holds(n)) {
		return nil, &problem{f, fmt.Sprintf("%s must be a whole number, not %s", f.name, shown(raw)), f.need()}
	}
	if !f.list && (f.min != nil && n < *f.min || f.max != nil && n > *f.max) {
		return nil, &problem{f, fmt.Sprintf("%s is %s, but must be %s", f.name, number(n), f.bounds()), "choose a value within it"}
	}
	if f.kind == kInt {
		return strconv.AppendInt(nil, int64(n), 10), nil
	}
	return json.RawMessage(text), nil
}

// holds reports whether the field's Go type can hold n exactly.
func (f *field) holds(n float64) bool {
	if f.unsigned && n < 0 || math.Abs(n) > 1<<53 {
		return false
	}
	bits := f.bits
	if !f.unsigned {
		bits--
	}
	return n < math.Ldexp(1, bits) && n >= -math.Ldexp(1, bits)
}

// bounds is the range in words.
func (f *field) bounds() string {
	switch {
	case f.min == nil:
		return "at most " + number(*f.max)
	case f.max == nil:
		return "at least " + number(*f.min)
	}
	return "from " + number(*f.min) + " to " + number(*f.max)
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// text takes a text: trimmed and put in order where enum or pattern leave one meaning.
func (f *field) text(s string) (json.RawMessage, *problem) {
	switch {
	case len(f.enum) > 0:
		v, ok := f.choose(s)
		if !ok {
			return nil, f.noChoice(s)
		}
		s = v
	case f.pattern != nil:
		v, ok := f.fit(s)
		if !ok {
			return nil, &problem{f, fmt.Sprintf("%s cannot be %s", f.name, Quote(s, 80)), f.form()}
		}
		s = v
	}
	n := float64(utf8.RuneCountInString(s))
	if !f.list && f.min != nil && n < *f.min {
		return nil, &problem{f, fmt.Sprintf("%s is too short: at least %s characters", f.name, number(*f.min)), f.need()}
	}
	if !f.list && f.max != nil && n > *f.max {
		return nil, &problem{f, fmt.Sprintf("%s has %s characters, at most %s are taken", f.name, number(n), number(*f.max)), "shorten it"}
	}
	return jsonText(s), nil
}

// form says what a patterned field looks like.
func (f *field) form() string {
	if f.pattern.String() == home.EntityID("").Pattern() {
		return "write an entity id as domain.object, for example light.kitchen; entity_search finds ids by name"
	}
	return f.name + " must match " + f.pattern.String() + ": " + home.Clip(f.about, 120)
}

// fit finds the one reading of s that matches the pattern: as it is, trimmed,
// in lower case, or one part of a joined "name, alias".
func (f *field) fit(s string) (string, bool) {
	trimmed := strings.TrimSpace(s)
	for _, v := range []string{s, trimmed} {
		if f.pattern.MatchString(v) {
			return v, true
		}
	}
	// Letters such as the Kelvin sign turn into ASCII in lower case: a look-alike
	// must not become an id.
	if low := strings.ToLower(trimmed); isASCII(trimmed) && f.pattern.MatchString(low) {
		return low, true
	}
	found, hits := "", 0
	if strings.Contains(s, ",") {
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); !isASCII(part) {
				continue
			}
			if part = strings.ToLower(part); f.pattern.MatchString(part) {
				found, hits = part, hits+1
			}
		}
	}
	return found, hits == 1
}

// isASCII reports whether s has only one-byte letters.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// choose finds the enum value that s means.
func (f *field) choose(s string) (string, bool) {
	found, hits := "", 0
	want := loose(s)
	for _, e := range f.enum {
		if e == s {
			return e, true
		}
		if loose(e) == want {
			found, hits = e, hits+1
		}
	}
	return found, hits == 1
}

// noChoice names the nearest enum values.
func (f *field) noChoice(s string) *problem {
	msg := fmt.Sprintf("%s cannot be %s", f.name, Quote(s, 60))
	if near := Nearest(s, f.enum, 3); len(near) > 0 {
		msg += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return &problem{f, msg, "choose one of " + home.Clip(strings.Join(f.enum, ", "), 400)}
}
