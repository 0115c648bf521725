package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"hearth/internal/home"
)

// page is embedded, as the toolbox embeds shared arguments.
type page struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"How many rows" default:"50" min:"1" max:"500"`
	Cursor string `json:"cursor,omitempty" jsonschema:"Where to go on"`
}

type everything struct {
	Entities   []home.EntityID `json:"entity_id,omitempty" jsonschema:"Entity ids" max:"20"`
	One        home.EntityID   `json:"about,omitempty" jsonschema:"One entity id"`
	Name       string          `json:"name,omitempty" jsonschema:"A name" max:"40"`
	Brightness *int            `json:"brightness,omitempty" jsonschema:"Percent" min:"0" max:"100"`
	Warm       float64         `json:"temperature,omitempty" jsonschema:"Degrees" min:"7" max:"28.5"`
	Small      uint8           `json:"small,omitempty" jsonschema:"A byte"`
	Fresh      bool            `json:"fresh,omitempty" jsonschema:"Ask again"`
	Group      string          `json:"group_by,omitempty" jsonschema:"How to group" enum:"kind,entity,domain,state,user,hour,day"`
	Fields     []string        `json:"fields,omitempty" jsonschema:"Which fields" enum:"state,attrs,last_changed" default:"state"`
	Code       string          `json:"code,omitempty" jsonschema:"A code" pattern:"^[0-9]{4}$"`
	page
}

type calling struct {
	Service string          `json:"service" jsonschema:"domain.service" pattern:"^[a-z0-9_]+\\.[a-z0-9_]+$"`
	Entity  []home.EntityID `json:"entity_id,omitempty" jsonschema:"Entity ids"`
	Wait    float64         `json:"wait,omitempty" jsonschema:"Seconds" default:"2" min:"0" max:"8"`
	Data    json.RawMessage `json:"data,omitempty" jsonschema:"Fields of the service" fold:"true"`
	DryRun  bool            `json:"dry_run,omitempty" jsonschema:"Send nothing"`
}

type echo struct {
	Args json.RawMessage `json:"args" jsonschema:"What arrived"`
}

func echoTool(name string) Tool {
	return NewRead(Spec{
		Name: name, Title: "Echo", About: "Gives back its arguments.", Class: home.Read,
		Examples: []string{`{"entity_id":["light.kitchen"],"limit":5}`},
	}, func(_ context.Context, _ Caller, in everything) (echo, error) {
		b, err := json.Marshal(in)
		return echo{b}, err
	})
}

func reader() Caller {
	return Caller{Via: "mcp", Who: "test", Token: "tok_test", Grant: home.Grant{Upto: home.Read, Scope: home.Visible()}}
}

func TestInputSchema(t *testing.T) {
	got := string(echoTool("echo_it").InputSchema())
	want := `{"type":"object","properties":{` +
		`"entity_id":{"type":"array","description":"Entity ids","items":{"type":"string","pattern":"^[a-z0-9_]+\\.[a-z0-9_]+$"},"maxItems":20},` +
		`"about":{"type":"string","description":"One entity id","pattern":"^[a-z0-9_]+\\.[a-z0-9_]+$"},` +
		`"name":{"type":"string","description":"A name","maxLength":40},` +
		`"brightness":{"type":"integer","description":"Percent","minimum":0,"maximum":100},` +
		`"temperature":{"type":"number","description":"Degrees","minimum":7,"maximum":28.5},` +
		`"small":{"type":"integer","description":"A byte"},` +
		`"fresh":{"type":"boolean","description":"Ask again"},` +
		`"group_by":{"type":"string","description":"How to group","enum":["kind","entity","domain","state","user","hour","day"]},` +
		`"fields":{"type":"array","description":"Which fields","items":{"type":"string","enum":["state","attrs","last_changed"]},"default":["state"]},` +
		`"code":{"type":"string","description":"A code","pattern":"^[0-9]{4}$"},` +
		`"limit":{"type":"integer","description":"How many rows","minimum":1,"maximum":500,"default":50},` +
		`"cursor":{"type":"string","description":"Where to go on"}},` +
		`"additionalProperties":false}`
	if got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(got), &s); err != nil {
		t.Fatalf("the schema library cannot read it: %v", err)
	}
	if _, err := s.Resolve(nil); err != nil {
		t.Fatalf("the schema library cannot resolve it: %v", err)
	}
}

func TestInputSchema_FoldLeavesTheObjectOpen(t *testing.T) {
	s := newShape("call", reflect.TypeFor[calling]())
	got := string(s.schema())
	if strings.Contains(got, "additionalProperties") {
		t.Errorf("a schema that folds flat arguments must not refuse them: %s", got)
	}
	if !strings.Contains(got, `"required":["service"]`) {
		t.Errorf("service is required: %s", got)
	}
	if !strings.Contains(got, `"data":{"type":"object","description":"Fields of the service"}`) {
		t.Errorf("data is a free-form object: %s", got)
	}
}

type tree struct {
	Name     string            `json:"name" jsonschema:"Its name"`
	Children []*tree           `json:"children,omitempty"`
	At       time.Time         `json:"at,omitzero"`
	Attrs    json.RawMessage   `json:"attrs,omitempty"`
	Counts   map[string]int    `json:"counts,omitempty"`
	Raw      map[string]string `json:"-"`
}

type forest struct {
	Trees []tree          `json:"trees" jsonschema:"All trees"`
	Free  json.RawMessage `json:"free"`
	Sub   struct {
		Tags []string `json:"tags"`
	} `json:"sub"`
	Root *tree `json:"root,omitempty"`
}

func TestOutputSchema_HasNoReferencesAndNoNulls(t *testing.T) {
	f := NewRead(Spec{Name: "forest_get", Title: "Forest", About: "A forest.", Class: home.Read},
		func(context.Context, Caller, struct{}) (forest, error) { return forest{}, nil })
	doc := string(f.OutputSchema())
	for _, bad := range []string{"$ref", "anyOf", "oneOf", "null", `"type":[`} {
		if strings.Contains(doc, bad) {
			t.Errorf("%s in %s", bad, doc)
		}
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(doc), &s); err != nil {
		t.Fatal(err)
	}
	res, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := NewRegistry(f).Call(t.Context(), reader(), "forest_get", nil)
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	if want := `{"trees":[],"free":{},"sub":{"tags":[]}}`; string(a.JSON) != want {
		t.Errorf("answer %s, want %s", a.JSON, want)
	}
	var v any
	if err := json.Unmarshal(a.JSON, &v); err != nil {
		t.Fatal(err)
	}
	if err := res.Validate(v); err != nil {
		t.Errorf("the empty answer does not fit its own schema: %v", err)
	}
}

func TestReceiptSchemaFitsAReceipt(t *testing.T) {
	w := NewWrite(Spec{Name: "thing_set", Title: "Set", About: "Sets.", Class: home.Act},
		func(context.Context, Caller, struct{}) (Plan, error) { return Plan{}, nil })
	var s jsonschema.Schema
	if err := json.Unmarshal(w.OutputSchema(), &s); err != nil {
		t.Fatal(err)
	}
	res, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Receipt{Outcome: home.Done, Call: "call_x", Class: "act", Notes: []string{"n"}, Result: []byte(`{"a":1}`),
		Targets: []home.LeafResult{{Entity: "light.a", Outcome: home.Done, Before: "off", After: "on"}},
		Would: []home.Step{{Kind: home.StepService, Call: &home.ServiceCall{Domain: "light", Service: "turn_on",
			Target: home.Target{Entities: []home.EntityID{"light.a"}}, Data: []byte(`{"brightness":1}`)},
			Expect: []home.Expect{{Entity: "light.a", States: []string{"on"}, Attrs: map[string]json.RawMessage{"brightness": []byte("1")}}}}}}
	b, err := marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if err := res.Validate(v); err != nil {
		t.Errorf("%v\n%s\n%s", err, b, w.OutputSchema())
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		want Hints
	}{
		{"a reading tool is read-only and idempotent", Spec{Class: home.Read}, Hints{ReadOnly: true, Idempotent: true}},
		{"an acting tool is neither", Spec{Class: home.Act}, Hints{}},
		{"a tool that varies shows its worst case", Spec{Class: home.Act, Varies: true}, Hints{Destructive: true}},
		{"danger is destructive", Spec{Class: home.Danger, Idempotent: true}, Hints{Destructive: true, Idempotent: true}},
		{"outside is the open world", Spec{Class: home.Config, Outside: true}, Hints{OpenWorld: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Tool{&declared{spec: c.spec}}).Hints(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestFaultyDeclarationsPanic(t *testing.T) {
	ok := Spec{Name: "thing_get", Title: "T", About: "A.", Class: home.Read}
	with := func(change func(*Spec)) Spec { s := ok; change(&s); return s }
	read := func(s Spec) func() {
		return func() {
			NewRead(s, func(context.Context, Caller, everything) (echo, error) { return echo{}, nil })
		}
	}
	type none struct{}
	cases := map[string]func(){
		"no class":             read(with(func(s *Spec) { s.Class = 0 })),
		"no title":             read(with(func(s *Spec) { s.Title = " " })),
		"no about":             read(with(func(s *Spec) { s.About = "" })),
		"about too long":       read(with(func(s *Spec) { s.About = strings.Repeat("x", 1001) })),
		"name in camel case":   read(with(func(s *Spec) { s.Name = "thingGet" })),
		"name with dash":       read(with(func(s *Spec) { s.Name = "thing-get" })),
		"name too long":        read(with(func(s *Spec) { s.Name = strings.Repeat("a", 41) })),
		"a read that acts":     read(with(func(s *Spec) { s.Class = home.Act })),
		"a read that varies":   read(with(func(s *Spec) { s.Varies = true })),
		"negative deadline":    read(with(func(s *Spec) { s.Slow = -1 })),
		"URI of unknown parts": read(with(func(s *Spec) { s.URI = "hearth://{nothing}" })),
		"example of wrong type": read(with(func(s *Spec) {
			s.Examples = []string{`{"brightness":"5"}`}
		})),
		"example with unknown key":  read(with(func(s *Spec) { s.Examples = []string{`{"what":1}`} })),
		"example out of range":      read(with(func(s *Spec) { s.Examples = []string{`{"brightness":101}`} })),
		"example that is no object": read(with(func(s *Spec) { s.Examples = []string{`[]`} })),
		"a write of class read": func() {
			NewWrite(ok, func(context.Context, Caller, none) (Plan, error) { return Plan{}, nil })
		},
		"a write with a URI": func() {
			NewWrite(with(func(s *Spec) { s.Class = home.Act; s.URI = "hearth://x" }), func(context.Context, Caller, none) (Plan, error) { return Plan{}, nil })
		},
		"output that is no struct": func() {
			NewRead(ok, func(context.Context, Caller, none) ([]string, error) { return nil, nil })
		},
		"output of any": func() {
			NewRead(ok, func(context.Context, Caller, none) (struct {
				X any `json:"x"`
			}, error) {
				panic("not called")
			})
		},
		"output list that may be null": func() {
			NewRead(ok, func(context.Context, Caller, none) (struct {
				X []struct {
					Y []string `json:"y"`
				} `json:"x"`
			}, error) {
				panic("not called")
			})
		},
		"output field without name": func() {
			NewRead(ok, func(context.Context, Caller, none) (struct{ X string }, error) { panic("not called") })
		},
		"no field description": shapeOf[struct {
			A string `json:"a"`
		}],
		"no json name": shapeOf[struct {
			A string `jsonschema:"a"`
		}],
		"upper-case json name": shapeOf[struct {
			A string `json:"aB" jsonschema:"a"`
		}],
		"nested object": shapeOf[struct {
			A struct{} `json:"a" jsonschema:"a"`
		}],
		"free map": shapeOf[struct {
			A map[string]string `json:"a" jsonschema:"a"`
		}],
		"interface": shapeOf[struct {
			A any `json:"a" jsonschema:"a"`
		}],
		"list of objects": shapeOf[struct {
			A []json.RawMessage `json:"a" jsonschema:"a"`
		}],
		"default above maximum": shapeOf[struct {
			A int `json:"a" jsonschema:"a" max:"5" default:"6"`
		}],
		"default outside enum": shapeOf[struct {
			A string `json:"a" jsonschema:"a" enum:"x,y" default:"z"`
		}],
		"default of wrong type": shapeOf[struct {
			A int `json:"a" jsonschema:"a" default:"many"`
		}],
		"default against pattern": shapeOf[struct {
			A home.EntityID `json:"a" jsonschema:"a" default:"x"`
		}],
		"minimum no number": shapeOf[struct {
			A int `json:"a" jsonschema:"a" min:"few"`
		}],
		"minimum above maximum": shapeOf[struct {
			A int `json:"a" jsonschema:"a" min:"3" max:"2"`
		}],
		"limits on truth": shapeOf[struct {
			A bool `json:"a" jsonschema:"a" min:"0"`
		}],
		"enum of numbers": shapeOf[struct {
			A int `json:"a" jsonschema:"a" enum:"1,2"`
		}],
		"empty enum value": shapeOf[struct {
			A string `json:"a" jsonschema:"a" enum:"x,,y"`
		}],
		"broken pattern": shapeOf[struct {
			A string `json:"a" jsonschema:"a" pattern:"["`
		}],
		"fold into no object": shapeOf[struct {
			A string `json:"a" jsonschema:"a" fold:"true"`
		}],
		"twice the same": shapeOf[struct {
			page
			More int `json:"limit" jsonschema:"b"`
		}],
		"two folds": shapeOf[struct {
			A json.RawMessage `json:"a" jsonschema:"a" fold:"true"`
			B json.RawMessage `json:"b" jsonschema:"b" fold:"true"`
		}],
		"names that differ in separators only": func() { NewRegistry(echoTool("echo_it"), echoTool("ech_oit")) },
		"an empty tool":                        func() { NewRegistry(Tool{}) },
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				p := recover()
				if p == nil {
					t.Fatal("accepted")
				}
				if text, ok := p.(string); !ok || len(text) < 10 {
					t.Errorf("the panic says nothing: %v", p)
				}
			}()
			f()
		})
	}
}

func shapeOf[T any]() { newShape("thing_get", reflect.TypeFor[T]()) }
