package toolbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

func TestServiceList_ShowsWhatFieldsTake(t *testing.T) {
	b, w := testBox(t)
	var colours []string
	for i := range 45 {
		colours = append(colours, fmt.Sprintf("colour%02d", i))
	}
	names, _ := json.Marshal(colours)
	w.Apply(home.Report{Kind: home.ReportServices, At: t0, Services: []home.Service{{Domain: "light", Name: "glow", Title: "Glow", Response: "none", Fields: []home.ServiceField{
		{Name: "brightness_pct", Selector: json.RawMessage(`{"number":{"min":0,"max":100,"step":1,"unit_of_measurement":"%","mode":"slider"}}`)},
		{Name: "kelvin", Selector: json.RawMessage(`{"color_temp":{"unit":"kelvin","min":2000,"max":6500}}`)},
		{Name: "flash", Selector: json.RawMessage(`{"select":{"options":[{"label":"Long","value":"long"},"short"],"multiple":false}}`)},
		{Name: "color_name", Selector: json.RawMessage(`{"select":{"options":` + string(names) + `}}`)},
	}}}})
	reg := tool.NewRegistry(b.Tools()...)
	one := said(reg.Call(t.Context(), reader(), "service_list", []byte(`{"service":"light.glow"}`)))
	for _, want := range []string{`"name":"brightness_pct","type":"number","min":0,"max":100,"unit":"%"`, `"type":"color_temp","min":2000,"max":6500,"unit":"kelvin"`,
		`"name":"flash","type":"select","options":["long","short"]`, `"colour39"],"more_options":5`} {
		if !strings.Contains(one, want) {
			t.Errorf("no %s in %s", want, one)
		}
	}
	if all := said(reg.Call(t.Context(), reader(), "service_list", []byte(`{"domain":"light"}`))); strings.Contains(all, "colour00") || !strings.Contains(all, `"max":100`) {
		t.Errorf("the options of every service are listed: %s", all)
	}
	for args, want := range map[string]string{
		`{"service":"light.glow","data":{"brightness_pct":"much"}}`: `invalid: light.glow wants a number in brightness_pct, not "much". Give it without quotes and unit, from 0 to 100`,
		`{"service":"light.glow","data":{"brightness_pct":[1]}}`:    `not "[1]"`,
	} {
		if got := said(reg.Call(t.Context(), reader(), "service_call", []byte(args))); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if found := said(reg.Call(t.Context(), reader(), "service_list", []byte(`{"search":"kelvin"}`))); !strings.Contains(found, "light.glow") {
		t.Errorf("a field's name is not found: %s", found)
	}
}
