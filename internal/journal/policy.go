package journal

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"hearth/internal/home"
)

// Verdict says what a Rule does with what it fits. The zero value is invalid.
type Verdict string

// The verdicts.
const (
	Keep       Verdict = "keep"       // every new value is kept
	Drop       Verdict = "drop"       // no value is kept; availability still is
	Deadband   Verdict = "deadband"   // numbers are kept when they moved far enough from the last one kept
	Attributes Verdict = "attributes" // changes of the named attributes are kept, with the value or alone
)

// Rule is one line of the capture policy. A rule fits an entity when each of
// Entities, Domains and Suffixes that is set fits, Except does not, and, when
// Classes or Units are set, one of them does. The first fitting rule with the
// verdict Keep, Drop or Deadband decides about values; the first fitting one
// with Attributes about attributes. What no rule fits is kept.
type Rule struct {
	Name       string   `yaml:"name" help:"names the rule and its counter journal.filtered.<name>"`
	Entities   []string `yaml:"entities,omitempty" help:"globs on the entity id, such as sensor.pool_*"`
	Domains    []string `yaml:"domains,omitempty" help:"domains, such as sensor"`
	Suffixes   []string `yaml:"suffixes,omitempty" help:"ends of the entity id, not counting a trailing _2 or _2_3"`
	Classes    []string `yaml:"classes,omitempty" help:"device classes, such as power"`
	Units      []string `yaml:"units,omitempty" help:"units; every unit that converts to one of them fits"`
	Except     []string `yaml:"except,omitempty" help:"device classes the rule does not fit"`
	Verdict    Verdict  `yaml:"verdict" help:"keep, drop, deadband or attributes"`
	By         float64  `yaml:"by,omitempty" help:"deadband: how far a number must move, in unit"`
	Unit       string   `yaml:"unit,omitempty" help:"deadband: the unit of by, converted to the entity's own"`
	Relative   float64  `yaml:"relative,omitempty" help:"deadband: or how far in parts of the last kept value; 0.1 is 10 %"`
	Attributes []string `yaml:"attributes,omitempty" help:"attributes: names of the attributes whose changes are kept, at most 16"`
}

// Check reports what is wrong with the rule, nil when nothing is.
func (r *Rule) Check() error {
	var wrong string
	switch {
	case r.Name == "":
		wrong = "has no name"
	case !slices.Contains([]Verdict{Keep, Drop, Deadband, Attributes}, r.Verdict):
		wrong = fmt.Sprintf("has the verdict %q", home.Clip(string(r.Verdict), 40))
	case r.Verdict == Deadband && !(r.By > 0 || r.Relative > 0):
		wrong = "is a deadband without by or relative above 0"
	case r.Verdict == Attributes && (len(r.Attributes) == 0 || len(r.Attributes) > maxAttributes):
		wrong = fmt.Sprintf("names %d attributes", len(r.Attributes))
	default:
		return nil
	}
	return home.Errorf(home.Invalid, "the capture rule %q %s", home.Clip(r.Name, 40), wrong).
		WithHint("a rule has a name, a verdict (keep, drop, deadband, attributes), for a deadband by or relative, for attributes 1 to %d names", maxAttributes)
}

// Defaults is the policy that applies after the configured rules.
func Defaults() []Rule {
	return slices.Concat(noise(), deadbands(), attributes())
}

// noise is what is never worth a row.
func noise() []Rule {
	return []Rule{
		{Name: "image", Domains: []string{"image"}, Verdict: Drop},
		{Name: "clock", Entities: []string{"sensor.time", "sensor.time_*", "sensor.date", "sensor.date_time*", "sensor.internet_time"}, Verdict: Drop},
		{Name: "radio_suffix", Suffixes: []string{"_lqi", "_signal_strength", "_rssi", "_bssid", "_ssid", "_last_update_trigger", "_audio_output", "_link_quality", "_snr"}, Verdict: Drop},
		{Name: "radio", Classes: []string{"signal_strength"}, Units: []string{"dBm"}, Verdict: Drop},
		{Name: "counter_suffix", Suffixes: []string{"_summation_delivered", "_summation_received", "_cleaning_area", "_cleaning_time", "_cleaning_progress",
			"_filter_time_left", "_main_brush_time_left", "_side_brush_time_left", "_dock_strainer_time_left", "_sensor_dirty_time_left"}, Verdict: Drop},
	}
}

