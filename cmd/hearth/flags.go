package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

// property is one argument of a tool, read off its input schema.
type property struct {
	name    string
	Type    string            `json:"type"`
	Enum    []json.RawMessage `json:"enum"`
	Default json.RawMessage   `json:"default"`
	About   string            `json:"description"`
	Items   *property         `json:"items"`
	Min     *float64          `json:"minimum"`
	Max     *float64          `json:"maximum"`
}

func (p property) kind() string {
	if p.Type == "array" && p.Items != nil {
		return p.Items.kind() + " …"
	}
	return p.Type
}

func (p property) describe(required bool) string {
	parts := []string{}
	if p.About != "" {
		parts = append(parts, p.About)
	}
	if p.Enum != nil {
		var words []string
		for _, e := range p.Enum {
			words = append(words, strings.Trim(string(e), `"`))
		}
		parts = append(parts, "one of "+strings.Join(words, ", "))
	}
	switch {
	case p.Min != nil && p.Max != nil:
		parts = append(parts, fmt.Sprintf("%g to %g", *p.Min, *p.Max))
	case p.Min != nil:
		parts = append(parts, fmt.Sprintf("at least %g", *p.Min))
	case p.Max != nil:
		parts = append(parts, fmt.Sprintf("at most %g", *p.Max))
	}
	if p.Default != nil {
		parts = append(parts, "default "+string(p.Default))
	}
	if required {
		parts = append(parts, "required")
	}
	return strings.Join(parts, "; ")
}

// inData is the type of what is no flag of a tool that takes data: the door puts
// it there, and only the house knows its type.
const inData = "data"

// toolFlags are the flags of one tool, in the order of its schema.
type toolFlags struct {
	list []property
	must []string
}

func (f toolFlags) required(name string) bool { return slices.Contains(f.must, name) }

func (f toolFlags) find(name string) (property, bool) {
	name = strings.ReplaceAll(name, "-", "_")
	i := slices.IndexFunc(f.list, func(p property) bool { return p.name == name })
	if i < 0 {
		return property{}, false
	}
	return f.list[i], true
}

// flagsOf reads a tool's input schema and keeps the order of its properties.
func flagsOf(schema json.RawMessage) (toolFlags, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return toolFlags{}, fmt.Errorf("read the tool's schema: %w", err)
	}
	f := toolFlags{must: s.Required}
	if len(s.Properties) == 0 {
		return f, nil
	}
	dec := json.NewDecoder(strings.NewReader(string(s.Properties)))
	if _, err := dec.Token(); err != nil {
		return f, fmt.Errorf("read the tool's schema: %w", err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return f, fmt.Errorf("read the tool's schema: %w", err)
		}
		p := property{}
		if err := dec.Decode(&p); err != nil {
			return f, fmt.Errorf("read the tool's schema: %w", err)
		}
		p.name, _ = key.(string)
		f.list = append(f.list, p)
	}
	return f, nil
}

// parse turns flags into the tool's arguments. Values of given, if any, are the
// arguments that the flags add to.
func (f toolFlags) parse(words []string, given map[string]json.RawMessage) (json.RawMessage, error) {
	args := given
	if args == nil {
		args = map[string]json.RawMessage{}
	}
	lists := map[string][]json.RawMessage{}
	for len(words) > 0 {
		name, value, inline := strings.Cut(words[0], "=")
		words = words[1:]
		name, dashed := strings.CutPrefix(name, "--")
		if !dashed {
			return nil, home.Errorf(home.Invalid, "%q is no flag", home.Clip(name, 60)).WithHint("write arguments as --name value")
		}
		p, off, err := f.flag(name)
		if err != nil {
			return nil, err
		}
		switch {
		case p.Type == "boolean" && !inline:
			value = strconv.FormatBool(!off)
			// --fresh false is what people write too.
			if !off && len(words) > 0 && (words[0] == "true" || words[0] == "false") {
				value, words = words[0], words[1:]
			}
		case !inline && len(words) == 0:
			return nil, home.Errorf(home.Invalid, "--%s wants a value", name).WithHint("write --%s VALUE", name)
		case !inline:
			value, words = words[0], words[1:]
		}
		v, err := p.value(value)
		if err != nil {
			return nil, err
		}
		if p.Type != "array" {
			args[p.name] = v
			continue
		}
		var many []json.RawMessage
		if strings.HasPrefix(strings.TrimSpace(value), "[") && json.Unmarshal(v, &many) == nil {
			lists[p.name] = append(lists[p.name], many...)
		} else {
			lists[p.name] = append(lists[p.name], v)
		}
	}
	for n, l := range lists {
		b, err := json.Marshal(l)
		if err != nil {
			return nil, fmt.Errorf("write the arguments: %w", err)
		}
		args[n] = b
	}
	return json.Marshal(args)
}

