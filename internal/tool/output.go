package tool

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// filler turns the nil lists and maps at the top of an output into empty ones:
// JSON would say null, which the schema does not allow. It goes into structs
// held by value but not into list elements, which may belong to a view shared
// with others.
type filler struct {
	at     []int // index of the field
	inside []*filler
}

// value fills v, which is addressable.
func (f *filler) value(v reflect.Value) {
	if f == nil {
		return
	}
	for i, at := range f.at {
		fv := v.Field(at)
		if f.inside[i] != nil {
			f.inside[i].value(fv)
			continue
		}
		if !fv.IsNil() {
			continue
		}
		switch {
		case fv.Type() == rawType:
			fv.SetBytes([]byte("{}"))
		case fv.Kind() == reflect.Map:
			fv.Set(reflect.MakeMap(fv.Type()))
		default:
			fv.Set(reflect.MakeSlice(fv.Type(), 0, 0))
		}
	}
}

// outputs writes the schema of an output type.
type outputs struct {
	tool  string
	w     schemaWriter
	stack []reflect.Type
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// outputOf gives the schema of t and what has to be filled before marshalling.
func outputOf(tool string, t reflect.Type) (json.RawMessage, *filler) {
	if t.Kind() != reflect.Struct || t == timeType {
		fault(tool, "the output is a %s, not a struct", t)
	}
	o := &outputs{tool: tool}
	f := o.object(t, "", true)
	return o.w.Bytes(), f
}

// object writes a struct. top says whether its nil lists can be filled.
func (o *outputs) object(t reflect.Type, about string, top bool) *filler {
	o.w.WriteString(`{"type":"object"`)
	o.about(about)
	for _, s := range o.stack {
		if s == t { // a tree of itself: references are not allowed, so the rest is left open
			o.w.WriteByte('}')
			return nil
		}
	}
	o.stack = append(o.stack, t)
	o.w.WriteString(`,"properties":{`)
	f := &filler{}
	var required []string
	o.members(t, f, &required, top)
	o.w.WriteByte('}')
	if len(required) > 0 {
		o.w.WriteString(`,"required":[`)
		for i, name := range required {
			if i > 0 {
				o.w.WriteByte(',')
			}
			o.w.str(name)
		}
		o.w.WriteByte(']')
	}
	o.w.WriteByte('}')
	o.stack = o.stack[:len(o.stack)-1]
	if len(f.at) == 0 {
		return nil
	}
	return f
}

func (o *outputs) about(text string) {
	if text != "" {
		o.w.WriteString(`,"description":`)
		o.w.str(text)
	}
}

// members writes the properties of t, those of embedded structs in place.
func (o *outputs) members(t reflect.Type, f *filler, required *[]string, top bool) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous {
			continue
		}
		if sf.Anonymous && tag == "" && sf.Type.Kind() == reflect.Struct {
			in := &filler{}
			o.members(sf.Type, in, required, top)
			if len(in.at) > 0 {
				f.at, f.inside = append(f.at, i), append(f.inside, in)
			}
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			fault(o.tool, "the output field %s.%s has no json name", t, sf.Name)
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if !optional {
			*required = append(*required, name)
		}
		o.w.key(name)
		in := o.typ(name, sf.Type, strings.TrimSpace(sf.Tag.Get("jsonschema")), top)
		o.nils(sf, optional, top)
		switch {
		case optional:
		case in != nil:
			f.at, f.inside = append(f.at, i), append(f.inside, in)
		case nilable(sf.Type):
			f.at, f.inside = append(f.at, i), append(f.inside, nil)
		}
	}
}

// nils refuses a field that could be written as null.
func (o *outputs) nils(sf reflect.StructField, optional, top bool) {
	if optional || sf.Type.Kind() != reflect.Pointer && (top || !nilable(sf.Type)) {
		return
	}
	fault(o.tool, "the output field %s would be null when nil: give its json tag omitempty", sf.Name)
}

func nilable(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Map }

// typ writes the schema of one type; what it returns fills a struct held by value.
func (o *outputs) typ(name string, t reflect.Type, about string, top bool) *filler {
	switch {
	case t.Kind() == reflect.Pointer:
		o.typ(name, t.Elem(), about, false)
		return nil
	case t == timeType:
		o.scalar("string", about)
		return nil
	case t == rawType:
		o.scalar("object", about)
		return nil
	case t.Implements(textType) || reflect.PointerTo(t).Implements(textType):
		o.scalar("string", about)
		return nil
	case t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType):
		fault(o.tool, "the output field %s has a type that writes its own JSON: %s", name, t)
	}
	switch t.Kind() {
	case reflect.Struct:
		return o.object(t, about, top)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			o.scalar("string", about)
			return nil
		}
		o.w.WriteString(`{"type":"array"`)
		o.about(about)
		o.w.WriteString(`,"items":`)
		o.typ(name, t.Elem(), "", false)
		o.w.WriteByte('}')
	case reflect.Map:
		o.mapping(name, t, about)
	case reflect.String:
		o.scalar("string", about)
	case reflect.Bool:
		o.scalar("boolean", about)
	case reflect.Float32, reflect.Float64:
		o.scalar("number", about)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		o.scalar("integer", about)
	default:
		fault(o.tool, "the output field %s is a %s, which has no JSON schema of one type", name, t)
	}
	return nil
}

func (o *outputs) scalar(word, about string) {
	o.w.WriteString(`{"type":"` + word + `"`)
	o.about(about)
	o.w.WriteByte('}')
}

// mapping writes a map: the schema of its values where they have one.
func (o *outputs) mapping(name string, t reflect.Type, about string) {
	o.w.WriteString(`{"type":"object"`)
	o.about(about)
	if t.Elem() != rawType {
		o.w.WriteString(`,"additionalProperties":`)
		o.typ(name, t.Elem(), "", false)
	}
	o.w.WriteByte('}')
}
