package daemon

import (
	"encoding/json"

	"hearth/internal/tool"
	"hearth/internal/toolbox"
)

// Tool is a tool as the command line needs it.
type Tool struct {
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	About  string          `json:"about"`
	Class  string          `json:"class"`
	Varies bool            `json:"varies,omitempty"`
	Input  json.RawMessage `json:"input_schema"`
	Output json.RawMessage `json:"output_schema,omitempty"`
	Args   []string        `json:"examples,omitempty"` // JSON
}

// Tools are the tools of this program, in the order they are listed. No house
// needs to run.
func Tools() []Tool {
	var out []Tool
	for _, t := range new(toolbox.Box).Tools() {
		out = append(out, described(t))
	}
	return out
}

// FindTool finds a tool by its name, however it is cased and divided, as the
// door does; false where there is none.
func FindTool(name string) (Tool, bool) {
	t, ok := tool.NewRegistry(new(toolbox.Box).Tools()...).Find(name)
	if !ok {
		return Tool{}, false
	}
	return described(t), true
}

func described(t tool.Tool) Tool {
	s := t.Spec()
	return Tool{s.Name, s.Title, s.About, s.Class.String(), s.Varies, t.InputSchema(), t.OutputSchema(), s.Examples}
}

// Nearest is the word of list that s was probably meant to be, "" when none is close.
func Nearest(s string, list []string) string { return nearest(s, list) }
