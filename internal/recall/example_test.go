package recall_test

import (
	"encoding/json"
	"fmt"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/recall"
)

func Example() {
	house, writer := mirror.New(mirror.Config{}, nil, nil, nil)
	on := "on"
	writer.Apply(home.Report{Kind: home.ReportSnapshot, Patches: []home.Patch{
		{ID: "light.kitchen_lights", Full: true, Value: &on, Set: json.RawMessage(`{"friendly_name":"Kitchen Lights"}`)},
		{ID: "light.bed", Full: true, Value: &on, Set: json.RawMessage(`{"friendly_name":"Bed Light"}`)},
	}})
	hits, ambiguous := recall.New(house).Find(home.Visible(), recall.Query{Text: "kichen lihgt"})
	fmt.Println(hits[0].Entity.ID, hits[0].State.Value, ambiguous)
	fmt.Println(hits[0].Why)
	// Output:
	// light.kitchen_lights on false
	// kichen ≈ kitchen: name, id; lihgt ≈ light: name, id, kind
}
