package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

// place is a data directory with files and an environment of its own.
type place struct {
	dir string
	env map[string]string
}

func newPlace(t *testing.T, yaml string) *place {
	t.Helper()
	p := &place{dir: t.TempDir(), env: map[string]string{}}
	p.write(t, "ha-token", "a-long-lived-token\n")
	if yaml != "" {
		p.write(t, "hearth.yaml", yaml)
	}
	return p
}

func (p *place) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *place) sources(flags map[string][]string) Sources {
	var names []string
	for n := range p.env {
		names = append(names, n)
	}
	return Sources{Data: p.dir, Flags: flags, Names: names, Lookup: func(n string) (string, bool) { v, ok := p.env[n]; return v, ok }}
}

const goodYAML = "ha:\n  url: http://house:8123\n  token_file: ha-token\n"

func TestLoad_FlagsOverEnvironmentOverFile(t *testing.T) {
	p := newPlace(t, goodYAML+"log:\n  level: warn\nmcp:\n  sessions: off\n  hosts: [a.example, b.example]\nstore:\n  flush_every: 2s\n")
	p.env["HEARTH_LOG_LEVEL"], p.env["HEARTH_STORE_FLUSH_ROWS"] = "error", "50"
	p.env["HEARTH_HA_URL"] = "http://env:1"
	l, err := Load(p.sources(map[string][]string{"ha-url": {"http://flag:1"}, "mcp-origins": {"https://a.example,https://b.example", "https://c.example"}}))
	if err != nil {
		t.Fatal(err)
	}
	if l.HA.URL != "http://flag:1" || l.Log.Level != "error" || l.Store.FlushRows != 50 || l.Store.FlushEvery != 2*time.Second || l.MCP.Sessions {
		t.Errorf("got %+v", l.Config)
	}
	if !slices.Equal(l.MCP.Hosts, []string{"a.example", "b.example"}) || len(l.MCP.Origins) != 3 {
		t.Errorf("lists: %q, %q", l.MCP.Hosts, l.MCP.Origins)
	}
	if l.HA.Token.Reveal() != "a-long-lived-token" {
		t.Error("the token file beside hearth.yaml was not read")
	}
	for key, want := range map[string]string{"ha.url": "--ha-url", "log.level": "HEARTH_LOG_LEVEL", "store.flush_every": filepath.Join(p.dir, "hearth.yaml") + ":10", "listen": "default"} {
		if got := l.Origins[key].String(); got != want {
			t.Errorf("%s came from %s, want %s", key, got, want)
		}
	}
}

