// Package hearth_test holds the rules of the house that are tests: which room
// may import which, that every room says what it is for, and that every
// exported name is explained.
package hearth_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everywhere lists the rooms that every room except simhome may import.
var everywhere = []string{"home", "secret"}

// table is the import table of docs/architecture.md: room → what it may import
// besides everywhere, with the reason why not more.
var table = map[string]struct {
	may    []string
	reason string
}{
	"home":    {nil, "the words import nothing, so that everyone can use them"},
	"secret":  {nil, "a leaf: it must be usable before anything else exists"},
	"simhome": {nil, "a type shared with the product would hide a mismatch with the real protocol"},
	"health":  {nil, "conditions are lit from below and read from above"},
	"hass":    {[]string{"health"}, "a link reports into a sink; it does not know who mirrors it"},
	"unraid":  {[]string{"health"}, "a link reports into a sink; it does not know who mirrors it"},
	"llm":     {[]string{"health"}, "an endpoint client knows nothing of the house"},
	"store":   {[]string{"health"}, "the database keeps rows and knows no meaning"},
	"tool":    {[]string{"health"}, "the door knows neither house nor database: daemon hands it judge, hands and record"},
	"mirror":  {[]string{"health", "store"}, "live state is below everything that interprets it"},
	"journal": {[]string{"health", "store", "mirror"}, "what happened does not depend on who may ask"},
	"recall":  {[]string{"health", "store", "mirror"}, "search reads, and only the mirror"},
	"sched":   {[]string{"health", "store", "mirror"}, "time knows nothing of tools: daemon hands it what fires"},
	"guard":   {[]string{"health", "store", "mirror", "tool"}, "the judge never acts, so it holds no link"},
	"hands":   {[]string{"health", "hass", "unraid", "mirror", "sched"}, "the only room that holds an actor"},
	"toolbox": {[]string{"health", "tool", "hass", "unraid", "mirror", "journal", "recall", "sched", "guard"}, "tools read and plan; they have no hands"},
	"agent":   {[]string{"health", "tool", "llm", "store", "mirror", "journal", "recall"}, "a model acts through the door like everybody"},
	"mcpd":    {[]string{"health", "tool", "guard", "mirror", "journal", "agent"}, "a way in carries calls to the door and nothing else"},
	"web":     {[]string{"health", "tool", "guard", "mirror", "journal", "agent"}, "a way in carries calls to the door and nothing else"},
	"daemon": {[]string{"health", "hass", "unraid", "llm", "store", "tool", "mirror", "journal", "recall", "sched", "guard", "hands", "toolbox", "agent", "mcpd", "web"},
		"the one place that knows all rooms, but never the simulation"},
	"cmd/hearth": {[]string{"daemon", "simhome"}, "commands parse and print; the house is daemon's"},
}

type goPackage struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func room(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "hearth/"), "internal/")
}

func TestImportTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range list(t) {
		name := room(p.ImportPath)
		if strings.HasPrefix(name, "test/") || name == "hearth" {
			continue // tests of the whole may import anything
		}
		row, ok := table[name]
		if !ok {
			t.Errorf("%s is no room of the table: add it to house_test.go and docs/architecture.md with its duty", name)
			continue
		}
		seen[name] = true
		for _, imp := range p.Imports {
			checkImport(t, name, imp, row.may, row.reason)
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			may := append(slices.Clone(row.may), "simhome", name, "test/realhome")
			if slices.Contains(may, "journal") {
				may = append(may, "store") // a real journal needs a real disk
			}
			checkImport(t, name+"'s test", imp, may, row.reason)
		}
	}
	for _, must := range []string{"home", "secret", "health", "hass", "store", "mirror", "journal", "recall", "guard", "tool", "hands", "toolbox", "mcpd", "daemon", "simhome", "cmd/hearth"} {
		if !seen[must] {
			t.Errorf("room %s is gone", must)
		}
	}
}

func checkImport(t *testing.T, name, imp string, may []string, reason string) {
	t.Helper()
	if !strings.HasPrefix(imp, "hearth/") {
		return
	}
	target := room(imp)
	if slices.Contains(may, target) {
		return
	}
	if !strings.HasPrefix(name, "simhome") && slices.Contains(everywhere, target) {
		return
	}
	t.Errorf("%s imports %s: not in the import table (%s)", name, target, reason)
}

