package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

// TestExamples runs every example of every tool, writes included.
func TestExamples(t *testing.T) {
	r := newRig(t)
	for _, x := range r.reg.All() {
		for _, e := range x.Spec().Examples {
			text := r.call(t, x.Spec().Name, e)
			if !strings.HasPrefix(text, "{") || x.Writes() && !strings.Contains(e, "dry_run") && !strings.Contains(text, `"outcome":"done"`) {
				t.Errorf("%s %s: %s", x.Spec().Name, e, home.Clip(text, 500))
			}
		}
	}
}

// TestAct acts and looks at what became of it.
func TestAct(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct{ args, want string }{
		{`{"service":"light.turn_off","entity_id":["Kitchen Lights"]}`, `"outcome":"done"`},
		{`{"service":"light.turn_off","entity_id":["light.kitchen_lights"]}`, `"outcome":"already"`},
		{`{"service":"light.toggle","entity_id":["light.kitchen_lights"]}`, `"after":"on"`},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"brightness_pct":40}`, `"outcome":"done"`},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"brightness_pct":40}`, `"outcome":"already"`},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"brightness_pct":41}`, `"outcome":"done"`},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_step_pct":20}}`, `"outcome":"done"`},
		{`{"service":"input_number.set_value","entity_id":["input_number.target_humidity"],"data":{"value":41}}`, ``},
		{`{"service":"lock.lock","entity_id":["lock.poorly_installed_door"],"wait":4}`, `jammed`},
		{`{"service":"lock.unlock","entity_id":["lock.front_door"]}`, `denied: `},
		{`{"service":"light.turn_on","entity_id":["light.nope"]}`, `not_found: `},
		{`{"service":"light.turn_on","entity_id":["light.kitchen_lights"],"data":{"brightness_pct":"banana"}}`, `brightness_pct`},
	} {
		if text := r.call(t, "service_call", c.args); !strings.Contains(text, c.want) {
			t.Errorf("%s: no %s in %s", c.args, c.want, home.Clip(text, 800))
		}
	}
	if text := r.call(t, "journal_query", `{"kinds":["hearth"]}`); !strings.Contains(text, "service_call") || strings.Count(text, `"kind":"hearth"`) < 8 {
		t.Errorf("the journal does not show the calls: %s", home.Clip(text, 1500))
	}
	if text := r.call(t, "journal_why", `{"entity_id":"light.kitchen_lights"}`); !strings.Contains(text, "tester") || !strings.Contains(text, `"call":"call_`) {
		t.Errorf("why does not name the call: %s", home.Clip(text, 1500))
	}
}

// TestHistory compares with what the link itself reads.
func TestHistory(t *testing.T) {
	r := newRig(t)
	now := time.Now()
	r.Now = func() time.Time { return now }
	id := home.EntityID("sensor.outside_temperature")
	points, err := r.Hass.History(t.Context(), []home.EntityID{id}, now.Add(-2*time.Hour), now, false)
	if err != nil || len(points[id]) == 0 {
		t.Fatal(points, err)
	}
	var out struct {
		Series []struct {
			Unit           string
			Count          int
			Points         []struct{ T, V string }
			Min, Max, Mean float64
		}
	}
	text := r.call(t, "history_get", `{"entity_id":["sensor.outside_temperature"],"from":"2h"}`)
	if json.Unmarshal([]byte(text), &out) != nil || len(out.Series) != 1 || len(out.Series[0].Points) == 0 {
		t.Fatal(text)
	}
	s := out.Series[0]
	if last := points[id][len(points[id])-1]; s.Points[len(s.Points)-1].V != last.Value {
		t.Errorf("history ends with %v, the recorder with %v", s.Points[len(s.Points)-1], last)
	}
	if s.Unit != "°C" || s.Min > s.Mean || s.Mean > s.Max {
		t.Errorf("unit %q, min %v mean %v max %v", s.Unit, s.Min, s.Mean, s.Max)
	}
	r.sim.Set("sensor.outside_temperature", "-3.5", map[string]any{"unit_of_measurement": "°C"})
	r.await(t, "the frost", func(v *mirror.View) bool { return v.State(id).Value == "-3.5" })
	now = time.Now()
	if text := r.call(t, "history_get", `{"entity_id":["sensor.outside_temperature"],"from":"2h"}`); !strings.Contains(text, `"v":"-3.5"`) {
		t.Errorf("the newest value is missing: %s", home.Clip(text, 1500))
	}
	for args, want := range map[string][]string{
		`{"entity_id":["climate.hvac"],"attribute":"temperature","from":"2h"}`:        {`"unit":"°C"`},
		`{"entity_id":["climate.hvac"],"attribute":"current_humidity","from":"2h"}`:   {`"unit":"%"`},
		`{"entity_id":["climate.hvac"],"attribute":"temprature","from":"2h"}`:         {`"count":0`, `had no attribute \"temprature\" in this time; nearest temperature`},
		`{"entity_id":["light.kitchen_lights"],"attribute":"brightness","from":"2h"}`: {`Home Assistant does not record every attribute; journal_query`},
		`{"entity_id":["sensor.outside_temperature"],"from":"2h","to":"1h"}`:          {`"source":"recorder"`},
		`{"entity_id":["climate.hvac"],"from":"25d"}`:                                 {`"complete":false,"gaps":[{"from":`, `nothing is recorded of climate.hvac`},
	} {
		text := r.call(t, "history_get", args)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %s in %s", args, w, home.Clip(text, 1500))
			}
		}
	}
	r.Health.Light(health.HassOffline, "the test says so")
	begun := time.Now()
	text = r.call(t, "history_get", `{"entity_id":["sensor.outside_temperature"],"from":"2h"}`)
	if took := time.Since(begun); took > 2*time.Second || !strings.Contains(text, `"source":"live"`) || !strings.Contains(text, "the test says so") || !strings.Contains(text, `"-3.5"`) || !strings.Contains(text, `"complete":false`) {
		t.Errorf("a house that is away is asked: %v, %s", took, home.Clip(text, 1500))
	}
}

