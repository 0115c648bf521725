package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"hearth/internal/home"
)

func testPolicy(rules ...Rule) *policy {
	return newPolicy(rules, func(string) *atomic.Int64 { return new(atomic.Int64) })
}

// TestPolicy_Thresholds holds the defaults, and every weakness of a policy that
// is blind to units, as a table: which of a row of numbers are kept.
func TestPolicy_Thresholds(t *testing.T) {
	for _, c := range []struct {
		name, id, class, unit string
		values, kept          string
	}{
		{"power in W", "sensor.plug", "power", "W", "100 149 150 120 199 200", "100 150 200"},
		{"power in kW is not blind", "sensor.heat_pump", "power", "kW", "1.2 1.24 1.25 1.2 49", "1.2 1.25 1.2 49"},
		{"power by unit alone", "sensor.x", "", "kW", "1 1.04 1.05", "1 1.05"},
		{"power in mW", "sensor.x", "power", "mW", "0 49999 50000", "0 50000"},
		{"energy in kWh", "sensor.meter", "energy", "kWh", "5 5.009 5.01", "5 5.01"},
		{"energy in Wh does not pass on every tick", "sensor.meter", "energy", "Wh", "5000 5001 5009 5010", "5000 5010"},
		{"energy in MWh", "sensor.meter", "energy", "MWh", "1 1.000009 1.00001", "1 1.00001"},
		{"voltage in V", "sensor.mains", "voltage", "V", "230 231.9 232", "230 232"},
		{"voltage in mV", "sensor.cell", "voltage", "mV", "230000 231900 232000", "230000 232000"},
		{"a cell's voltage moves by 5 %", "sensor.cell", "voltage", "V", "3 2.9 2.85", "3 2.85"},
		{"current", "sensor.amps", "current", "mA", "100 110 299 300", "100 300"},
		{"°C", "sensor.t", "temperature", "°C", "20 20.4 20.5 20.1 20", "20 20.5 20"},
		{"°F", "sensor.t", "temperature", "°F", "68 68.8 68.9", "68 68.9"},
		{"K", "sensor.t", "temperature", "K", "293 293.4 293.5", "293 293.5"},
		{"temperature without a class", "sensor.t", "", "°C", "20 20.4 20.5", "20 20.5"},
		{"humidity", "sensor.h", "humidity", "%", "50 51 52 51", "50 52"},
		{"illuminance is relative", "sensor.lux", "illuminance", "lx", "100 109 110 0 0.05 0.1 0.2", "100 110 0 0.1 0.2"},
		{"CO₂ noise", "sensor.co2", "carbon_dioxide", "ppm", "600 601 602 625", "600 625"},
		{"battery", "sensor.phone_battery", "battery", "%", "80 79 78 75", "80 75"},
		{"a person's number has no deadband", "number.volume", "", "%", "50 51 52", "50 51 52"},
		{"a helper has none", "input_number.target", "", "°C", "20 20.1", "20 20.1"},
		{"pressure", "sensor.p", "atmospheric_pressure", "hPa", "1013 1013.9 1014", "1013 1014"},
		{"pressure in inHg", "sensor.p", "atmospheric_pressure", "inHg", "29.92 29.94 29.95", "29.92 29.95"},
		{"sound pressure is kept", "sensor.street", "sound_pressure", "dB", "50 54 55", "50 55"},
		{"dB without a class is sound", "sensor.street", "", "dB", "50 54 55", "50 55"},
		{"signal strength is not", "sensor.ap", "signal_strength", "dB", "-50 -90", ""},
		{"dBm", "sensor.ap", "", "dBm", "-50 -90", ""},
		{"suffix", "sensor.lamp_lqi", "", "", "10 200", ""},
		{"suffix with one number", "sensor.lamp_lqi_2", "", "", "10 200", ""},
		{"suffix with two", "sensor.lamp_linkquality_lqi_2_3", "", "", "10 200", ""},
		{"a name that only looks like it", "sensor.lqi_room", "", "", "10 11", "10 11"},
		{"the clock", "sensor.time", "", "", "12:00 12:01", ""},
		{"date and time", "sensor.date_time_utc", "", "", "a b", ""},
		{"images", "image.door", "", "", "a b", ""},
		{"words pass", "sensor.mode", "", "W", "idle busy", "idle busy"},
		{"slow drift adds up", "sensor.t", "temperature", "°C", "20 20.2 20.4 20.6 20.8", "20 20.6"},
		{"below zero", "sensor.p", "power", "W", "-100 -149 -150 0", "-100 -150 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &Journal{}
			e := &entity{seeded: true, decision: testPolicy().decide(traits{home.EntityID(c.id), c.class, c.unit})}
			var kept []string
			old := "start"
			for v := range strings.FieldsSeq(c.values) {
				if j.worth(e, old, v) {
					kept = append(kept, v)
				}
				old = v
			}
			if got := strings.Join(kept, " "); got != c.kept {
				t.Errorf("kept %q, want %q", got, c.kept)
			}
		})
	}
}

