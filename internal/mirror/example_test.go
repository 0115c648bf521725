package mirror_test

import (
	"encoding/json"
	"fmt"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

func Example() {
	house, writer := mirror.New(mirror.Config{Site: "ha"}, nil, nil, nil)
	on, off := "on", "off"
	writer.Apply(home.Report{Kind: home.ReportSnapshot,
		Registries: &home.Registries{
			Areas:    []home.Area{{ID: "kitchen", Name: "Kitchen"}},
			Entities: []home.Entity{{ID: "light.counter", RegistryID: "r1", OwnArea: "kitchen"}},
		},
		Patches: []home.Patch{{ID: "light.counter", Full: true, Value: &on, Set: json.RawMessage(`{"friendly_name":"Counter"}`)}},
	})
	watch := house.Watch("example", mirror.Durable)
	defer watch.Close()
	writer.Apply(home.Report{Kind: home.ReportStates, Patches: []home.Patch{{ID: "light.counter", Value: &off}}})

	for row, state := range house.View().Entities(home.Visible(), mirror.Filter{Area: "kitchen"}) {
		fmt.Println(row.Name, state.Value)
	}
	_, change := watch.Waiting()
	fmt.Println(change.Entity, change.Old.Value, "→", change.New.Value)
	fmt.Println(house.View().Resolve(home.Target{Areas: []home.AreaID{"kitchen", "attic"}}, true).Missing.Areas)
	// Output:
	// Counter off
	// light.counter on → off
	// [attic]
}
