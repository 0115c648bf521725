package tool

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hearth/internal/home"
)

func TestRepair(t *testing.T) {
	const d = `"fields":["state"],"limit":50` // the defaults, in order around what is given
	all := newShape("echo_it", reflect.TypeFor[everything]())
	svc := newShape("service_call", reflect.TypeFor[calling]())
	for _, c := range []struct {
		name, in, want string
		shape          *shape
	}{
		{"nothing", ``, `{` + d + `}`, all},
		{"null", `null`, `{` + d + `}`, all},
		{"an empty object", ` {} `, `{` + d + `}`, all},
		{"the whole as text", `"{\"limit\":5}"`, `{"fields":["state"],"limit":5}`, all},
		{"an empty text", `""`, `{` + d + `}`, all},
		{"wrapped once more", `{"arguments":{"limit":"5"}}`, `{"fields":["state"],"limit":5}`, all},
		{"a number as text", `{"brightness":"50"}`, `{"brightness":50,` + d + `}`, all},
		{"a number with a point", `{"brightness":50.0}`, `{"brightness":50,` + d + `}`, all},
		{"a plus sign", `{"brightness":"+5"}`, `{"brightness":5,` + d + `}`, all},
		{"a number in a list", `{"brightness":[50]}`, `{"brightness":50,` + d + `}`, all},
		{"truth as text", `{"fresh":"True"}`, `{"fresh":true,` + d + `}`, all},
		{"truth as number", `{"fresh":1}`, `{"fresh":true,` + d + `}`, all},
		{"off is false", `{"fresh":"off"}`, `{"fresh":false,` + d + `}`, all},
		{"null is absent", `{"fresh":null,"limit":null}`, `{` + d + `}`, all},
		{"null in a list", `{"entity_id":[null,"light.a"]}`, `{"entity_id":["light.a"],` + d + `}`, all},
		{"a single value for a list", `{"entity_id":"light.a"}`, `{"entity_id":["light.a"],` + d + `}`, all},
		{"a comma list", `{"entity_id":"light.a, light.b ,"}`, `{"entity_id":["light.a","light.b"],` + d + `}`, all},
		{"a comma list inside a list", `{"entity_id":["light.a,light.b","light.c"]}`, `{"entity_id":["light.a","light.b","light.c"],` + d + `}`, all},
		{"a list as text", `{"entity_id":"[\"light.a\"]"}`, `{"entity_id":["light.a"],` + d + `}`, all},
		{"an empty text for a list", `{"entity_id":""}`, `{"entity_id":[],` + d + `}`, all},
		{"upper case and spaces in an id", `{"about":" Light.Kitchen "}`, `{"about":"light.kitchen",` + d + `}`, all},
		{"id and alias joined", `{"about":"light.kitchen, Kitchen lamp"}`, `{"about":"light.kitchen",` + d + `}`, all},
		{"name and alias stay joined", `{"name":"Kitchen, Küche"}`, `{"name":"Kitchen, Küche",` + d + `}`, all},
		{"a number for a text", `{"name":5}`, `{"name":"5",` + d + `}`, all},
		{"enum in other case", `{"group_by":"Day"}`, `{"group_by":"day",` + d + `}`, all},
		{"enum with other separators", `{"fields":"last-changed"}`, `{"fields":["last_changed"],"limit":50}`, all},
		{"camel case", `{"entityId":"light.a"}`, `{"entity_id":["light.a"],` + d + `}`, all},
		{"plural", `{"entity_ids":["light.a"]}`, `{"entity_id":["light.a"],` + d + `}`, all},
		{"dashes", `{"group-by":"day"}`, `{"group_by":"day",` + d + `}`, all},
		{"a typing error", `{"brigthness":5}`, `{"brightness":5,` + d + `}`, all},
		{"markup stays readable", `{"name":"<b>&"}`, `{"name":"<b>&",` + d + `}`, all},
		{"data as an object", `{"service":"light.turn_on","data":{"brightness": 5}}`, `{"service":"light.turn_on","wait":2,"data":{"brightness":5}}`, svc},
		{"data as text", `{"service":"light.turn_on","data":"{\"brightness\":5}"}`, `{"service":"light.turn_on","wait":2,"data":{"brightness":5}}`, svc},
		{"empty data", `{"service":"light.turn_on","data":""}`, `{"service":"light.turn_on","wait":2}`, svc},
		{"flat keys go into data", `{"service":"light.turn_on","brightness":5,"color_name":"red"}`, `{"service":"light.turn_on","wait":2,"data":{"brightness":5,"color_name":"red"}}`, svc},
		{"flat keys join data", `{"service":"light.turn_on","brightness":5,"data":{"transition":1}}`, `{"service":"light.turn_on","wait":2,"data":{"brightness":5,"transition":1}}`, svc},
		{"a known key is not folded", `{"service":"light.turn_on","entityId":"light.a","dryRun":"yes"}`, `{"service":"light.turn_on","entity_id":["light.a"],"wait":2,"dry_run":true}`, svc},
		{"service in upper case", `{"service":"Light.Turn_On"}`, `{"service":"light.turn_on","wait":2}`, svc},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.shape.repair([]byte(c.in))
			if err != nil {
				t.Fatalf("%v", err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRepair_Refuses(t *testing.T) {
	all := newShape("echo_it", reflect.TypeFor[everything]())
	svc := newShape("service_call", reflect.TypeFor[calling]())
	svc.example = `{"service":"light.turn_on"}`
	for _, c := range []struct {
		name, in string
		shape    *shape
		code     home.Code
		says     []string
	}{
		{"a list for the whole", `[1]`, all, home.Invalid, []string{"no JSON object", "entity_id"}},
		{"broken JSON", `{"a":`, all, home.Invalid, []string{"no JSON object"}},
		{"an unknown argument", `{"colour":"red"}`, all, home.Invalid, []string{`no argument "colour"`, "It takes entity_id, about"}},
		{"a near argument is named", `{"group":"day"}`, all, home.Invalid, []string{`"group"`, "Did you mean group_by?"}},
		{"too high", `{"brightness":101}`, all, home.Invalid, []string{"brightness is 101", "from 0 to 100"}},
		{"too low", `{"temperature":"6.9"}`, all, home.Invalid, []string{"temperature is 6.9", "from 7 to 28.5"}},
		{"not a number", `{"brightness":"banana"}`, all, home.Invalid, []string{"brightness", `"banana"`, "integer"}},
		{"not whole", `{"brightness":1.5}`, all, home.Invalid, []string{"whole number"}},
		{"hexadecimal", `{"temperature":"0x10p0"}`, all, home.Invalid, []string{"temperature"}},
		{"infinity", `{"temperature":"Inf"}`, all, home.Invalid, []string{"temperature"}},
		{"not a number at all", `{"temperature":"NaN"}`, all, home.Invalid, []string{"temperature"}},
		{"too big for its type", `{"small":256}`, all, home.Invalid, []string{"small"}},
		{"negative where none may be", `{"small":-1}`, all, home.Invalid, []string{"small"}},
		{"neither true nor false", `{"fresh":"perhaps"}`, all, home.Invalid, []string{"true or false", `"perhaps"`}},
		{"an object for a text", `{"name":{"a":1}}`, all, home.Invalid, []string{"name must be a string"}},
		{"two values for one", `{"name":["a","b"]}`, all, home.Invalid, []string{"name must be a string"}},
		{"no such enum value", `{"group_by":"dya"}`, all, home.Invalid, []string{`"dya"`, "Did you mean day?", "kind, entity"}},
		{"not an id", `{"about":"the kitchen lamp"}`, all, home.Invalid, []string{`"the kitchen lamp"`, "domain.object", "entity_search"}},
		{"two ids for one", `{"about":"light.a, light.b"}`, all, home.Invalid, []string{"about cannot be"}},
		{"a look-alike letter in an id", `{"about":"loc` + "\u212a" + `.door"}`, all, home.Invalid, []string{"about cannot be"}},
		{"a code of five digits", `{"code":"12345"}`, all, home.Invalid, []string{"code", "^[0-9]{4}$"}},
		{"a name too long", `{"name":"` + strings.Repeat("x", 41) + `"}`, all, home.Invalid, []string{"name has 41 characters", "at most 40"}},
		{"too many items", `{"entity_id":"` + strings.Repeat("light.a,", 21) + `"}`, all, home.Invalid, []string{"21 items", "at most 20"}},
		{"two spellings of one", `{"entityId":"light.a","entity_ids":"light.b"}`, all, home.Ambiguous, []string{"entity_id once"}},
		{"a spelling beside the name", `{"entity_id":"light.a","entityId":"light.b"}`, all, home.Ambiguous, []string{"entity_id once"}},
		{"missing", `{}`, svc, home.Invalid, []string{"service is missing", `For example {"service":"light.turn_on"}`}},
		{"data is a list", `{"service":"light.turn_on","data":[1]}`, svc, home.Invalid, []string{"data must be a object"}},
		{"data is prose", `{"service":"light.turn_on","data":"bright"}`, svc, home.Invalid, []string{`"bright"`}},
		{"inside and beside", `{"service":"light.turn_on","brightness":1,"data":{"brightness":2}}`, svc, home.Ambiguous, []string{"different values"}},
		{"several at once", `{"brightness":101,"temperature":1,"fresh":"x"}`, all, home.Invalid, []string{"brightness", "temperature", "fresh"}},
		{"too many bytes", `{"name":"` + strings.Repeat("x", maxArgs) + `"}`, all, home.Invalid, []string{"bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.shape.repair([]byte(c.in))
			if err == nil {
				t.Fatalf("accepted as %s", got)
			}
			if err.Code != c.code {
				t.Errorf("code %s, want %s", err.Code, c.code)
			}
			line := oneLine(err).Error()
			for _, want := range c.says {
				if !strings.Contains(line, want) {
					t.Errorf("%q is not in: %s", want, line)
				}
			}
			if strings.ContainsAny(line, "\n\r\t\x00") || len(line) > errorBytes {
				t.Errorf("not one line of 2 KB: %q", line)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	names := []string{"entity_get", "entity_list", "entity_search", "service_call", "journal_why", "house_overview"}
	for _, c := range []struct{ in, want string }{
		{"get_entity", "entity_get"},
		{"searchEntity", "entity_search"},
		{"entty_get", "entity_get"},
		{"journal_wyh", "journal_why"},
		{"overview", "house_overview"},
		{"call-service", "service_call"},
		{"quux", ""},
		{"", ""},
	} {
		got := Nearest(c.in, names, 3)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) == 0 || got[0] != c.want) {
			t.Errorf("%q: %v, want %q first", c.in, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"Küche":              "Küche",
		"a\nb\x00\x1b[31mc":  "a b[31mc",
		"x\u202eevil\u2066y": "xevily",
		"bad\xff":            "bad\uFFFD",
		"\ufeffname":         "name",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzRepair: whatever arrives, the door answers an error or arguments that
// fit: repairing them again changes nothing, and Go can decode them.
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{`{}`, `{"entityId":"light.a, light.b","limit":"5"}`, `"{\"fresh\":1}"`, `{"data":{"a":[1,{"b":null}]}}`,
		`{"service":"light.turn_on","x":1,"X":2}`, `{"brightness":1e400}`, `{"fields":["state",["x"]]}`, `[[[[`, `{"name":"\ud800"}`,
		`{"arguments":{"arguments":{}}}`, `{"code":"0000","group_by":"DAY"}`, "{\"about\":\"loc\u212a.a\"}"} {
		f.Add([]byte(seed))
	}
	shapes := []*shape{newShape("echo_it", reflect.TypeFor[everything]()), newShape("service_call", reflect.TypeFor[calling]())}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for i, s := range shapes {
			got, bad := s.repair(raw)
			if bad != nil {
				if line := oneLine(bad).Error(); strings.ContainsAny(line, "\n\r\x00") || len(line) > errorBytes {
					t.Errorf("error %q", line)
				}
				continue
			}
			again, bad := s.repair(got)
			if bad != nil {
				t.Fatalf("%q became %s, which is refused: %v", raw, got, bad)
			}
			if !bytes.Equal(got, again) {
				t.Fatalf("%q became %s and then %s", raw, got, again)
			}
			if err := s.strict(got); err != nil {
				t.Fatalf("%s does not fit: %v", got, err)
			}
			var err error
			if i == 0 {
				err = json.Unmarshal(got, new(everything))
			} else {
				err = json.Unmarshal(got, new(calling))
			}
			if err != nil {
				t.Fatalf("%s cannot be decoded: %v", got, err)
			}
		}
	})
}
