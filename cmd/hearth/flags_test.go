package main

import (
	"encoding/json"
	"strings"
	"testing"

	"hearth/internal/home"
)

const schema = `{"type":"object","properties":{
	"service":{"type":"string","description":"what"},
	"entity_id":{"type":"array","items":{"type":"string"}},
	"levels":{"type":"array","items":{"type":"integer"}},
	"data":{"type":"object"},"fresh":{"type":"boolean","default":false},
	"wait":{"type":"number"},"limit":{"type":"integer","enum":[1,2]}},"required":["service"]}`

func TestToolFlags_Parse(t *testing.T) {
	f, err := flagsOf(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	if f.list[0].name != "service" || f.list[6].name != "limit" || !f.required("service") {
		t.Errorf("order or required lost: %+v", f)
	}
	for _, c := range []struct{ name, line, want, wantErr string }{
		{"nothing", "", `{}`, ""},
		{"a word", "--service light.on", `{"service":"light.on"}`, ""},
		{"a word that looks like a number", "--service 12", `{"service":"12"}`, ""},
		{"an inline value with =", "--service=a=b", `{"service":"a=b"}`, ""},
		{"a repeated flag", "--entity_id a --entity-id b", `{"entity_id":["a","b"]}`, ""},
		{"a list as JSON", `--entity_id ["a","b"] --entity_id c`, `{"entity_id":["a","b","c"]}`, ""},
		{"a list of numbers", "--levels 1 --levels 2", `{"levels":[1,2]}`, ""},
		{"an object", `--data {"a":1}`, `{"data":{"a":1}}`, ""},
		{"a boolean", "--fresh", `{"fresh":true}`, ""},
		{"a boolean that is said", "--fresh false", `{"fresh":false}`, ""},
		{"a boolean off", "--no-fresh --service x", `{"fresh":false,"service":"x"}`, ""},
		{"a number", "--wait 2.5", `{"wait":2.5}`, ""},
		{"not a number", "--wait soon", "", `--wait "soon" is not a number`},
		{"not JSON's number", "--wait 0x10", "", `is not a number`},
		{"not an object", "--data a", "", "is not a JSON object"},
		{"a field of the data", "--brightness_pct 40", `{"brightness_pct":40}`, ""},
		{"a word of the data", "--color-name red", `{"color_name":"red"}`, ""},
		{"a list of the data", "--rgb_color=[1,2,3]", `{"rgb_color":[1,2,3]}`, ""},
		{"a mistyped flag", "--servise red", "", "no flag --servise"},
		{"no value", "--service", "", "wants a value"},
		{"no flag", "light.kitchen", "", `"light.kitchen" is no flag`},
		{"not a truth", "--fresh=maybe", "", "is not true or false"},
	} {
		got, err := f.parse(strings.Fields(c.line), nil)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) || home.CodeOf(err) != home.Invalid {
				t.Errorf("%s: error %v", c.name, err)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestToolFlags_WithoutData(t *testing.T) {
	f, err := flagsOf(json.RawMessage(`{"properties":{"limit":{"type":"integer","minimum":1,"maximum":200,"default":50},"wait":{"type":"number","minimum":0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.parse([]string{"--colour", "red"}, nil); home.CodeOf(err) != home.Invalid || !strings.Contains(err.Error(), "no flag --colour") {
		t.Errorf("an unknown flag: %v", err)
	}
	for i, want := range []string{"1 to 200; default 50", "at least 0"} {
		if got := f.list[i].describe(false); got != want {
			t.Errorf("%s is described as %q, want %q", f.list[i].name, got, want)
		}
	}
}

func TestToolFlags_Where(t *testing.T) {
	f, err := flagsOf(json.RawMessage(schema)) // it has a data of its own
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, rest, data, config string }{
		{"--service x --demo", "--service x", "", ""},
		{"--data {}", "--data {}", "", ""},
		{"--config=c --service x", "--service x", "", "c"},
		{"--config c word --wait 2", "word --wait 2", "", "c"},
	} {
		a := &app{}
		rest, err := f.where(strings.Fields(c.line), a)
		if err != nil || strings.Join(rest, " ") != c.rest || a.data != c.data || a.config != c.config || a.demo != strings.Contains(c.line, "demo") {
			t.Errorf("%q: rest %q, %+v, %v", c.line, rest, a, err)
		}
	}
	a := &app{}
	if rest, err := (toolFlags{}).where([]string{"--data", "d", "--fresh"}, a); err != nil || len(rest) != 1 || a.data != "d" {
		t.Errorf("%q, %+v, %v", rest, a, err)
	}
	if _, err := (toolFlags{}).where([]string{"--data"}, a); home.CodeOf(err) != home.Invalid {
		t.Errorf("without a value: %v", err)
	}
}

func TestTakeJSON(t *testing.T) {
	rest, given, err := takeJSON([]string{"--fresh", "--json", `{"a":1}`, "--wait", "2"})
	if err != nil || len(rest) != 3 || string(given["a"]) != "1" {
		t.Errorf("%q, %v, %v", rest, given, err)
	}
	for _, bad := range [][]string{{"--json"}, {"--json", "[1]"}, {"--json=null"}, {"--json", "@/nowhere"}} {
		if _, _, err := takeJSON(bad); home.CodeOf(err) != home.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b/c.d": "a-b/c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := quote(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func FuzzToolFlags(f *testing.F) {
	fl, err := flagsOf(json.RawMessage(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("--service x --data {} --entity_id [1] --wait 1e5")
	f.Fuzz(func(t *testing.T, line string) {
		out, err := fl.parse(strings.Fields(line), nil)
		if err == nil && !json.Valid(out) {
			t.Errorf("%q gives %s", line, out)
		}
	})
}
