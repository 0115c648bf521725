package toolbox

import (
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// roomy is the test box with a player called as a room, and twins.
func roomy(t *testing.T) *tool.Registry {
	t.Helper()
	b, w := testBox(t)
	player, twin, other := row("media_player.kitchen", "kitchen"), row("light.spot", "kitchen"), row("light.spot_2", "office")
	note := row("input_text.nope", "")
	w.Apply(home.Report{Kind: home.ReportRegistry, At: t0, Registries: &home.Registries{Entities: append(report().Registries.Entities, player, twin, other, note)}})
	w.Apply(home.Report{Kind: home.ReportStates, At: t0, Patches: []home.Patch{
		state("media_player.kitchen", "on", `{"friendly_name":"Kitchen","supported_features":4}`),
		state("light.spot", "on", `{"friendly_name":"Spot","supported_color_modes":["onoff"]}`),
		state("light.spot_2", "on", `{"friendly_name":"Spot","supported_color_modes":["onoff"]}`),
		state("switch.spot", "on", `{"friendly_name":"Spot"}`),
		state("input_text.note", "x", `{"friendly_name":"Note"}`),
	}})
	return tool.NewRegistry(b.Tools()...)
}

func TestErrors_NameWhatDecides(t *testing.T) {
	reg := roomy(t)
	for _, c := range []struct{ name, args, want string }{
		{"service_call", `{"service":"light.turn_on","entity_id":["Spot"]}`, `3 entities are called "Spot": light.spot (Kitchen), light.spot_2 (Büro) or switch.spot (in no area)`},
		{"service_call", `{"service":"switch.turn_on","entity_id":["Spot"]}`, `"Spot": switch.spot (in no area), light.spot (Kitchen) or light.spot_2 (Büro)`},
		{"entity_get", `{"entity_id":"light.kitchen"}`, ` "kitchen" is an area: entity_list takes it as area, service_call as area_id. Try entity_search.`},
		{"entity_get", `{"entity_id":"light.nope"}`, `no entity "light.nope". Did you mean input_text.nope`},
		{"entity_get", `{"entity_id":"light.noote"}`, `no entity "light.noote". Try entity_search.`},
		{"entity_get", `{"entity_id":"lihgt.ceiling"}`, `Did you mean light.ceiling (Ceiling)`},
		{"service_call", `{"service":"turn_on","entity_id":["light.ceiling"]}`, "Did you mean light.turn_on or homeassistant.turn_on?"},
		{"service_call", `{"service":"turn_on","area_id":["kitchen"]}`, "Did you mean homeassistant.turn_on, light.turn_on, scene.turn_on?"},
		{"service_call", `{"service":"homeassistant.turn_off","entity_id":["Kitchen"]}`,
			`ambiguous: media_player.kitchen is called so and so is the area kitchen: "Kitchen". Give entity_id "media_player.kitchen" for the one, or area_id "kitchen" for all that is there`},
		{"service_call", `{"service":"homeassistant.turn_off","entity_id":["media_player.kitchen"],"dry_run":true}`, "not ready to write"},
		{"service_call", `{"service":"media_player.volume_set","entity_id":["Kitchen"],"data":{"volume_level":0.3},"dry_run":true}`, "not ready to write"},
	} {
		if got := said(reg.Call(t.Context(), reader(), c.name, []byte(c.args))); !strings.Contains(got, c.want) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.name, c.args, home.Clip(got, 600), c.want)
		}
	}
}