func TestLoad_NothingButEnvironment(t *testing.T) {
	p := newPlace(t, "")
	p.env["HEARTH_HA_URL"], p.env["HEARTH_HA_TOKEN"] = "https://house", "env-token"
	l, err := Load(p.sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	if l.HA.Token.Reveal() != "env-token" || l.File != "" || l.Listen != "127.0.0.1:4663" {
		t.Errorf("got %+v", l)
	}
	// A file named on the command line is stronger than a token in the environment.
	l, err = Load(p.sources(map[string][]string{"ha-token-file": {filepath.Join(p.dir, "ha-token")}}))
	if err != nil || l.HA.Token.Reveal() != "a-long-lived-token" {
		t.Errorf("token %v, error %v", l.HA.Token.Reveal(), err)
	}
}

func TestLoad_SaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		env        map[string]string
		flags      map[string][]string
		line       int
		want       []string // parts of the message
		never      string
	}{
		{name: "an unknown key", yaml: goodYAML + "  ulr: x\n", line: 4, want: []string{"ha.ulr", `("x")`, "is no setting", "did you mean ha.url?"}},
		{name: "an unknown section", yaml: goodYAML + "lgo:\n  level: info\n", line: 4, want: []string{"lgo", "did you mean log?"}},
		{name: "a key nobody can guess", yaml: goodYAML + "  colour_of_the_sky: blue\n", line: 4, want: []string{"ha.colour_of_the_sky", "there are ha.url"}},
		{name: "a word that is not in the list", yaml: goodYAML + "log: {level: loud}\n", line: 4, want: []string{"log.level", `("loud")`, "is none of debug, info, warn, error"}},
		{name: "a number that is text", yaml: goodYAML + "store:\n  flush_rows: many\n", line: 5, want: []string{"store.flush_rows", `("many")`, "whole number", "200"}},
		{name: "a duration without unit", yaml: goodYAML + "store:\n  flush_every: 5\n", line: 5, want: []string{"store.flush_every", "duration", "5s"}},
		{name: "a duration out of bounds", yaml: goodYAML + "store:\n  flush_every: 2h\n", line: 5, want: []string{"store.flush_every", `("2h")`, "outside 100ms to 1m"}},
		{name: "a list where text belongs", yaml: "ha:\n  url: [a, b]\n  token_file: ha-token\n", line: 2, want: []string{"ha.url", "should be a text"}},
		{name: "text where a section belongs", yaml: goodYAML + "log: info\n", line: 4, want: []string{"log", "should hold keys and values"}},
		{name: "a secret in the file", yaml: "ha:\n  url: http://house\n  token: supersecret1\n", line: 3, want: []string{"ha.token", "***", "may not stand in the file", "token_file", "HEARTH_HA_TOKEN"}, never: "supersecret1"},
		{name: "a misspelt secret", yaml: goodYAML + "  tokken: x\n  password: supersecret2\n", line: 4, want: []string{"ha.tokken", "ha.password", "***"}, never: "supersecret2"},
		{name: "broken YAML", yaml: "ha:\n  url: \"http://house\n", line: 2, want: []string{"not valid YAML"}},
		{name: "a tab", yaml: "ha:\n\turl: x\n", line: 2, want: []string{"not valid YAML"}},
		{name: "the same key twice", yaml: goodYAML + "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", line: 5, want: []string{"not valid YAML"}},
		{name: "two documents", yaml: goodYAML + "---\nlisten: x\n", line: 5, want: []string{"second document"}},
		{name: "no scheme", yaml: "ha:\n  url: house:8123\n  token_file: ha-token\n", line: 2, want: []string{"ha.url", "http:// or https://"}},
		{name: "a password in the URL", yaml: "ha:\n  url: http://me:supersecret3@house\n  token_file: ha-token\n", line: 2, want: []string{"user name or password"}, never: "supersecret3"},
		{name: "nothing at all", want: []string{"ha.url", "is missing", "hearth setup", "ha.token_file"}},
		{name: "a token file that is not there", yaml: "ha:\n  url: http://house\n  token_file: nowhere\n", line: 3, want: []string{"ha.token_file", "no such file", "hearth setup"}},
		{name: "a CA file without a certificate", yaml: goodYAML + "  ca_file: ha-token\n", line: 4, want: []string{"ha.ca_file", "holds no certificate", "PEM"}},
		{name: "a port out of range", yaml: goodYAML + "listen: 127.0.0.1:99999\n", line: 4, want: []string{"listen", "99999"}},
		{name: "a listen name", yaml: goodYAML + "listen: house:1\n", line: 4, want: []string{"no IP address"}},
		{name: "a variable", yaml: goodYAML, env: map[string]string{"HEARTH_LOG_LEVEL": "loud"}, want: []string{"HEARTH_LOG_LEVEL", "loud", "unset the environment variable"}},
		{name: "a flag", yaml: goodYAML, flags: map[string][]string{"mcp-sessions": {"maybe"}}, want: []string{"--mcp-sessions", "maybe", "neither true nor false"}},
		{name: "a flag that fails the check", yaml: goodYAML, flags: map[string][]string{"listen": {"127.0.0.1:8123"}}, want: []string{"--listen", "Home Assistant's own port"}},
		{name: "a rule with an unknown key", yaml: goodYAML + "journal:\n  rules:\n    - name: pool\n      entites: [sensor.pool]\n", line: 7, want: []string{"journal.rules", "entites"}},
		{name: "a rule that cannot work", yaml: goodYAML + "journal:\n  rules:\n    - name: pool\n      verdict: maybe\n", want: []string{"journal.rules", "pool", "maybe"}},
		{name: "an origin with a path", yaml: goodYAML + "mcp:\n  origins:\n    - https://a.example/x\n", line: 5, want: []string{"mcp.origins", "without a path"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, c.yaml)
			for k, v := range c.env {
				p.env[k] = v
			}
			_, err := Load(p.sources(c.flags))
			var b *Broken
			if !errors.As(err, &b) {
				t.Fatalf("error %v is no *Broken", err)
			}
			if home.CodeOf(err) != home.Invalid {
				t.Errorf("code %s", home.CodeOf(err))
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is missing in: %s", w, err)
				}
			}
			if c.line != 0 && (b.Problems[0].Line != c.line || b.Problems[0].File != filepath.Join(p.dir, "hearth.yaml")) {
				t.Errorf("place %s, want line %d: %s", b.Problems[0].Place(), c.line, err)
			}
			var page bytes.Buffer
			if err := writeBrokenPage(&page, err); err != nil {
				t.Fatal(err)
			}
			if c.never != "" && (strings.Contains(err.Error(), c.never) || strings.Contains(page.String(), c.never)) {
				t.Errorf("the secret shows in: %s", err)
			}
		})
	}
}

