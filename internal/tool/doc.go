// Package tool declares tools once and is the one door that runs them.
//
// A tool is a Spec beside a typed input, a typed output and a function. From
// that one declaration come the JSON schemas, the hints, the repair of what a
// model sends, the checks and the messages when something does not fit. A
// reading tool answers by itself. A writing tool has no hands: it returns a
// Plan, and the door has it judged, executed, verified and recorded.
//
// Promises. A faulty declaration panics where it is made, so it cannot pass a
// test. Call never panics and never returns a Go error: a panic inside a tool
// becomes an "internal" answer that names the record. Nothing is sent before
// the judge allowed it, nothing is sent twice, and a call that was executed
// leaves exactly one record, which for a write is durable before the answer is
// given. An answer is valid JSON or it is an error; it is never cut in the
// middle. Errors are one line of at most 2 KB, and text from the house is
// stripped of control characters. A Registry is safe for concurrent calls once
// its func fields are set.
//
// A small example:
//
//	type roomIn struct {
//		Area string `json:"area" jsonschema:"Id or name of the area"`
//		Max  int    `json:"max,omitempty" jsonschema:"How many lamps at most" default:"10" min:"1" max:"50"`
//	}
//	type roomOut struct {
//		Lamps []string `json:"lamps" jsonschema:"Entity ids"`
//	}
//	lamps := tool.NewRead(tool.Spec{
//		Name: "lamp_list", Title: "List lamps", Class: home.Read,
//		About: "Lists the lamps of an area.", Examples: []string{`{"area":"kitchen"}`},
//	}, func(ctx context.Context, c tool.Caller, in roomIn) (roomOut, error) {
//		return roomOut{Lamps: []string{"light.kitchen"}}, nil
//	})
//	door := tool.NewRegistry(lamps)
//	answer := door.Call(ctx, caller, "lamp_list", []byte(`{"area":"kitchen"}`))
//
// The tags of an input's fields: json (the name; omitempty makes it optional),
// jsonschema (what it means), default, min and max (a number's range, a text's
// length, a list's size), enum (comma list), pattern. A type with a method
// Pattern() string, such as home.EntityID, brings its pattern along. A
// json.RawMessage field is a free-form object; with the tag fold:"true" it takes
// up unknown flat arguments, because models like to forget the nesting.
package tool