// deadbands are how far a measured number must move. They are for sensors
// only: what a person sets (numbers, helpers) is always kept.
func deadbands() []Rule {
	s := []string{"sensor"}
	return []Rule{
		{Name: "power", Domains: s, Classes: []string{"power"}, Units: []string{"W"}, Verdict: Deadband, By: 50, Unit: "W"},
		{Name: "energy", Domains: s, Classes: []string{"energy", "energy_storage"}, Units: []string{"kWh"}, Verdict: Deadband, By: 0.01, Unit: "kWh"},
		{Name: "voltage", Domains: s, Classes: []string{"voltage"}, Units: []string{"V"}, Verdict: Deadband, By: 2, Unit: "V", Relative: 0.05},
		{Name: "current", Domains: s, Classes: []string{"current"}, Units: []string{"A"}, Verdict: Deadband, By: 0.2, Unit: "A"},
		{Name: "apparent_power", Domains: s, Classes: []string{"apparent_power"}, Units: []string{"VA"}, Verdict: Deadband, By: 50, Unit: "VA"},
		{Name: "reactive_power", Domains: s, Classes: []string{"reactive_power"}, Units: []string{"var"}, Verdict: Deadband, By: 50, Unit: "var"},
		{Name: "power_factor", Domains: s, Classes: []string{"power_factor"}, Verdict: Deadband, Relative: 0.1},
		{Name: "battery", Domains: s, Classes: []string{"battery"}, Verdict: Deadband, By: 5, Unit: "%"},
		{Name: "humidity", Domains: s, Classes: []string{"humidity", "moisture"}, Verdict: Deadband, By: 2, Unit: "%"},
		{Name: "temperature", Domains: s, Classes: []string{"temperature", "temperature_delta"}, Units: []string{"°C"}, Verdict: Deadband, By: 0.5, Unit: "°C"},
		{Name: "illuminance", Domains: s, Classes: []string{"illuminance"}, Units: []string{"lx"}, Verdict: Deadband, Relative: 0.1},
		{Name: "irradiance", Domains: s, Classes: []string{"irradiance"}, Units: []string{"W/m²"}, Verdict: Deadband, Relative: 0.1},
		{Name: "gas_fraction", Domains: s, Classes: []string{"carbon_dioxide", "carbon_monoxide", "volatile_organic_compounds_parts"}, Units: []string{"ppm"}, Verdict: Deadband, By: 25, Unit: "ppm", Relative: 0.1},
		{Name: "particles", Domains: s, Classes: []string{"pm1", "pm25", "pm10", "pm4", "volatile_organic_compounds", "nitrogen_dioxide", "ozone"}, Units: []string{"µg/m³"}, Verdict: Deadband, By: 5, Unit: "µg/m³"},
		{Name: "air_quality", Domains: s, Classes: []string{"aqi"}, Verdict: Deadband, By: 5},
		{Name: "pressure", Domains: s, Classes: []string{"atmospheric_pressure", "pressure"}, Units: []string{"hPa"}, Verdict: Deadband, By: 1, Unit: "hPa"},
		{Name: "speed", Domains: s, Classes: []string{"speed", "wind_speed"}, Units: []string{"m/s"}, Verdict: Deadband, By: 1, Unit: "m/s"},
		{Name: "wind_direction", Domains: s, Classes: []string{"wind_direction"}, Verdict: Deadband, By: 20},
		{Name: "frequency", Domains: s, Classes: []string{"frequency"}, Units: []string{"Hz"}, Verdict: Deadband, Relative: 0.01},
		{Name: "sound", Domains: s, Classes: []string{"sound_pressure"}, Units: []string{"dB"}, Verdict: Deadband, By: 5},
		{Name: "water", Domains: s, Classes: []string{"water", "gas", "volume", "volume_storage"}, Units: []string{"m³"}, Verdict: Deadband, By: 0.01, Unit: "m³"},
		{Name: "flow", Domains: s, Classes: []string{"volume_flow_rate"}, Units: []string{"L/min"}, Verdict: Deadband, By: 1, Unit: "L/min"},
		{Name: "data_rate", Domains: s, Classes: []string{"data_rate"}, Units: []string{"B/s"}, Verdict: Deadband, Relative: 0.5},
		{Name: "data_size", Domains: s, Classes: []string{"data_size"}, Units: []string{"B"}, Verdict: Deadband, Relative: 0.05},
		{Name: "distance", Domains: s, Classes: []string{"distance"}, Units: []string{"m"}, Verdict: Deadband, Relative: 0.1},
		{Name: "duration", Domains: s, Classes: []string{"duration"}, Units: []string{"s"}, Verdict: Deadband, Relative: 0.1},
		{Name: "weight", Domains: s, Classes: []string{"weight"}, Units: []string{"kg"}, Verdict: Deadband, Relative: 0.01},
		{Name: "percent", Domains: s, Units: []string{"%"}, Verdict: Deadband, By: 2, Unit: "%"},
	}
}

