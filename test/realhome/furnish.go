package realhome

import (
	"context"
	"strings"
)

// furnish makes floors, areas with aliases and a label, and puts demo entities into them.
func furnish(ctx context.Context, ws *Socket) error {
	floors := map[string]string{}
	for level, f := range []struct {
		name    string
		aliases []string
	}{{"Ground floor", []string{"downstairs"}}, {"Upstairs", []string{}}} {
		var row struct {
			ID string `json:"floor_id"`
		}
		if err := ws.Into(ctx, "config/floor_registry/create", map[string]any{"name": f.name, "level": level, "aliases": f.aliases}, &row); err != nil {
			return err
		}
		floors[f.name] = row.ID
	}
	var label struct {
		ID string `json:"label_id"`
	}
	if err := ws.Into(ctx, "config/label_registry/create", map[string]any{"name": "Hearth confirm", "color": "red"}, &label); err != nil {
		return err
	}
	var have []struct {
		ID   string `json:"area_id"`
		Name string
	}
	// Onboarding has made three areas of its own; their names collide without case and spaces.
	if err := ws.Into(ctx, "config/area_registry/list", nil, &have); err != nil {
		return err
	}
	known := map[string]string{}
	for _, a := range have {
		known[squash(a.Name)] = a.ID
	}
	for _, room := range rooms() {
		id, err := putArea(ctx, ws, known, room, floors[room.floor])
		if err != nil {
			return err
		}
		for _, entity := range room.entities {
			if err := place(ctx, ws, entity, id); err != nil {
				return err
			}
		}
	}
	_, err := ws.Command(ctx, "config/entity_registry/update", map[string]any{
		"entity_id": "cover.garage_door", "labels": []string{label.ID}, "aliases": []string{"big door"}})
	return err
}

type room struct {
	name, floor string
	aliases     []string
	entities    []string
}

func rooms() []room {
	return []room{
		{"Kitchen", "Ground floor", []string{"cooking"}, []string{"light.kitchen_lights", "sensor.kitchen_power", "switch.ac", "binary_sensor.kuchenfenster"}},
		{"Living room", "Ground floor", []string{"lounge"}, []string{"light.ceiling_lights", "cover.living_room_window"}},
		{"Kids' Room", "Upstairs", []string{}, []string{"light.bed_light", "cover.hall_window", "fan.ceiling_fan"}},
		{"Büro", "Upstairs", []string{"office"}, []string{"light.office_rgbw_lights", "climate.ecobee"}},
	}
}

func putArea(ctx context.Context, ws *Socket, known map[string]string, r room, floor string) (string, error) {
	kind, fields := "config/area_registry/create", map[string]any{"name": r.name, "floor_id": floor, "aliases": r.aliases}
	if id, ok := known[squash(r.name)]; ok {
		kind, fields = "config/area_registry/update", map[string]any{"area_id": id, "floor_id": floor, "aliases": r.aliases}
	}
	var row struct {
		ID string `json:"area_id"`
	}
	return row.ID, ws.Into(ctx, kind, fields, &row)
}

// place puts an entity into an area; one that only carries its device's name has no area of its own, so its device moves.
func place(ctx context.Context, ws *Socket, entity, area string) error {
	var row struct {
		Name         *string
		OriginalName *string `json:"original_name"`
		Device       *string `json:"device_id"`
	}
	if err := ws.Into(ctx, "config/entity_registry/get", map[string]any{"entity_id": entity}, &row); err != nil {
		return err
	}
	if row.Name == nil && row.OriginalName == nil && row.Device != nil {
		_, err := ws.Command(ctx, "config/device_registry/update", map[string]any{"device_id": *row.Device, "area_id": area})
		return err
	}
	_, err := ws.Command(ctx, "config/entity_registry/update", map[string]any{"entity_id": entity, "area_id": area})
	return err
}

func squash(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
