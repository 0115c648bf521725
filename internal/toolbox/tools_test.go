package toolbox

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

var shelf = []string{
	"house_overview", "hearth_status", "entity_search", "entity_list", "entity_get", "area_list", "device_list", "service_list", "service_call",
	"history_get", "journal_query", "journal_why",
}

func TestExactlyTheFirstShelf(t *testing.T) {
	var names []string
	for _, x := range new(Box).Tools() {
		names = append(names, x.Spec().Name)
		if (x.Spec().Name == "service_call") != x.Writes() {
			t.Errorf("%s: writes is %t", x.Spec().Name, x.Writes())
		}
		if h := x.Hints(); h.ReadOnly == x.Writes() || h.Destructive != x.Writes() || h.OpenWorld {
			t.Errorf("%s: hints %+v", x.Spec().Name, h)
		}
	}
	if !slices.Equal(names, shelf) {
		t.Errorf("the tools are %v, want %v", names, shelf)
	}
}

// TestDeclarations keeps every declaration in a file, so that a change of what
// clients see is a change somebody looks at.
func TestDeclarations(t *testing.T) {
	for _, x := range new(Box).Tools() {
		s, h := x.Spec(), x.Hints()
		raw, err := json.Marshal(map[string]any{
			"name": s.Name, "title": s.Title, "about": s.About, "class": s.Class.String(), "varies": s.Varies, "examples": s.Examples, "uri": s.URI,
			"core": s.Core, "compact": s.Compact, "hints": h, "input": x.InputSchema(), "output": x.OutputSchema(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		golden(t, filepath.Join("testdata", "tools", s.Name+".json"), b.Bytes())
	}
}

func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "tools.md")
	if *update {
		if err := os.WriteFile(path, []byte(Docs()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != Docs() {
		t.Errorf("docs/tools.md is not what the declarations say (%v); run hearth docs", err)
	}
	for _, name := range shelf {
		if !strings.Contains(Docs(), "\n## "+name+"\n") {
			t.Errorf("the documentation does not show %s", name)
		}
	}
}

// TestListBudget bounds what a client pays for the list of tools, without
// output schemas, as the standard profile sends it.
func TestListBudget(t *testing.T) {
	total := 0
	for _, x := range new(Box).Tools() {
		s, h := x.Spec(), x.Hints()
		b, err := json.Marshal(map[string]any{
			"name": s.Name, "title": s.Title, "description": s.About, "inputSchema": x.InputSchema(),
			"annotations": map[string]any{"title": s.Title, "readOnlyHint": h.ReadOnly, "destructiveHint": h.Destructive, "idempotentHint": h.Idempotent, "openWorldHint": h.OpenWorld},
		})
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
		if len(s.About) > 1000 {
			t.Errorf("%s: about has %d bytes", s.Name, len(s.About))
		}
		for _, bad := range []string{"anyOf", "oneOf", "$ref", "allOf"} {
			if strings.Contains(string(x.InputSchema()), bad) {
				t.Errorf("%s: the input schema has %s", s.Name, bad)
			}
		}
	}
	t.Logf("tools/list: %d bytes", total)
	if total > 24_000 {
		t.Errorf("the list of tools has %d bytes, at most 24,000", total)
	}
}

// TestNothingInside calls every tool of an empty box, and every tool of a house
// without arguments: an answer or a code, never a panic.
func TestNothingInside(t *testing.T) {
	full, _ := testBox(t)
	for _, b := range []*Box{new(Box), full} {
		reg := tool.NewRegistry(b.Tools()...)
		for _, name := range shelf {
			a := reg.Call(t.Context(), reader(), name, json.RawMessage(`{}`))
			if a.Err != nil && (a.Err.Code == home.Internal || a.Err.Hint == "") {
				t.Errorf("%s: %v (%v)", name, a.Err, a.Err.Err)
			}
			if a.Err == nil && !json.Valid(a.JSON) {
				t.Errorf("%s: %s", name, a.JSON)
			}
			if b.House == nil && name != "hearth_status" && a.Err == nil {
				t.Errorf("%s answers without a house: %s", name, a.JSON)
			}
		}
	}
}

// TestZeroScopeSeesNothing forgets the scope.
func TestZeroScopeSeesNothing(t *testing.T) {
	b, _ := testBox(t)
	reg := tool.NewRegistry(b.Tools()...)
	c := reader()
	c.Grant.Scope = home.Scope{}
	for name, args := range map[string]string{
		"house_overview": `{}`, "entity_list": `{"domain":"light"}`, "entity_get": `{"entity_id":"light.kitchen_lights"}`, "entity_search": `{"query":"kitchen"}`,
		"service_call": `{"service":"light.turn_on","entity_id":["light.kitchen_lights"]}`,
	} {
		a := reg.Call(t.Context(), c, name, json.RawMessage(args))
		if text := said(a); strings.Contains(text, "Kitchen Lights") {
			t.Errorf("%s shows an entity without a scope: %s", name, text)
		}
	}
}

// said is all the text of an answer.
func said(a tool.Answer) string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return string(a.JSON)
}