func TestPolicy_Attributes(t *testing.T) {
	for _, c := range []struct{ id, old, now, want string }{
		{"climate.x", `{"temperature":20,"current_temperature":19}`, `{"temperature":21,"current_temperature":18}`, `{"temperature":21}`},
		{"climate.x", `{"hvac_action":"idle"}`, `{"hvac_action":"heating","preset_mode":"eco"}`, `{"hvac_action":"heating","preset_mode":"eco"}`},
		{"climate.x", `{"current_temperature":19}`, `{"current_temperature":18}`, ``},
		{"cover.x", `{"current_position":0,"current_tilt_position":5}`, `{"current_position":40,"current_tilt_position":5}`, `{"current_position":40}`},
		{"light.x", `{"brightness":1,"hs_color":[1,2]}`, `{"brightness":1,"hs_color":[3,2.5]}`, `{"hs_color":[3,2.5]}`},
		{"light.x", `{"brightness":1}`, `{}`, `{"brightness":null}`},
		{"light.x", `{"brightness":null}`, `{}`, ``},
		{"fan.x", `{"percentage":33}`, `{"percentage":66}`, `{"percentage":66}`},
		{"media_player.x", `{"media_title":"a \"b\" c","media_position":1}`, `{"media_title":"d","media_position":2}`, `{"media_title":"d"}`},
		{"media_player.x", `{"media_position":1}`, `{"media_position":2}`, ``},
		{"lock.x", `{"changed_by":"Anna"}`, `{"changed_by":"Ben"}`, `{"changed_by":"Ben"}`},
		{"alarm_control_panel.x", `{}`, `{"changed_by":"Ben"}`, `{"changed_by":"Ben"}`},
		{"person.x", `{"in_zones":[]}`, `{"in_zones":["zone.work"]}`, `{"in_zones":["zone.work"]}`},
		{"sun.sun", `{"elevation":1}`, `{"elevation":2}`, ``},
		{"automation.x", `{"last_triggered":"a"}`, `{"last_triggered":"b"}`, ``},
	} {
		d := testPolicy().decide(traits{id: home.EntityID(c.id)})
		if got := string(changed([]byte(c.old), []byte(c.now), d.attrs)); got != c.want {
			t.Errorf("%s %s → %s: %q, want %q", c.id, c.old, c.now, got, c.want)
		}
	}
}

func TestPolicy_OwnRulesComeFirst(t *testing.T) {
	p := testPolicy(Rule{Name: "mine", Entities: []string{"sensor.pool_*"}, Verdict: Keep},
		Rule{Name: "heat", Domains: []string{"climate"}, Verdict: Attributes, Attributes: []string{"current_temperature"}})
	if d := p.decide(traits{"sensor.pool_power", "power", "W"}); d.verdict != Keep {
		t.Errorf("%+v", d)
	}
	if d := p.decide(traits{id: "climate.x"}); len(d.attrs) != 1 || d.attrs[0] != "current_temperature" {
		t.Errorf("%+v", d)
	}
}

func TestRule_Check(t *testing.T) {
	for i, r := range []Rule{
		{}, {Name: "x"}, {Name: "x", Verdict: "sometimes"}, {Name: "x", Verdict: Deadband}, {Name: "x", Verdict: Attributes},
		{Name: "x", Verdict: Attributes, Attributes: make([]string, 17)}, {Name: "x", Verdict: Deadband, By: -1},
	} {
		var he *home.Error
		if err := r.Check(); !errors.As(err, &he) || he.Hint == "" {
			t.Errorf("rule %d: %v", i, err)
		}
	}
	names := map[string]bool{}
	for _, r := range Defaults() {
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		if names[r.Name] {
			t.Errorf("two rules are called %s", r.Name)
		}
		names[r.Name] = true
		if d, _ := unitOf(r.Unit); r.Unit != "" && d == noDimension {
			t.Errorf("rule %s has an unknown unit %s", r.Name, r.Unit)
		}
	}
}

