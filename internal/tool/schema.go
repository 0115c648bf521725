package tool

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// schemaWriter writes a JSON schema with its keys in the order given, which a
// map or the schema library would lose.
type schemaWriter struct{ bytes.Buffer }

func (w *schemaWriter) str(s string) { w.Write(jsonText(s)) }

// key starts a member, with a comma where one is due.
func (w *schemaWriter) key(name string) {
	if b := w.Bytes(); len(b) > 0 && b[len(b)-1] != '{' {
		w.WriteByte(',')
	}
	w.str(name)
	w.WriteByte(':')
}

func (w *schemaWriter) num(name string, n *float64) {
	if n == nil {
		return
	}
	w.key(name)
	w.WriteString(strconv.FormatFloat(*n, 'f', -1, 64))
}

// schema is the JSON schema of the arguments.
func (s *shape) schema() json.RawMessage {
	var w schemaWriter
	w.WriteString(`{"type":"object","properties":{`)
	for i := range s.fields {
		w.key(s.fields[i].name)
		s.fields[i].schema(&w)
	}
	w.WriteByte('}')
	w.required(s)
	if s.folds < 0 {
		w.key("additionalProperties")
		w.WriteString("false")
	}
	w.WriteByte('}')
	return w.Bytes()
}

func (w *schemaWriter) required(s *shape) {
	open := false
	for i := range s.fields {
		if !s.fields[i].required {
			continue
		}
		if open {
			w.WriteByte(',')
		} else {
			w.key("required")
			w.WriteByte('[')
			open = true
		}
		w.str(s.fields[i].name)
	}
	if open {
		w.WriteByte(']')
	}
}

// schema writes the field's own schema.
func (f *field) schema(w *schemaWriter) {
	w.WriteByte('{')
	w.key("type")
	if f.list {
		w.str("array")
	} else {
		w.str(f.kind.word())
	}
	w.key("description")
	w.str(f.about)
	if f.list {
		w.key("items")
		w.WriteByte('{')
		w.key("type")
		w.str(f.kind.word())
		f.values(w)
		w.WriteByte('}')
		w.num("minItems", f.min)
		w.num("maxItems", f.max)
	} else {
		f.values(w)
		low, high := "minimum", "maximum"
		if f.kind == kText {
			low, high = "minLength", "maxLength"
		}
		w.num(low, f.min)
		w.num(high, f.max)
	}
	if f.def != nil {
		w.key("default")
		w.Write(f.def)
	}
	w.WriteByte('}')
}

// values writes what bounds a single value.
func (f *field) values(w *schemaWriter) {
	if f.pattern != nil {
		w.key("pattern")
		w.str(f.pattern.String())
	}
	if len(f.enum) > 0 {
		w.key("enum")
		w.WriteByte('[')
		for i, e := range f.enum {
			if i > 0 {
				w.WriteByte(',')
			}
			w.str(e)
		}
		w.WriteByte(']')
	}
}

// jsonText is s as a JSON string, without the escapes meant for HTML.
func jsonText(s string) []byte {
	b, _ := marshal(s)
	return b
}

// marshal is json.Marshal without the escapes meant for HTML: a model pays for
// each byte of \u003c.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
