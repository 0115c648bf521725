package toolbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hearth/internal/home"
)

// shades is the small house with lights that can do more, and services whose
// fields list what they take.
func shades(t *testing.T) *Box {
	t.Helper()
	b, w := testBox(t)
	all := services()
	on := &all[0]
	on.Fields = slices.Clone(on.Fields)
	for name, selector := range map[string]string{
		"color_name": `{"select":{"options":["red","lightblue","teal"]}}`,
		"flash":      `{"select":{"options":[{"value":"long","label":"Long"},{"value":"short","label":"Short"}]}}`,
		"profile":    `{"select":{"options":["relax"],"custom_value":true}}`,
		"hs_color":   `{"object":null}`, "xy_color": `{"object":null}`,
	} {
		on.Fields = append(on.Fields, home.ServiceField{Name: name, Description: name, Selector: json.RawMessage(selector)})
	}
	all = append(all, service("input_datetime.set_datetime", "input_datetime", "none", "date", "time", "datetime"))
	w.Apply(home.Report{Kind: home.ReportServices, At: t0, Services: all})
	w.Apply(home.Report{Kind: home.ReportStates, At: t0, Patches: []home.Patch{
		state("light.hs", "off", `{"friendly_name":"Strip","supported_color_modes":["color_temp","hs"],"supported_features":4,"effect_list":["rainbow","none"]}`),
		state("light.rgb", "on", `{"friendly_name":"Bulb","supported_color_modes":["rgb"],"supported_features":0,"rgb_color":[1,2,3]}`),
		state("light.white", "on", `{"friendly_name":"Panel","supported_color_modes":["color_temp","rgbw"],"supported_features":0}`),
		state("input_datetime.alarm", "07:00:00", `{"friendly_name":"Alarm","has_date":false,"has_time":true}`),
		state("input_datetime.day", "2026-11-30", `{"friendly_name":"Day","has_date":true,"has_time":false}`),
		state("input_datetime.both", "2026-11-30 07:00:00", `{"friendly_name":"Both","has_date":true,"has_time":true}`),
	}})
	return b
}

func TestWhatAColourShows(t *testing.T) {
	b := shades(t)
	for _, c := range []struct{ id, data, want string }{
		{"light.hs", `{"rgb_color":[128,0,0]}`, "on unseen=rgb_color rgb_color≈[255,0,0]±4"},
		{"light.rgb", `{"rgb_color":[128,0,0]}`, "on unseen=rgb_color rgb_color≈[128,0,0]±4"},
		{"light.white", `{"rgb_color":[128,0,0]}`, "on unseen=rgb_color rgb_color≈[128,0,0]±4"},
		{"light.hs", `{"rgb_color":[0,0,0]}`, "on unseen=rgb_color rgb_color≈[0,0,0]±4"},
		{"light.hs", `{"rgb_color":"red"}`, "on loose unseen=rgb_color"},
		{"light.hs", `{"rgb_color":[1,2]}`, "on loose unseen=rgb_color"},
		{"light.hs", `{"hs_color":[30,80]}`, "on unseen=hs_color hs_color≈[30,80]±1.5"},
		{"light.hs", `{"xy_color":[0.5,0.4]}`, "on unseen=xy_color xy_color≈[0.5,0.4]±0.01"},
		{"light.hs", `{"color_name":"Red"}`, "on unseen=color_name rgb_color≈[255,0,0]±4"},
		{"light.hs", `{"color_name":"light blue"}`, "on loose unseen=color_name"},
		{"light.hs", `{"color_temp_kelvin":3000}`, "on color_temp_kelvin=3000±60"},
		{"light.hs", `{"color_temp_kelvin":3000,"brightness":50}`, "on brightness=50±3 unseen=color_temp_kelvin color_temp_kelvin≈3000±60"},
		{"light.hs", `{"rgb_color":[9,9,9],"brightness":50}`, "on brightness=50±3 unseen=rgb_color rgb_color≈[255,255,255]±4"},
		{"light.hs", `{"effect":"rainbow"}`, `on effect="rainbow"±0`},
		{"light.hs", `{"rgb_color":[255,0,0],"flash":"short"}`, "on loose unseen=flash,rgb_color"},
	} {
		lines, _, err := planned(t, b, `{"service":"light.turn_on","entity_id":["`+c.id+`"],"data":`+c.data+`}`)
		if err != nil {
			t.Errorf("%s: %v", c.data, err)
			continue
		}
		if _, got, _ := strings.Cut(lines[0], " | "); got != c.id+" "+c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.id, c.data, got, c.want)
		}
	}
}

