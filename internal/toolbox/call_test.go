package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// planned calls service_call through a door whose judge lets everything pass
// and whose hands are never reached, and gives the plan as short lines.
func planned(t testing.TB, b *Box, args string) (lines, notes []string, err *home.Error) {
	t.Helper()
	var plan tool.Plan
	reg := tool.NewRegistry(b.Tools()...)
	reg.Judge = func(_ context.Context, _ tool.Caller, _ string, p tool.Plan) (tool.Verdict, error) {
		plan = p
		return tool.Verdict{Class: home.Act, Why: "this test stops here"}, nil
	}
	reg.Hands = func(context.Context, home.Step, []home.EntityID, time.Duration) home.StepResult {
		t.Error("the hands were reached")
		return home.StepResult{}
	}
	reg.Record = func(context.Context, home.CallRecord) error { return nil }
	a := reg.Call(t.Context(), reader(), "service_call", json.RawMessage(args))
	if plan.Steps == nil {
		return nil, nil, a.Err
	}
	for _, s := range plan.Steps {
		var ids []string
		for _, id := range s.Call.Target.Entities {
			ids = append(ids, string(id))
		}
		line := s.Call.Name() + " " + strings.Join(ids, ",")
		if len(s.Call.Data) > 0 {
			line += " " + string(s.Call.Data)
		}
		if s.Call.Response {
			line += " answer"
		}
		for _, x := range s.Expect {
			line += " | " + wished(x)
		}
		lines = append(lines, line)
	}
	return lines, plan.Notes, nil
}

func wished(x home.Expect) string {
	w := string(x.Entity)
	if x.Blind {
		return w + " blind"
	}
	if len(x.States) > 0 {
		w += " " + strings.Join(x.States, "/")
	}
	if len(x.Moving) > 0 {
		w += "~" + strings.Join(x.Moving, "/")
	}
	var keys []string
	for k, v := range x.Attrs {
		keys = append(keys, fmt.Sprintf("%s=%s±%g", k, v, x.Within))
	}
	slices.Sort(keys)
	for _, k := range keys {
		w += " " + k
	}
	if x.Loose {
		w += " loose"
	}
	if x.Assumed {
		w += " assumed"
	}
	if len(x.Unseen) > 0 {
		w += " unseen=" + strings.Join(x.Unseen, ",")
	}
	for k, v := range x.Proof {
		w += fmt.Sprintf(" %s≈%s±%g", k, v, x.Near)
	}
	return w
}

