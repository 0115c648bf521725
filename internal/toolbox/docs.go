package toolbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// Docs writes docs/tools.md from the declarations: the whole file, the same
// every time. hearth docs writes it, and a test compares.
func Docs() string {
	var b strings.Builder
	b.WriteString("# Tools\n\nMade by `hearth docs` from the declarations in `internal/toolbox`; do not edit.\n\n")
	b.WriteString("Times are given and shown as the home's clock has them: " + home.TimeForms + ".\n\n")
	all := new(Box).Tools()
	b.WriteString("| tool | class | what it is |\n|---|---|---|\n")
	for _, t := range all {
		s := t.Spec()
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", s.Name, s.Name, classOf(s), s.Title)
	}
	for _, t := range all {
		document(&b, t)
	}
	return b.String()
}

func classOf(s tool.Spec) string {
	if s.Varies {
		return s.Class.String() + " or more"
	}
	return s.Class.String()
}

func document(b *strings.Builder, t tool.Tool) {
	s, h := t.Spec(), t.Hints()
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.Name, s.About)
	fmt.Fprintf(b, "Class: %s. Hints: read-only %t, destructive %t, idempotent %t, open world %t.", classOf(s), h.ReadOnly, h.Destructive, h.Idempotent, h.OpenWorld)
	if s.URI != "" {
		fmt.Fprintf(b, " Resource: `%s`.", s.URI)
	}
	b.WriteString("\n")
	table(b, "argument", t.InputSchema())
	table(b, "answer", t.OutputSchema())
	for _, e := range s.Examples {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", e)
	}
}

// table lists the properties of a schema in their order.
func table(b *strings.Builder, head string, schema json.RawMessage) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) < 3 {
		return
	}
	fmt.Fprintf(b, "\n| %s | type | meaning |\n|---|---|---|\n", head)
	for k, raw := range members(s.Properties) {
		var p struct {
			Type    string          `json:"type"`
			About   string          `json:"description"`
			Default json.RawMessage `json:"default"`
			Enum    []string        `json:"enum"`
			Min     *float64        `json:"minimum"`
			Max     *float64        `json:"maximum"`
			Items   struct {
				Type string   `json:"type"`
				Enum []string `json:"enum"`
			} `json:"items"`
		}
		if json.Unmarshal(raw, &p) != nil {
			continue
		}
		kind, about := p.Type, strings.TrimSuffix(p.About, ".")
		if kind == "array" {
			kind = "list of " + p.Items.Type + "s"
		}
		if e := append(p.Enum, p.Items.Enum...); len(e) > 0 {
			about += ": " + strings.Join(e, ", ")
		}
		if p.Min != nil && p.Max != nil {
			about += fmt.Sprintf(" (%g–%g)", *p.Min, *p.Max)
		}
		if len(p.Default) > 0 {
			about += "; default " + string(p.Default)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", k, kind, strings.ReplaceAll(about, "|", "\\|"))
	}
}