func TestValuesThatAreNotOnTheList(t *testing.T) {
	b := shades(t)
	for data, want := range map[string]string{
		`{"color_name":"nosuch"}`:     `invalid: light.turn_on does not know color_name "nosuch". It knows red, lightblue or teal`,
		`{"color_name":"warm white"}`: `does not know color_name "warm white"`,
		`{"color_name":"tael"}`:       `Did you mean teal?`,
		`{"flash":"medium"}`:          `does not know flash "medium"`,
		`{"effect":"nosuch"}`:         `invalid: none of these lights has the effect "nosuch". They have none or rainbow`,
		`{"effect":"rainbo"}`:         `Did you mean rainbow?`,
		`{"color_name":"Light Blue"}`: `{"color_name":"lightblue"}`,
		`{"flash":"long"}`:            `{"flash":"long"}`,
		`{"profile":"my own"}`:        `{"profile":"my own"}`,
		`{"color_name":null}`:         `{"color_name":null}`,
	} {
		lines, _, err := planned(t, b, `{"service":"light.turn_on","entity_id":["light.hs"],"data":`+data+`}`)
		got := strings.Join(lines, "\n")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", data, got, want)
		}
	}
}

// A helper that keeps only a time shows nothing of the date it was given.
func TestWhatADateHelperKeeps(t *testing.T) {
	b := shades(t)
	for _, c := range []struct{ id, data, want string }{
		{"input_datetime.alarm", `{"datetime":"2026-12-24 18:30:00"}`, "18:30:00"},
		{"input_datetime.alarm", `{"datetime":"2026-12-24T18:30"}`, "18:30:00"},
		{"input_datetime.alarm", `{"time":"18:30"}`, "18:30:00"},
		{"input_datetime.alarm", `{"date":"2026-12-24","time":"18:30:00"}`, "18:30:00"},
		{"input_datetime.day", `{"datetime":"2026-12-24 18:30:00"}`, "2026-12-24"},
		{"input_datetime.day", `{"date":"2026-12-24"}`, "2026-12-24"},
		{"input_datetime.both", `{"datetime":"2026-12-24T18:30:00"}`, "2026-12-24 18:30:00"},
		{"input_datetime.both", `{"date":"2026-12-24","time":"18:30"}`, "2026-12-24 18:30:00"},
		{"input_datetime.both", `{"time":"18:30:00"}`, "blind"},
		{"input_datetime.alarm", `{"datetime":"2026-12-24T18:30:00+01:00"}`, "blind"},
	} {
		lines, _, err := planned(t, b, `{"service":"input_datetime.set_datetime","entity_id":["`+c.id+`"],"data":`+c.data+`}`)
		if err != nil || !strings.HasSuffix(lines[0], " | "+c.id+" "+c.want) {
			t.Errorf("%s %s: %v %v, want %s", c.id, c.data, lines, err, c.want)
		}
	}
}

func TestARelativeStepSaysWhatItIs(t *testing.T) {
	b, _ := testBox(t)
	for step, want := range map[string]string{
		"10":  `counted from what is shown, the step is sent as light.turn_on {"brightness":154}`,
		"-80": `counted from what is shown, the step is sent as light.turn_off`,
	} {
		_, notes, err := planned(t, b, `{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_step_pct":`+step+`}}`)
		if err != nil || !slices.Contains(notes, want) {
			t.Errorf("%s: %q, %v", step, notes, err)
		}
	}
}
