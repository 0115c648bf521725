package daemon

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// reader reads hearth.yaml off its syntax tree, because only the tree knows
// the line of every key.
type reader struct {
	l        *Loaded
	file     string
	bad      *Broken
	settings []Setting
}

func (r *reader) read(text []byte) {
	if len(text) > 1<<20 {
		r.bad.add(Problem{File: r.file, Msg: "is over 1 MiB", Remedy: "this is no configuration of Hearth; see hearth.example.yaml"})
		return
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		line, msg := syntax(err)
		r.bad.add(Problem{File: r.file, Line: line, Msg: "is not valid YAML: " + msg, Remedy: "correct the line; hearth.example.yaml shows the form"})
		return
	}
	docs := slices.DeleteFunc(f.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	if len(docs) > 1 {
		r.bad.add(Problem{File: r.file, Line: lineOf(docs[1].Body), Msg: "holds a second document", Remedy: "keep one document in the file"})
		return
	}
	if len(docs) == 1 {
		r.section("", docs[0].Body)
	}
}

// section reads the keys of a mapping.
func (r *reader) section(prefix string, n ast.Node) {
	if n.Type() == ast.NullType || n.Type() == ast.CommentType {
		return // an empty section: all its lines are commented out
	}
	m, ok := n.(ast.MapNode)
	if !ok {
		name := strings.TrimSuffix(prefix, ".")
		r.bad.add(Problem{File: r.file, Line: lineOf(n), Field: name, Value: r.value(name, n), Msg: "should hold keys and values", Remedy: "hearth.example.yaml shows the form"})
		return
	}
	for it := m.MapRange(); it.Next(); {
		key := prefix + plainKey(it.Key())
		if i := slices.IndexFunc(r.settings, func(s Setting) bool { return s.Key == key }); i >= 0 {
			r.setting(r.settings[i], it.Key(), it.Value())
			continue
		}
		if slices.ContainsFunc(r.settings, func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") }) {
			r.section(key+".", it.Value())
			continue
		}
		r.unknown(key, it.Key(), it.Value())
	}
}

func (r *reader) setting(s Setting, key, n ast.Node) {
	at := lineOf(key)
	fail := func(msg, remedy string) {
		r.bad.add(Problem{File: r.file, Line: at, Field: s.Key, Value: r.value(s.Key, n), Msg: msg, Remedy: remedy})
	}
	switch {
	case !s.InFile():
		fail("is a secret and may not stand in the file", "put it into a file and name that as "+s.Key+"_file, or set "+s.Env+" in the environment")
		return
	case n.Type() == ast.NullType:
		return // as if the line were not there
	case s.Kind == "rules":
		if err := yaml.NodeToValue(n, reflect.ValueOf(&r.l.Config).Elem().FieldByIndex(s.index).Addr().Interface(), yaml.Strict()); err != nil {
			line, msg := syntax(err)
			at = max(at, line)
			fail("cannot be read: "+msg, "docs/config.md shows what a rule holds")
			return
		}
	default:
		texts, ok := scalars(n)
		if !ok || len(texts) != 1 && s.Kind != "list" {
			fail("should be "+article(s.Kind), s.form())
			return
		}
		if err := s.set(&r.l.Config, texts...); err != nil {
			fail(err.Error(), s.form())
			return
		}
	}
	r.l.Origins[s.Key] = Origin{Kind: "file", File: r.file, Line: at}
}

func article(kind string) string {
	switch kind {
	case "text":
		return "a text"
	case "yes or no":
		return "true or false"
	case "list":
		return "a list of texts"
	}
	return "a " + kind
}

func (r *reader) unknown(key string, k, n ast.Node) {
	var names []string
	for _, s := range r.settings {
		if s.InFile() {
			names = append(names, s.Key)
		}
		if section, _, ok := strings.Cut(s.Key, "."); ok {
			names = append(names, section)
		}
	}
	p := Problem{File: r.file, Line: lineOf(k), Field: key, Value: r.value(key, n), Msg: "is no setting"}
	section, _, _ := strings.Cut(key, ".")
	nested := key != section && slices.Contains(names, section)
	switch near := nearest(key, names); {
	case near != "":
		p.Remedy = fmt.Sprintf("did you mean %s?", near)
	case nested:
		var own []string
		for _, s := range names {
			if strings.HasPrefix(s, section+".") {
				own = append(own, s)
			}
		}
		p.Remedy = "there are " + strings.Join(own, ", ")
	default:
		p.Remedy = "remove it; hearth.example.yaml shows all settings"
	}
	r.bad.add(p)
}

// value is a node as a message may show it.
func (r *reader) value(key string, n ast.Node) string {
	if secret.Sensitive(key[strings.LastIndexByte(key, '.')+1:]) {
		return secret.Stars
	}
	if n.Type() == ast.MappingType || n.Type() == ast.MappingValueType {
		return "" // a whole section says nothing, and may hold secrets
	}
	if t, ok := scalars(n); ok {
		return secret.Text(strings.Join(t, ", "))
	}
	return secret.Text(strings.TrimSpace(n.String()))
}

// scalars gives the text of a scalar or of a list of scalars.
func scalars(n ast.Node) ([]string, bool) {
	switch x := n.(type) {
	case *ast.SequenceNode:
		out := []string{}
		for _, v := range x.Values {
			t, ok := scalars(v)
			if !ok || len(t) != 1 {
				return nil, false
			}
			out = append(out, t...)
		}
		return out, true
	case *ast.StringNode:
		return []string{x.Value}, true
	case *ast.LiteralNode:
		return []string{strings.TrimSpace(x.Value.Value)}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return []string{x.GetToken().Value}, true
	}
	return nil, false
}

func plainKey(k ast.Node) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return k.GetToken().Value
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// syntax takes line and message out of an error of the YAML library, whose own
// text would quote the file, secrets included.
func syntax(err error) (line int, msg string) {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return 0, home.Clip(secret.Text(strings.SplitN(err.Error(), "\n", 2)[0]), 200)
	}
	if t := ye.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return line, home.Clip(secret.Text(ye.GetMessage()), 200)
}
