package toolbox

import (
	"encoding/json"
	"strings"
	"testing"

	"hearth/internal/hass"
	"hearth/internal/home"
)

func TestHistory_SaysWhatTheRecorderLeavesOut(t *testing.T) {
	b, _ := testBox(t)
	v := sight{View: b.House.View(), sc: home.Visible(), b: b}
	with := func(attrs string) []hass.Point {
		return []hass.Point{{Value: "on", Attrs: json.RawMessage(attrs), Updated: t0}}
	}
	const id = home.EntityID("light.kitchen_lights")
	for _, c := range []struct {
		attribute string
		recorded  []hass.Point
		want      string
	}{
		{"brightness", with(`{"friendly_name":"Kitchen Lights"}`), `no recorded state of light.kitchen_lights (Kitchen Lights) has "brightness": Home Assistant does not record every attribute; journal_query`},
		{"brightness", with(`{"brightness":1}`), ""}, {"brightness", nil, ""}, {"colour", with(`{}`), ""}, {"", with(`{}`), ""},
	} {
		q := historical{v: v, attribute: c.attribute, from: t0, to: t0}
		if got := q.unrecorded(id, c.recorded); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s of %s: %q, want %q", c.attribute, c.recorded, got, c.want)
		}
	}
	q := historical{v: v, attribute: "brightness", from: t0, to: t0}
	if got := q.absent(&series{ID: id, Name: "Kitchen Lights", all: []sample{{at: t0}}}); strings.Contains(got, "nearest") {
		t.Errorf("an attribute is nearest to itself: %s", got)
	}
}