func TestServiceCallPlans(t *testing.T) {
	b, w := testBox(t)
	w.Apply(home.Report{Kind: home.ReportStates, At: t0, Patches: []home.Patch{
		state("light.dim", "on", `{"friendly_name":"Twilight","brightness":127,"color_temp_kelvin":3003,"supported_color_modes":["color_temp"]}`),
	}})
	for _, c := range []struct {
		args string
		want []string
		note string // a part of one of the notes
	}{
		{`{"service":"light.turn_on","entity_id":["light.ceiling"]}`, []string{`light.turn_on light.ceiling | light.ceiling on`}, ""},
		{`{"service":"turn_on","domain":"light","entity_id":"Ceiling"}`, []string{`light.turn_on light.ceiling | light.ceiling on`}, ""},
		{`{"service":"light.turn_on","entity_id":"light.ceiling, light.kitchen_lights","data":{"brightness_pct":40}}`,
			[]string{`light.turn_on light.ceiling,light.kitchen_lights {"brightness_pct":40} | light.ceiling on brightness=102±3 | light.kitchen_lights on brightness=102±3`}, ""},
		// An area becomes entity ids: no hidden, disabled or foreign ones.
		{`{"service":"light.turn_off","area_id":["Küche"]}`, []string{`light.turn_off light.ceiling,light.kitchen_lights | light.ceiling off | light.kitchen_lights off`}, ""},
		{`{"service":"light.turn_off","floor_id":["Upstairs"]}`, []string{`light.turn_off light.desk | light.desk off`}, ""},
		{`{"service":"light.turn_off","label_id":["evening"],"device_id":["Kitchen Lamp"]}`, []string{`light.turn_off light.kitchen_lights | light.kitchen_lights off`}, ""},
		// Targets put into data, and flat keys, find their place.
		{`{"service":"light.turn_on","data":"{\"entity_id\":\"light.ceiling\",\"brightness\":10}"}`, []string{`light.turn_on light.ceiling {"brightness":10} | light.ceiling on brightness=10±3`}, ""},
		{`{"service":"light.turn_on","data":{"target":{"area_id":"kitchen"}}}`, []string{`light.turn_on light.ceiling,light.kitchen_lights | light.ceiling on | light.kitchen_lights on`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.ceiling"],"brightness_pct":0}`, []string{`light.turn_on light.ceiling {"brightness_pct":0} | light.ceiling off`}, ""},
		{`{"service":"light.turn_off","entity_id":["all"]}`,
			[]string{`light.turn_off light.ceiling,light.desk,light.dim,light.evil,light.kitchen_lights,light.lounge,light.lounge_2 | light.ceiling off | light.desk off | light.dim off | light.evil off | light.kitchen_lights off | light.lounge off | light.lounge_2 off`}, "all means 7"},
		// A group stays itself; its members are what is looked at.
		{`{"service":"light.turn_off","entity_id":["group.downstairs"]}`, []string{`light.turn_off group.downstairs | light.ceiling off | light.kitchen_lights off`}, ""},
		{`{"service":"homeassistant.turn_off","entity_id":["group.downstairs"]}`,
			[]string{`homeassistant.turn_off group.downstairs | light.ceiling off | light.kitchen_lights off | switch.pump off assumed`}, ""},
		// Toggle is on or off by now.
		{`{"service":"light.toggle","entity_id":["light.ceiling"],"data":{"brightness_pct":50}}`, []string{`light.turn_on light.ceiling {"brightness_pct":50} | light.ceiling on brightness=128±3`}, "toggle means light.turn_on"},
		{`{"service":"light.toggle","area_id":["kitchen"],"data":{"transition":2}}`,
			[]string{`light.turn_on light.ceiling {"transition":2} | light.ceiling on`, `light.turn_off light.kitchen_lights {"transition":2} | light.kitchen_lights off`}, ""},
		{`{"service":"light.toggle","entity_id":["light.desk","light.ceiling"]}`, []string{`light.turn_on light.ceiling | light.ceiling on`}, "left alone: light.desk (Desk) is unavailable"},
		{`{"service":"homeassistant.toggle","entity_id":["group.agreed"]}`, []string{`homeassistant.turn_on group.agreed | light.ceiling on | light.lounge_2 on`}, ""},
		{`{"service":"homeassistant.toggle","entity_id":["group.downstairs"]}`, []string{
			`homeassistant.turn_on light.ceiling,switch.pump | light.ceiling on | switch.pump on assumed`, `homeassistant.turn_off light.kitchen_lights | light.kitchen_lights off`}, ""},
		{`{"service":"cover.toggle","entity_id":["cover.blind","cover.plain"]}`, []string{`cover.close_cover cover.blind | cover.blind closed~closing`, `cover.open_cover cover.plain | cover.plain open~opening loose`}, ""},
		{`{"service":"climate.toggle","entity_id":["climate.hvac"]}`, []string{`climate.turn_off climate.hvac | climate.hvac off`}, ""},
		// Relative steps are absolute by now.
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_step_pct":10}}`, []string{`light.turn_on light.kitchen_lights {"brightness":154} | light.kitchen_lights on brightness=154±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_step_pct":-80}}`, []string{`light.turn_off light.kitchen_lights | light.kitchen_lights off`}, ""},
		{`{"service":"media_player.volume_up","entity_id":["Lounge"]}`, []string{`media_player.volume_set media_player.lounge {"volume_level":0.6} | media_player.lounge volume_level=0.6±0.02`}, ""},
		{`{"service":"input_number.increment","entity_id":["input_number.level"]}`, []string{`input_number.set_value input_number.level {"value":7.5} | input_number.level 7.5/7.50/7.500`}, ""},
		{`{"service":"input_select.select_next","entity_id":["input_select.mode"]}`, []string{`input_select.select_option input_select.mode {"option":"home"} | input_select.mode home`}, ""},
		{`{"service":"input_select.select_next","entity_id":["input_select.mode"],"data":{"cycle":false}}`, []string{`input_select.select_option input_select.mode {"option":"away"} | input_select.mode away`}, ""},
		{`{"service":"fan.increase_speed","entity_id":["fan.attic"]}`, []string{`fan.set_percentage fan.attic {"percentage":99} | fan.attic on percentage=99±16.33`}, ""},
		// What is asked in another unit than is shown: only its rounding is nothing.
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_pct":50}}`, []string{`light.turn_on light.kitchen_lights {"brightness_pct":50} | light.kitchen_lights on brightness=128±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"brightness_pct":50}}`, []string{`light.turn_on light.dim {"brightness_pct":50} | light.dim on brightness=127±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"brightness_pct":49}}`, []string{`light.turn_on light.dim {"brightness_pct":49} | light.dim on brightness=125±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"brightness_pct":30}}`, []string{`light.turn_on light.dim {"brightness_pct":30} | light.dim on brightness=76±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"brightness":128}}`, []string{`light.turn_on light.dim {"brightness":128} | light.dim on brightness=128±3`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"color_temp_kelvin":3000}}`, []string{`light.turn_on light.dim {"color_temp_kelvin":3000} | light.dim on color_temp_kelvin=3003±60`}, ""},
		{`{"service":"light.turn_on","entity_id":["light.dim"],"data":{"color_temp_kelvin":3030}}`, []string{`light.turn_on light.dim {"color_temp_kelvin":3030} | light.dim on color_temp_kelvin=3030±60`}, ""},
		{`{"service":"fan.set_percentage","entity_id":["fan.attic"],"data":{"percentage":33}}`, []string{`fan.set_percentage fan.attic {"percentage":33} | fan.attic on percentage=33±16.33`}, ""},
		// Colours.
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"rgb_color":[255,0,0],"hs_color":[1,2]}}`, []string{`light.turn_on light.kitchen_lights {"rgb_color":[255,0,0]} | light.kitchen_lights on unseen=rgb_color rgb_color≈[255,0,0]±4`}, "hs_color was dropped: it excludes rgb_color"},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"color_temp":250}}`, []string{`light.turn_on light.kitchen_lights {"color_temp_kelvin":4000} | light.kitchen_lights on color_temp_kelvin=4000±60`}, "color_temp 250 became"},
		{`{"service":"light.turn_on","entity_id":["light.ceiling"],"data":{"rgb_color":[255,0,0]}}`, []string{`light.turn_on light.ceiling | light.ceiling on`}, "rgb_color was dropped: none"},
		{`{"service":"light.turn_on","area_id":["kitchen"],"data":{"rgb_color":[255,0,0]}}`, []string{`light.turn_on light.ceiling,light.kitchen_lights {"rgb_color":[255,0,0]} | light.ceiling on loose unseen=rgb_color | light.kitchen_lights on unseen=rgb_color rgb_color≈[255,0,0]±4`}, "has no effect on light.ceiling (Ceiling)"},
		// What each domain should show.
		{`{"service":"lock.lock","entity_id":["Front Door"]}`, []string{`lock.lock lock.front | lock.front locked~locking`}, ""},
		{`{"service":"cover.open_cover","entity_id":["cover.blind"]}`, []string{`cover.open_cover cover.blind | cover.blind open~opening current_position=100±1`}, ""},
		{`{"service":"cover.set_cover_position","entity_id":["cover.blind"],"data":{"position":30}}`, []string{`cover.set_cover_position cover.blind {"position":30} | cover.blind open/closed~opening/closing current_position=30±3`}, ""},
		{`{"service":"climate.set_temperature","entity_id":["climate.hvac"],"data":{"temperature":21.5,"hvac_mode":"heat"}}`, []string{`climate.set_temperature climate.hvac {"hvac_mode":"heat","temperature":21.5} | climate.hvac heat temperature=21.5±0.26`}, ""},
		{`{"service":"scene.turn_on","entity_id":["scene.dim"]}`, []string{`scene.turn_on scene.dim | scene.dim blind`}, ""},
		{`{"service":"button.press","entity_id":["button.ring"]}`, []string{`button.press button.ring | button.ring blind`}, ""},
		{`{"service":"notify.phone","data":{"message":"hi"}}`, []string{`notify.phone  {"message":"hi"}`}, ""},
		// Scripts and answers.
		{`{"service":"script.movie_night","data":{"film":"Up"}}`, []string{`script.turn_on script.movie_night {"variables":{"film":"Up"}} | script.movie_night blind`}, ""},
		{`{"service":"script.movie_night","return_response":true}`, []string{`script.movie_night  answer`}, ""},
		{`{"service":"weather.get_forecasts","entity_id":["weather.home"],"data":{"type":"daily"}}`, []string{`weather.get_forecasts weather.home {"type":"daily"} answer | weather.home blind`}, "return_response was set"},
		{`{"service":"light.turn_on","entity_id":["light.ceiling"],"return_response":true}`, []string{`light.turn_on light.ceiling | light.ceiling on`}, "return_response was dropped"},
	} {
		lines, notes, err := planned(t, b, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.args, strings.Join(lines, "\n     "), strings.Join(c.want, "\n     "))
		}
		if c.note != "" && !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s: no note %q in %q", c.args, c.note, notes)
		}
	}
}

func TestServiceCallRefuses(t *testing.T) {
	b, _ := testBox(t)
	for args, want := range map[string]string{
		`{"service":"light.turn_on","entity_id":["light.kichen_lights"]}`:                              "not_found: no entity \"light.kichen_lights\". Did you mean light.kitchen_lights (Kitchen Lights)",
		`{"service":"light.turn_on","entity_id":["light.secret"]}`:                                     "not_found: no entity \"light.secret\"",
		`{"service":"light.turn_on","entity_id":["Lamp"]}`:                                             "ambiguous: 2 entities are called \"Lamp\": light.lounge (Lamp) or light.lounge_2 (Lamp)",
		`{"service":"light.turn_on","area_id":["kichen"]}`:                                             "not_found: no area \"kichen\". Did you mean kitchen (Kitchen)?",
		`{"service":"light.turn_on","area_id":["Den"]}`:                                                "ambiguous: 2 areas are called \"Den\": den (Den) or den_2 (den)",
		`{"service":"light.turn_on","floor_id":["upstair"]}`:                                           "not_found: no floor \"upstair\". Did you mean up (Upstairs)?",
		`{"service":"light.turn_on","label_id":["evning"]}`:                                            "Did you mean evening (Evening)?",
		`{"service":"light.turn_on","device_id":["kitchen lmap"]}`:                                     "Did you mean d-lamp (Kitchen Lamp)?",
		`{"service":"light.turnon","entity_id":["light.ceiling"]}`:                                     "not_found: no service \"light.turnon\". Did you mean light.turn_on",
		`{"service":"turn_on","entity_id":["light.ceiling"]}`:                                          "Did you mean light.turn_on or homeassistant.turn_on?",
		`{"service":"light.turn_on","entity_id":["switch.pump"]}`:                                      "invalid: light.turn_on does not act on switch.pump (ポンプ). Call switch.turn_on",
		`{"service":"light.turn_on","entity_id":["light.ceiling"],"data":{"brightnes":5}}`:             "invalid: light.turn_on has no field \"brightnes\". Did you mean brightness",
		`{"service":"switch.turn_on","entity_id":["switch.pump"],"data":{"brightness":5}}`:             "switch.turn_on has no field \"brightness\". It takes no data",
		`{"service":"cover.set_cover_position","entity_id":["cover.blind"]}`:                           "invalid: cover.set_cover_position needs position in data",
		`{"service":"light.turn_on"}`:                                                                  "invalid: light.turn_on needs a target",
		`{"service":"light.turn_on","area_id":["kids"]}`:                                               "not_found: nothing there that light.turn_on acts on",
		`{"service":"light.toggle","entity_id":["light.desk"]}`:                                        "conflict: toggle has no known state to start from: light.desk (Desk) is unavailable",
		`{"service":"homeassistant.turn_on","entity_id":["all"]}`:                                      "invalid: homeassistant.turn_on on all entities is not understood",
		`{"service":"script.movie_night","entity_id":["light.ceiling"]}`:                               "invalid: script.movie_night takes no target",
		`{"service":"notify.phone","entity_id":["light.ceiling"],"data":{"message":"x"}}`:              "invalid: notify.phone takes no target",
		`{"service":"light.turn_on","entity_id":["light.ceiling"],"data":{"brightness_pct":"banana"}}`: `invalid: light.turn_on wants a number in brightness_pct, not`,
		`{"service":"light.turn_on","domain":"switch","entity_id":["light.ceiling"]}`:                  "invalid: service \"light.turn_on\" is not of domain \"switch\"",
		`{"service":"light.turn_on","entity_id":["light.ceiling"],"data":{"entity_id":{"a":1}}}`:       "invalid: entity_id is neither a text nor a list of texts",
		`{"service":"light.turn_on","entity_id":["light.ceiling"],"data":"no object"}`:                 "invalid: ",
		`{"service":"light.turn_on","entity_id":["light.ceiling"],"wait":20}`:                          "invalid: ",
		`{"service":"` + strings.Repeat("x", 100) + `","entity_id":["light.ceiling"]}`:                 "invalid: ",
		`{"service":"homeassistant.turn_on"}`:                                                          "invalid: homeassistant.turn_on needs a target",
		`{"service":"light.turn_on","entity_id":[""]}`:                                                 "invalid: an entity id is empty",
		`{"service":"climate.set_temperature","entity_id":["climate.hvac"],"data":{"temprature":5}}`:   "Did you mean temperature?",
	} {
		lines, _, err := planned(t, b, args)
		if err == nil {
			t.Errorf("%s passes: %v", args, lines)
			continue
		}
		if text := err.Error(); !strings.Contains(text, want) || len(text) > 500 || strings.Contains(text, "secret (") {
			t.Errorf("%s\n got %s\nwant %s", args, text, want)
		}
	}
}

// FuzzServiceCall looks for arguments that make planning fail by our own fault.
func FuzzServiceCall(f *testing.F) {
	f.Add("light.turn_on", "light.ceiling", `{"brightness_pct":40,"rgb_color":[1,2,3]}`)
	f.Add("light.toggle", "all", `{"target":{"area_id":["kitchen"]}}`)
	f.Add("homeassistant.toggle", "group.downstairs", `{}`)
	f.Add("fan.increase_speed", "fan.attic", `{"percentage_step":1e308}`)
	f.Add("input_select.select_next", "input_select.mode", `{"cycle":"no"}`)
	f.Add("climate.set_temperature", "Hvac", `{"temperature":"21","hvac_mode":7}`)
	f.Fuzz(func(t *testing.T, service, target, data string) {
		b, _ := testBox(t)
		args, err := json.Marshal(map[string]any{"service": service, "entity_id": []string{target}, "data": data})
		if err != nil {
			t.Fatal(err)
		}
		lines, _, fault := planned(t, b, string(args))
		if fault != nil && fault.Code == home.Internal || fault == nil && len(lines) > 60 {
			t.Fatalf("%s: %v %v", args, lines, fault)
		}
	})
}
