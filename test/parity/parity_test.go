// Package parity_test holds docs/parity.md to its promises: no row of the three
// reference systems is missing or invented, and every name of ours that is
// marked "here" exists in the code.
package parity_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hearth/internal/toolbox"
)

type row struct{ system, kind, name, ours, when string }

var (
	systemHead = regexp.MustCompile(`^## (\S+/\S+)$`)
	kindHead   = regexp.MustCompile(`^### (.+)s \((\d+)\)$`)
	quoted     = regexp.MustCompile("`([^`]+)`")
	whenForm   = regexp.MustCompile(`^(here|step [1-9]|no: .{8,})$`)
)

// rows reads the tables of the three systems.
func rows(t *testing.T) []row {
	t.Helper()
	b, err := os.ReadFile("../../docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	var system, kind string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		if m := systemHead.FindStringSubmatch(line); m != nil {
			system, kind = m[1], ""
			continue
		}
		if strings.HasPrefix(line, "## ") {
			system = ""
		}
		if m := kindHead.FindStringSubmatch(line); m != nil {
			kind = m[1]
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if system == "" || kind == "" || !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.TrimSpace(cells[0]) == "theirs" {
			continue
		}
		out = append(out, row{system, kind, strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
	}
	return out
}

func TestEveryRowIsThere(t *testing.T) {
	b, err := os.ReadFile("testdata/rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want, wantCount := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		f := strings.Split(line, "\t")
		want[line] = true
		wantCount[f[0]+" "+f[1]]++
	}
	got, count := map[string]bool{}, map[string]int{}
	for _, r := range rows(t) {
		key := r.system + "\t" + r.kind + "\t" + r.name
		if got[key] {
			t.Errorf("twice: %s", key)
		}
		got[key] = true
		count[r.system+" "+r.kind]++
		if !want[key] {
			t.Errorf("not in the list: %s", key)
		}
		if !whenForm.MatchString(r.when) {
			t.Errorf("%s: %q must be here, step N, or no: with a reason", key, r.when)
		}
		if r.when == "here" && (r.ours == "–" || r.ours == "") {
			t.Errorf("%s is said to be here, but no name of ours is given", key)
		}
	}
	for key := range want {
		if !got[key] {
			t.Errorf("missing: %s", key)
		}
	}
	for k, n := range wantCount {
		if count[k] != n {
			t.Errorf("%s: %d rows, want %d", k, count[k], n)
		}
	}
}

// TestOurNamesExist checks what is marked "here": a tool or its argument in the
// catalogue, a configuration key, or a literal of the code.
func TestOurNamesExist(t *testing.T) {
	args := map[string]map[string]bool{}
	for _, tl := range new(toolbox.Box).Tools() {
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(tl.InputSchema(), &schema); err != nil {
			t.Fatal(err)
		}
		set := map[string]bool{}
		for name := range schema.Properties {
			set[name] = true
		}
		args[tl.Spec().Name] = set
	}
	code := source(t)
	for _, r := range rows(t) {
		if r.when != "here" {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(r.ours, -1) {
			name := m[1]
			if tool, arg, ok := strings.Cut(name, "."); ok && args[tool] != nil {
				if !args[tool][arg] {
					t.Errorf("%s → %s: %s has no argument %s", r.name, name, tool, arg)
				}
				continue
			}
			if args[name] != nil {
				continue
			}
			if word, ok := strings.CutPrefix(name, "hearth "); ok {
				name = word
			}
			name = strings.TrimPrefix(name, "POST ")
			if !strings.Contains(code, name) {
				t.Errorf("%s → %s: nothing of that name in the code", r.name, m[1])
			}
		}
	}
}

// source is the product's code and its generated documents, as one text.
func source(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{"../../internal", "../../cmd", "../../docs/config.md"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, "_test.go") || (!strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "config.md")) {
				return err
			}
			src, err := os.ReadFile(path)
			b.Write(src)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