// TestWhy turns on the guest mode and asks what happened and why.
func TestWhy(t *testing.T) {
	r := newRig(t)
	before := r.House.View().Seq()
	r.sim.Set("input_boolean.guest_mode", "on", nil)
	r.await(t, "the automation", func(v *mirror.View) bool {
		return v.Seq() > before && v.State("light.kitchen_lights").Context.Parent != ""
	})
	for _, c := range []struct{ tool, args, want string }{
		{"journal_query", `{"entity_id":["input_boolean.guest_mode"]}`, `"new":"on"`},
		{"journal_query", `{"kinds":["automation"]}`, `automation.guests_make_the_kitchen_bright`},
		{"journal_query", `{"pattern":"light.*","from":"1h","limit":1}`, `"next":`},
		{"journal_query", `{"group_by":"kind"}`, `"groups":[{"key":`},
		{"journal_query", `{"entity_id":["light.nowhere"]}`, `not_found: no entity "light.nowhere"`},
		{"journal_query", `{"from":"whenever"}`, `invalid: "whenever" is not a time`},
		{"journal_query", `{"entity_id":["lock.front_door"],"state":"jammed"}`, `"note":"nothing`},
		{"journal_why", `{"entity_id":"Kitchen Lights"}`, `Guests make the kitchen bright`},
		{"journal_why", `{"entity_id":"light.kitchen_lights","depth":1,"direction":"causes"}`, `"role":"this"`},
		{"journal_why", `{"context_id":"01NOSUCHCONTEXT"}`, `not_found: `},
		{"journal_why", `{"entity_id":"light.kichen_lights"}`, `Did you mean light.kitchen_lights (Kitchen Lights)`},
		{"journal_why", `{}`, `invalid: give either entity_id or context_id`},
		{"hearth_status", `{}`, `"verdict":"ok"`},
	} {
		if text := r.call(t, c.tool, c.args); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: no %s in %s", c.tool, c.args, c.want, home.Clip(text, 2500))
		}
	}
	var one, two struct {
		Rows []struct{ At string }
		Next string
	}
	first := r.call(t, "journal_query", `{"from":"1h","limit":2}`)
	if json.Unmarshal([]byte(first), &one) != nil || one.Next == "" || len(one.Rows) != 2 {
		t.Fatal(first)
	}
	second := r.call(t, "journal_query", `{"from":"1h","limit":2,"cursor":"`+one.Next+`"}`)
	if json.Unmarshal([]byte(second), &two) != nil || len(two.Rows) == 0 || two.Rows[0].At > one.Rows[1].At {
		t.Errorf("the second page is %s after %s", second, first)
	}
	if other := r.call(t, "journal_query", `{"from":"1h","limit":2,"domain":"light","cursor":"`+one.Next+`"}`); !strings.HasPrefix(other, "invalid: ") {
		t.Errorf("the cursor fits another filter: %s", other)
	}
}
