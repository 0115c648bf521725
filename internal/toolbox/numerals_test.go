package toolbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hearth/internal/home"
)

func TestNumeral(t *testing.T) {
	const percent, share, plain, kelvin = `{"number":{"min":0,"max":100,"unit_of_measurement":"%"}}`, `{"number":{"min":0,"max":1,"step":0.01}}`, `{"number":{"min":0,"max":255}}`, `{"color_temp":{"unit":"kelvin"}}`
	for _, c := range []struct {
		text, selector string
		want           float64
		ok             bool
	}{
		{"35", percent, 35, true}, {" 35 ", plain, 35, true}, {"30%", percent, 30, true}, {"30 %", percent, 30, true}, {"-10%", percent, -10, true},
		{"+5", plain, 5, true}, {"21,5", plain, 21.5, true}, {"21.5", plain, 21.5, true}, {"-0,5", plain, -0.5, true}, {"3000", kelvin, 3000, true},
		{"30%", share, 0.3, true}, {"0.4", share, 0.4, true},
		{"30%", plain, 0, false}, {"30%", kelvin, 0, false}, {"1,500", plain, 0, false}, {"banana", percent, 0, false}, {"", percent, 0, false},
		{"1e3", plain, 0, false}, {"{{ x }}", percent, 0, false}, {"5", `{"text":null}`, 0, false}, {"5", ``, 0, false}, {"5", `{"number":null}`, 0, false},
	} {
		got, ok := numeral(c.text, home.ServiceField{Selector: json.RawMessage(c.selector)})
		if got != c.want && ok || ok != c.ok {
			t.Errorf("%q for %s: %v, %v", c.text, c.selector, got, ok)
		}
	}
}

func TestServiceCallReadsNumerals(t *testing.T) {
	b, _ := testBox(t)
	for _, c := range []struct{ data, want, note string }{
		{`"35"`, `light.turn_on light.kitchen_lights {"brightness_pct":35} | light.kitchen_lights on brightness=89±3`, `brightness_pct "35" was read as 35`},
		{`"30%"`, `light.turn_on light.kitchen_lights {"brightness_pct":30} | light.kitchen_lights on brightness=76±3`, `brightness_pct "30%" was read as 30`},
		{`"30,5"`, `light.turn_on light.kitchen_lights {"brightness_pct":30.5} | light.kitchen_lights on brightness=78±3`, `brightness_pct "30,5" was read as 30.5`},
		{`30`, `light.turn_on light.kitchen_lights {"brightness_pct":30} | light.kitchen_lights on brightness=76±3`, ""},
	} {
		lines, notes, err := planned(t, b, `{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_pct":`+c.data+`}}`)
		if err != nil || !slices.Equal(lines, []string{c.want}) || c.note == "" && len(notes) > 0 || !strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s: %q, %q, %v", c.data, lines, notes, err)
		}
	}
}
