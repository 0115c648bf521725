package tool_test

import (
	"context"
	"fmt"

	"hearth/internal/home"
	"hearth/internal/tool"
)

type roomIn struct {
	Area string `json:"area" jsonschema:"Id or name of the area"`
	Max  int    `json:"max,omitempty" jsonschema:"How many lamps at most" default:"10" min:"1" max:"50"`
}

type roomOut struct {
	Lamps []string `json:"lamps" jsonschema:"Entity ids"`
}

// A tool is declared once; the door repairs what a model sends.
func ExampleRegistry_Call() {
	lamps := tool.NewRead(tool.Spec{
		Name: "lamp_list", Title: "List lamps", Class: home.Read,
		About: "Lists the lamps of an area.", Examples: []string{`{"area":"kitchen"}`},
	}, func(_ context.Context, _ tool.Caller, in roomIn) (roomOut, error) {
		return roomOut{Lamps: []string{fmt.Sprintf("light.%s_%d", in.Area, in.Max)}}, nil
	})
	door := tool.NewRegistry(lamps)
	caller := tool.Caller{Via: "cli", Who: "owner", Grant: home.Grant{Upto: home.Read, Scope: home.Visible()}}

	fmt.Println(string(door.Call(context.Background(), caller, "LampList", []byte(`{"Area":"kitchen","max":"2"}`)).JSON))
	fmt.Println(door.Call(context.Background(), caller, "lamp_list", []byte(`{"area":"kitchen","max":99}`)).Err)
	fmt.Println(door.Call(context.Background(), caller, "lamps_list", nil).Err)
	// Output:
	// {"lamps":["light.kitchen_2"]}
	// invalid: max is 99, but must be from 1 to 50. Choose a value within it. For example {"area":"kitchen"}
	// not_found: no tool "lamps_list". Did you mean lamp_list? The list of tools names all there are
}