// attributes are the changes that matter although the value may stay.
func attributes() []Rule {
	rule := func(domain string, names ...string) Rule {
		return Rule{Name: domain + "_attributes", Domains: []string{domain}, Verdict: Attributes, Attributes: names}
	}
	return []Rule{
		rule("climate", "temperature", "target_temp_high", "target_temp_low", "humidity", "hvac_action", "preset_mode", "fan_mode", "swing_mode", "swing_horizontal_mode"),
		rule("water_heater", "temperature", "target_temp_high", "target_temp_low", "operation_mode", "away_mode"),
		rule("humidifier", "humidity", "mode", "action"),
		rule("cover", "current_position", "current_tilt_position"),
		rule("valve", "current_position"),
		rule("light", "brightness", "color_mode", "color_temp_kelvin", "hs_color", "rgbw_color", "rgbww_color", "effect"),
		rule("fan", "percentage", "preset_mode", "oscillating", "direction"),
		rule("media_player", "source", "media_title", "media_artist", "app_name", "volume_level", "is_volume_muted", "sound_mode", "group_members"),
		rule("lock", "changed_by"),
		rule("alarm_control_panel", "changed_by"),
		rule("person", "in_zones"),
		rule("device_tracker", "in_zones"),
		rule("vacuum", "fan_speed", "status", "error"),
		rule("remote", "current_activity"),
		rule("update", "installed_version", "latest_version", "in_progress"),
		rule("event", "event_type"),
		rule("input_select", "options"),
		rule("calendar", "message"),
		rule("group", "entity_id"),
	}
}

// policy is the rules made ready.
type policy struct {
	rules []readyRule
}

type readyRule struct {
	Rule
	dims     []dimension
	filtered *atomic.Int64
}

func newPolicy(extra []Rule, counter func(string) *atomic.Int64) *policy {
	p := &policy{}
	for _, r := range append(slices.Clone(extra), Defaults()...) {
		rr := readyRule{Rule: r, filtered: counter("journal.filtered." + r.Name)}
		for _, u := range r.Units {
			if d, _ := unitOf(u); d != noDimension {
				rr.dims = append(rr.dims, d)
			}
		}
		p.rules = append(p.rules, rr)
	}
	return p
}

// decision is what the policy says about one entity.
type decision struct {
	verdict  Verdict // Keep, Drop or Deadband
	filtered *atomic.Int64
	by       float64 // in the entity's own unit; 0: none
	relative float64
	attrs    []string
}

// traits are what rules look at.
type traits struct {
	id    home.EntityID
	class string
	unit  string
}

func (p *policy) decide(t traits) decision {
	d := decision{}
	base := bare(string(t.id))
	dim, factor := unitOf(t.unit)
	for i := range p.rules {
		r := &p.rules[i]
		isAttr := r.Verdict == Attributes
		if (isAttr && d.attrs != nil) || (!isAttr && d.verdict != "") || !r.fits(t, base, dim) {
			continue
		}
		if isAttr {
			d.attrs = r.Attributes
			continue
		}
		d.verdict, d.filtered, d.relative, d.by = r.Verdict, r.filtered, r.Relative, r.By
		if rd, rf := unitOf(r.Unit); rd == dim && dim != noDimension {
			d.by = r.By * rf / factor
		}
	}
	if d.verdict == "" {
		d.verdict = Keep
	}
	return d
}

func (r *readyRule) fits(t traits, base string, dim dimension) bool {
	if len(r.Domains) > 0 && !slices.Contains(r.Domains, t.id.Domain()) {
		return false
	}
	if len(r.Suffixes) > 0 && !slices.ContainsFunc(r.Suffixes, func(s string) bool { return strings.HasSuffix(base, s) }) {
		return false
	}
	if len(r.Entities) > 0 && !slices.ContainsFunc(r.Entities, func(g string) bool { ok, _ := path.Match(g, string(t.id)); return ok }) {
		return false
	}
	if slices.Contains(r.Except, t.class) && t.class != "" {
		return false
	}
	if len(r.Classes) == 0 && len(r.Units) == 0 {
		return true
	}
	return (t.class != "" && slices.Contains(r.Classes, t.class)) || slices.Contains(r.dims, dim) || (t.unit != "" && slices.Contains(r.Units, t.unit))
}

// bare removes every trailing _<digits> that Home Assistant adds to tell twins
// apart, in lower case.
func bare(id string) string {
	id = strings.ToLower(id)
	for {
		i := strings.LastIndexByte(id, '_')
		if i < 0 || i == len(id)-1 || strings.Trim(id[i+1:], "0123456789") != "" {
			return id
		}
		id = id[:i]
	}
}

// passes reports whether a number is far enough from the last one kept.
func (d *decision) passes(last, now float64) bool {
	delta := now - last
	if delta < 0 {
		delta = -delta
	}
	if d.by > 0 && delta >= d.by*(1-1e-9) { // 20.5 − 20.0 must reach 0.5 in floating point too
		return true
	}
	if last < 0 {
		last = -last
	}
	// A tenth of almost nothing is nothing: the base is at least 1.
	base := last
	if d.by == 0 {
		base = max(last, 1)
	}
	return d.relative > 0 && base > 0 && delta >= d.relative*base*(1-1e-9)
}
