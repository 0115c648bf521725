package tool

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// kind is what a single value of a field is.
type kind uint8

const (
	_ kind = iota
	kText
	kBool
	kInt
	kFloat
	kObject // free-form
)

// word is the kind's name in JSON schema.
func (k kind) word() string {
	return [...]string{"", "string", "boolean", "integer", "number", "object"}[k]
}

// field is one argument of a tool.
type field struct {
	name     string
	about    string
	kind     kind
	list     bool
	required bool
	fold     bool // unknown flat arguments go in here
	unsigned bool
	bits     int
	def      json.RawMessage // canonical; nil without a default
	min, max *float64        // a number's range, a text's length, a list's size
	enum     []string
	pattern  *regexp.Regexp
}

// shape is everything the door knows about a tool's arguments.
type shape struct {
	tool    string
	example string
	fields  []field
	byName  map[string]int
	byLoose map[string][]int // by normal form, with plural forms folded
	folds   int              // index of the fold field, -1 without
}

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	patternType = reflect.TypeFor[interface{ Pattern() string }]()
)

// newShape reads the struct type of a tool's input.
func newShape(tool string, t reflect.Type) *shape {
	if t.Kind() != reflect.Struct {
		fault(tool, "the input is a %s, not a struct", t)
	}
	s := &shape{tool: tool, byName: map[string]int{}, byLoose: map[string][]int{}, folds: -1}
	s.add(t)
	for i := range s.fields {
		f := &s.fields[i]
		if f.fold {
			if s.folds >= 0 {
				fault(tool, "two fields take up unknown arguments")
			}
			s.folds = i
		}
		for _, key := range looseKeys(f.name) {
			s.byLoose[key] = append(s.byLoose[key], i)
		}
	}
	return s
}

// add takes in the fields of t in order, those of embedded structs in place.
func (s *shape) add(t reflect.Type) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		if tag == "-" {
			continue
		}
		if sf.Anonymous && tag == "" && sf.Type.Kind() == reflect.Struct {
			s.add(sf.Type)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !fieldName.MatchString(name) || len(name) > 40 {
			fault(s.tool, "the field %s has no snake_case json name", sf.Name)
		}
		if _, twice := s.byName[name]; twice {
			fault(s.tool, "the argument %s is declared twice", name)
		}
		f := s.read(name, sf)
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") || sf.Type.Kind() == reflect.Pointer
		f.required = !optional && f.def == nil
		s.byName[name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
}

// read makes a field of a struct field and its tags.
func (s *shape) read(name string, sf reflect.StructField) field {
	f := field{name: name, about: strings.TrimSpace(sf.Tag.Get("jsonschema"))}
	if f.about == "" {
		fault(s.tool, "the argument %s has no description", name)
	}
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != rawType && t.Kind() == reflect.Slice {
		f.list = true
		t = t.Elem()
	}
	f.kind = s.kindOf(name, t)
	if f.list && f.kind == kObject {
		fault(s.tool, "the argument %s is a list of objects; inputs are flat", name)
	}
	if f.kind == kInt {
		f.bits = t.Bits()
		f.unsigned = t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64
	}
	s.limits(&f, sf.Tag)
	s.patterned(&f, t, sf.Tag.Get("pattern"))
	if f.fold = sf.Tag.Get("fold") == "true"; f.fold && f.kind != kObject {
		fault(s.tool, "the argument %s takes up unknown arguments but is no object", name)
	}
	s.defaulted(&f, sf.Tag)
	return f
}

// kindOf says what JSON a Go type is written as; it refuses what is not flat.
func (s *shape) kindOf(name string, t reflect.Type) kind {
	if t == rawType {
		return kObject
	}
	switch t.Kind() {
	case reflect.String:
		return kText
	case reflect.Bool:
		return kBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kInt
	case reflect.Float32, reflect.Float64:
		return kFloat
	}
	fault(s.tool, "the argument %s is a %s; inputs are flat: text, numbers, truth values, lists of them, and json.RawMessage for a free-form object", name, t)
	return 0
}

// limits reads min, max and enum.
func (s *shape) limits(f *field, tag reflect.StructTag) {
	for _, end := range []struct {
		name string
		to   **float64
	}{{"min", &f.min}, {"max", &f.max}} {
		text, ok := tag.Lookup(end.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || f.kind == kBool || f.kind == kObject {
			fault(s.tool, "the argument %s cannot have %s %q", f.name, end.name, text)
		}
		*end.to = &n
	}
	if f.min != nil && f.max != nil && *f.min > *f.max {
		fault(s.tool, "the argument %s has a minimum above its maximum", f.name)
	}
	if text, ok := tag.Lookup("enum"); ok {
		if f.kind != kText {
			fault(s.tool, "the argument %s is no text and cannot have an enum", f.name)
		}
		for v := range strings.SplitSeq(text, ",") {
			if v = strings.TrimSpace(v); v == "" {
				fault(s.tool, "the argument %s has an empty enum value", f.name)
			}
			f.enum = append(f.enum, v)
		}
	}
}

// patterned reads the pattern of the tag or of the type.
func (s *shape) patterned(f *field, t reflect.Type, text string) {
	if text == "" && (t.Implements(patternType) || reflect.PointerTo(t).Implements(patternType)) {
		text = reflect.New(t).Interface().(interface{ Pattern() string }).Pattern()
	}
	if text == "" {
		return
	}
	re, err := regexp.Compile(text)
	if err != nil || f.kind != kText {
		fault(s.tool, "the argument %s cannot have the pattern %q", f.name, text)
	}
	f.pattern = re
}

// defaulted reads the default and wants it to fit the field's own limits.
func (s *shape) defaulted(f *field, tag reflect.StructTag) {
	text, ok := tag.Lookup("default")
	if !ok {
		return
	}
	raw, _ := json.Marshal(text)
	v, p := f.value(raw)
	if p != nil || v == nil {
		fault(s.tool, "the argument %s cannot have the default %q: %v", f.name, text, p)
	}
	f.def = v
}