// flag finds a flag by name; off is true for --no-name of a boolean.
func (f toolFlags) flag(name string) (p property, off bool, err error) {
	if p, ok := f.find(name); ok {
		return p, false, nil
	}
	if rest, no := strings.CutPrefix(name, "no-"); no {
		if p, ok := f.find(rest); ok && p.Type == "boolean" {
			return p, true, nil
		}
	}
	var names []string
	for _, p := range f.list {
		names = append(names, "--"+p.name)
	}
	takes := "it takes " + strings.Join(names, ", ")
	if len(names) == 0 {
		takes = "it takes no arguments"
	}
	e := home.Errorf(home.Invalid, "this tool has no flag --%s", home.Clip(name, 60))
	if ours(name) {
		return property{}, false, e.WithHint("it is hearth's own and stands before the tool's name: hearth call --%s … TOOL", name)
	}
	if near := daemon.Nearest("--"+strings.ReplaceAll(name, "-", "_"), names); near != "" {
		return property{}, false, e.WithHint("did you mean %s? %s", near, home.Sentence(takes))
	}
	if data, ok := f.find("data"); ok && data.Type == "object" {
		return property{name: strings.ReplaceAll(name, "-", "_"), Type: inData}, false, nil
	}
	return property{}, false, e.WithHint("%s", takes)
}

// ours reports whether hearth itself has a flag of this name.
func ours(name string) bool {
	name = strings.TrimPrefix(name, "no-")
	return slices.ContainsFunc(daemon.Settings(), func(s daemon.Setting) bool { return s.OnLine() && s.Flag == name })
}

// where takes the flags that say which house is meant out of the words behind a
// tool's name, where people write them too. A tool's own flag of that name wins.
func (f toolFlags) where(words []string, a *app) (rest []string, err error) {
	for i := 0; i < len(words); i++ {
		name, value, inline := strings.Cut(strings.TrimPrefix(words[i], "--"), "=")
		to := map[string]*string{"data": &a.data, "config": &a.config}[name]
		_, tools := f.find(name)
		switch {
		case !strings.HasPrefix(words[i], "--"), tools, to == nil && name != "demo":
			rest = append(rest, words[i])
			continue
		case name == "demo":
			a.demo = value != "false"
			continue
		case !inline && i+1 == len(words):
			return nil, home.Errorf(home.Invalid, "--%s wants a value", name).WithHint("write --%s PATH", name)
		case !inline:
			i++
			value = words[i]
		}
		*to = value
	}
	return rest, nil
}

// value writes text as the JSON that the property wants. What is not plainly
// wrong goes to the door, which repairs and complains for everybody alike.
func (p property) value(text string) (json.RawMessage, error) {
	bad := func(want string) (json.RawMessage, error) {
		return nil, home.Errorf(home.Invalid, "--%s %q is not %s", p.name, home.Clip(text, 60), want).WithHint("--help after the tool shows its flags")
	}
	switch p.Type {
	case inData:
		if t := strings.TrimSpace(text); json.Valid([]byte(t)) {
			return json.RawMessage(t), nil
		}
	case "integer", "number":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return bad("a number")
		}
		return json.RawMessage(text), nil
	case "boolean":
		if text != "true" && text != "false" {
			return bad("true or false")
		}
		return json.RawMessage(text), nil
	case "object":
		if !json.Valid([]byte(text)) || !strings.HasPrefix(strings.TrimSpace(text), "{") {
			if p.name == "data" { // hearth has a flag of this name, too
				return nil, home.Errorf(home.Invalid, "--data %q is not a JSON object", home.Clip(text, 60)).
					WithHint(`write --data '{"brightness_pct": 40}'; the data directory stands before the tool's name: hearth --data DIR call …`)
			}
			return bad(`a JSON object such as '{"brightness_pct": 40}'`)
		}
		return json.RawMessage(text), nil
	case "array":
		if t := strings.TrimSpace(text); strings.HasPrefix(t, "[") && json.Valid([]byte(t)) {
			return json.RawMessage(t), nil
		}
		if p.Items != nil {
			item := *p.Items
			item.name = p.name
			return item.value(text)
		}
	}
	return json.Marshal(text)
}