func TestLoad_NotesMisspeltVariables(t *testing.T) {
	p := newPlace(t, goodYAML)
	p.env["HEARTH_HA_ULR"], p.env["HEARTH_PORT_4663_TCP_PROTO"] = "x", "tcp"
	l, err := Load(p.sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "HEARTH_HA_URL?") {
		t.Errorf("notes %q", l.Notes)
	}
}

func TestBrokenPage_EscapesValues(t *testing.T) {
	var page bytes.Buffer
	err := &Broken{Problems: []Problem{{File: "<f>", Line: 7, Field: "<k>", Value: `<script>alert("x")</script>`, Msg: "<m>", Remedy: "<r>"}}}
	if err := writeBrokenPage(&page, err); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>", "<f>", "<k>", "<m>", "<r>"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page holds %s unescaped", bad)
		}
	}
	if !strings.Contains(page.String(), "<dd>7</dd>") {
		t.Error("the line is missing")
	}
}

func TestExampleConfig_IsValidAndChangesNothing(t *testing.T) {
	p := newPlace(t, ExampleConfig())
	p.env["HEARTH_HA_URL"], p.env["HEARTH_HA_TOKEN"] = "http://house", "x"
	l, err := Load(p.sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	d := Defaults()
	for _, s := range Settings() {
		if s.Key == "ha.url" || s.Key == "ha.token" {
			continue
		}
		if got, want := s.text(&l.Config), s.text(&d); got != want {
			t.Errorf("%s is %q, want %q", s.Key, got, want)
		}
	}
	// Each line, once it is uncommented, is understood too.
	var on strings.Builder
	for line := range strings.Lines(ExampleConfig()) {
		trimmed := strings.TrimLeft(line, " ")
		bare, commented := strings.CutPrefix(trimmed, "# ")
		key, _, keyed := strings.Cut(bare, ": ")
		if commented && keyed && !strings.Contains(key, " ") {
			line = strings.Replace(line, "# ", "", 1)
		}
		on.WriteString(line)
	}
	p.write(t, "hearth.yaml", on.String())
	_, err = Load(p.sources(nil))
	for line := range strings.Lines(errText(err)) {
		if !strings.Contains(line, "ca_file") { // the example names none
			t.Errorf("uncommented: %s", line)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestSettings_AreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		for _, n := range []string{s.Key, s.Env, "--" + s.Flag} {
			if seen[n] {
				t.Errorf("%s stands twice", n)
			}
			seen[n] = true
		}
		if s.Help == "" || !strings.HasSuffix(s.Help, ".") {
			t.Errorf("%s has no sentence of help", s.Key)
		}
	}
	if !seen["ha.token_file"] || !seen["HEARTH_HA_TOKEN_FILE"] || !seen["--ha-token-file"] {
		t.Error("ha.token_file has lost a name")
	}
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"256MiB": 256 << 20, "1GiB": 1 << 30, "64K": 64 << 10, "12": 12, "3 M": 3 << 20, "7B": 7} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5G", "99999999999G", "1TB"} {
		if _, err := parseBytes(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestDataDir(t *testing.T) {
	look := func(m map[string]string) func(string) (string, bool) {
		return func(n string) (string, bool) { v, ok := m[n]; return v, ok }
	}
	for _, c := range []struct {
		name, flag string
		env        map[string]string
		want       string
	}{
		{"the flag", "/f", map[string]string{"HEARTH_DATA": "/e"}, "/f"},
		{"the variable", "", map[string]string{"HEARTH_DATA": "/e", "XDG_DATA_HOME": "/x"}, "/e"},
		{"the desktop's place", "", map[string]string{"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/hearth"},
		{"home", "", map[string]string{"HOME": "/h"}, "/h/.local/share/hearth"},
		{"a relative XDG path is ignored", "", map[string]string{"XDG_DATA_HOME": "x", "HOME": "/h"}, "/h/.local/share/hearth"},
	} {
		if contained("") && c.flag == "" && c.env["HEARTH_DATA"] == "" {
			c.want = "/data"
		}
		if got, err := DataDir(c.flag, look(c.env)); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(goodYAML)
	f.Add(ExampleConfig())
	f.Add("ha: &a {url: *a}\n<<: {x: 1}\n? [1]\n: 2\n")
	f.Add("journal:\n  rules: [{}, 1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := Loaded{Config: Defaults(), Origins: map[string]Origin{}}
		bad := &Broken{}
		(&reader{l: &l, file: "hearth.yaml", bad: bad, settings: Settings()}).read([]byte(text))
		for _, p := range bad.Problems {
			if p.Msg == "" || p.Remedy == "" {
				t.Errorf("a problem without message or remedy: %+v", p)
			}
		}
	})
}