func TestBare(t *testing.T) {
	for in, want := range map[string]string{"sensor.A_LQI_2_3": "sensor.a_lqi", "sensor.x_2a": "sensor.x_2a", "sensor.x_": "sensor.x_", "2_3": "2", "": ""} {
		if got := bare(in); got != want {
			t.Errorf("%q → %q, want %q", in, got, want)
		}
	}
}

func TestTriggerEntity(t *testing.T) {
	for in, want := range map[string]home.EntityID{
		"state of light.kitchen":                             "light.kitchen",
		"State of Light.Kitchen":                             "light.kitchen",
		"numeric state of sensor.temp_2":                     "sensor.temp_2",
		"binary_sensor.door via template":                    "binary_sensor.door",
		"time change or manual update via template":          "",
		"person.anna entering Work":                          "person.anna",
		"device_tracker.phone leaving The entering of light": "device_tracker.phone",
		"time set in input_datetime.wake_up":                 "input_datetime.wake_up",
		"persistent_notification - update.hass":              "update.hass",
		"geo_location - some source":                         "",
		"time":                                               "",
		"time pattern":                                       "",
		"event 'state of mind'":                              "",
		"mqtt topic a/b.c":                                   "",
		"sunset":                                             "",
		"Home Assistant starting":                            "",
		"":                                                   "",
	} {
		if got := triggerEntity(in); got != want {
			t.Errorf("%q → %q, want %q", in, got, want)
		}
	}
}

// A rule of a person's own is converted to the unit of the entity it fits, for
// every dimension.
func TestPolicy_ConvertsTheUnitsOfRules(t *testing.T) {
	for _, c := range []struct {
		rule, unit string
		by, want   float64
	}{
		{"MB/s", "kB/s", 1, 1000}, {"Mbit/s", "B/s", 8, 1e6}, {"KiB/s", "B/s", 1, 1024}, {"GB", "MB", 2, 2000}, {"GiB", "MiB", 1, 1024},
		{"mm/h", "in/h", 25.4, 1}, {"mm/d", "mm/h", 24, 1}, {"W", "kW", 50, 0.05}, {"km", "mi", 1.609344, 1}, {"m³/h", "L/min", 6, 100},
	} {
		d := testPolicy(Rule{Name: "own", Units: []string{c.rule}, Verdict: Deadband, By: c.by, Unit: c.rule}).decide(traits{id: "sensor.x", unit: c.unit})
		if d.verdict != Deadband || d.by < c.want*0.999 || d.by > c.want*1.001 {
			t.Errorf("%g %s is %g %s, want %g", c.by, c.rule, d.by, c.unit, c.want)
		}
	}
}

func FuzzTriggerEntity(f *testing.F) {
	for _, s := range []string{"state of light.kitchen", "sensor.x via template", "person.a entering b", "time set in x.y", "ж - a.b", "state of ."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id := triggerEntity(s); id != "" && (!id.Valid() || !strings.Contains(strings.ToLower(s), string(id))) {
			t.Errorf("%q → %q", s, id)
		}
	})
}

func FuzzChanged(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[1,{"c":"}"}],"d":"x\"y"}`, `{`, `{"a"`, `{"a":}`, `[]`, ``, `{"a":{"b":[}`, ` { "k" : null } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out := changed(b, []byte(`{"a":2}`), []string{"a", "b"})
		if out != nil && json.Valid(b) && !json.Valid(out) {
			t.Errorf("%q: %q is no JSON", b, out)
		}
	})
}

func TestContextPacking(t *testing.T) {
	for _, id := range []string{"01M8PHPZVATRGA3VNRQKBFVJX7", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "00000000000000000000000000",
		"8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01m8phpzvatrga3vnrqkbfvjx7", "01M8PHPZVATRGA3VNRQKBFVJXU", "7b1c18bd41344e3d8fcb7776e3a27e0a", "x", ""} {
		p := packContext(id)
		if got := unpackContext(p); got != id {
			t.Errorf("%q came back as %q", id, got)
		}
		if b, ok := p.([]byte); ok != (len(id) == 26 && id[0] < '8' && strings.ToUpper(id) == id && !strings.Contains(id, "U")) || (ok && len(b) != 16) {
			t.Errorf("%q packed as %v", id, p)
		}
	}
	if got := fmt.Sprint(packContext("")); got != "<nil>" {
		t.Error(got)
	}
}