// TestEveryNameIsExplained wants a package comment of substance and a doc
// comment for every exported name of every room.
func TestEveryNameIsExplained(t *testing.T) {
	for _, p := range list(t) {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		if len(files) == 0 {
			continue // tests only
		}
		d, err := doc.NewFromFiles(fset, files, p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		checkDocs(t, room(p.ImportPath), d)
	}
}

func checkDocs(t *testing.T, name string, d *doc.Package) {
	t.Helper()
	if len(strings.Fields(d.Doc)) < 20 {
		t.Errorf("%s: the package comment must say its duty and its promises", name)
	}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			if v.Doc == "" && !documentedInside(v.Decl) {
				t.Errorf("%s: exported %v has no doc comment", name, v.Names)
			}
		}
	}
	funcs := func(fs []*doc.Func) {
		for _, f := range fs {
			if f.Doc == "" && !obvious(f.Name) {
				t.Errorf("%s: exported %s has no doc comment", name, f.Name)
			}
		}
	}
	values(d.Consts)
	values(d.Vars)
	funcs(d.Funcs)
	for _, typ := range d.Types {
		if typ.Doc == "" && !documentedInside(typ.Decl) {
			t.Errorf("%s: exported type %s has no doc comment", name, typ.Name)
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs)
		funcs(typ.Methods)
	}
}

// obvious names implement an interface of the standard library and need no sentence.
func obvious(name string) bool {
	return slices.Contains([]string{"String", "Error", "Unwrap", "Len", "Less", "Swap", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "Format", "GoString", "LogValue"}, name)
}

// documentedInside accepts a group whose every line carries its own comment.
func documentedInside(d *ast.GenDecl) bool {
	if d == nil {
		return false
	}
	if d.Doc != nil {
		return true
	}
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			if s.Doc == nil && s.Comment == nil && slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.IsExported() }) {
				return false
			}
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				return false
			}
		}
	}
	return true
}

// TestHabits greps for what the house does not do.
func TestHabits(t *testing.T) {
	rules := []struct {
		name  string
		files string // "test" or "code"
		re    *regexp.Regexp
	}{
		{"sleeping in a test", "test", regexp.MustCompile(`\btime\.Sleep\(`)},
		{"a build tag that hides a test", "test", regexp.MustCompile(`(?m)^//go:build `)},
		{"an unfinished word", "code", regexp.MustCompile(`\b(TODO|FIXME|XXX)\b|panic\("skeleton"\)`)},
		{"an init function", "code", regexp.MustCompile(`(?m)^func init\(\)`)},
		{"a log key that is not one of home's", "code", regexp.MustCompile(`(?m)^[^/\n]*\b[lL]og(?:\(\))?\.(?:Debug|Info|Warn|Error|With)\((?:"[^"]*", )?"[a-z_]+", `)},
	}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || path == "house_test.go" {
			return err
		}
		src := readFile(t, path)
		for _, r := range rules {
			isTest := strings.HasSuffix(path, "_test.go")
			if (r.files == "test") != isTest {
				continue
			}
			if loc := r.re.FindIndex(src); loc != nil {
				t.Errorf("%s:%d: %s", path, 1+bytes.Count(src[:loc[0]], []byte("\n")), r.name)
			}
		}
		most := 500
		if strings.HasSuffix(path, "_test.go") {
			most = 600
		}
		if lines := bytes.Count(src, []byte("\n")); lines > most {
			t.Errorf("%s has %d lines: split it along a noun", path, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchitecture wants a line of docs/architecture.md for every room and for
// every direct dependency of go.mod, and none for others.
func TestArchitecture(t *testing.T) {
	page := string(readFile(t, "docs/architecture.md"))
	first := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	rows := map[string]bool{}
	for _, m := range first.FindAllStringSubmatch(page, -1) {
		rows[m[1]] = true
	}
	want := map[string]bool{}
	for _, p := range list(t) {
		if name := room(p.ImportPath); name != "hearth" && !strings.HasPrefix(name, "test/") {
			want[name] = true
		}
	}
	mod := string(readFile(t, "go.mod"))
	direct, _, _ := strings.Cut(mod[strings.Index(mod, "require ("):], ")")
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(direct, -1) {
		want[regexp.MustCompile(`/v\d+$`).ReplaceAllString(strings.TrimPrefix(m[1], "github.com/"), "")] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^tool (\S+?)/cmd/`).FindAllStringSubmatch(mod, -1) {
		want[m[1]] = true
	}
	for name := range want {
		if !rows[name] {
			t.Errorf("docs/architecture.md has no line for %s", name)
		}
	}
	for name := range rows {
		if !want[name] {
			t.Errorf("docs/architecture.md has a line for %s, which is no room and no direct dependency", name)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
