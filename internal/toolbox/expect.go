package toolbox

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// expectation is what a leaf should show after a service. Where nothing can be
// seen it is Blind; where only a part of what was asked can be seen it is
// Loose, so that seeing it beforehand is not taken for having been done.
func expectation(domain, service string, data map[string]json.RawMessage, s *home.State) home.Expect {
	leaf := s.ID.Domain()
	if domain == "homeassistant" {
		domain = leaf
	}
	if leaf == "group" && (service == "turn_on" || service == "turn_off") { // members are out of sight
		return home.Expect{Entity: s.ID, States: []string{service[len("turn_"):]}, Loose: service == "turn_on"}
	}
	x := &wish{data: data, s: s, Expect: home.Expect{Entity: s.ID, Assumed: attrTrue(s, "assumed_state")}}
	known := false
	if domain == leaf {
		known = x.byDomain(domain, service) || x.onOff(domain, service)
	}
	if !known || len(x.States) == 0 && len(x.Attrs) == 0 {
		return home.Expect{Entity: s.ID, Blind: true}
	}
	x.unseen()
	return x.Expect
}

// wish is an expectation in the making.
type wish struct {
	home.Expect
	data map[string]json.RawMessage
	s    *home.State
	seen map[string]bool // keys of data that the expectation covers

	colour string // the key of data that Proof shows
}

// unseen notes the keys of data that neither the state nor an attribute covers:
// media, a duration, or a value that is none. A colour that can be compared is
// one of them too, but has its proof, which counts only when it shows all.
func (x *wish) unseen() {
	for k := range x.data {
		if x.seen[k] || k == "transition" || k == "code" {
			continue
		}
		x.Unseen = append(x.Unseen, k)
		if k != x.colour {
			x.Loose = true
		}
	}
	slices.Sort(x.Unseen)
	if x.Loose {
		x.Proof, x.Near = nil, 0
	}
}

// covers notes that the expectation shows whether a key of data was done.
func (x *wish) covers(key string) {
	if x.seen == nil {
		x.seen = map[string]bool{}
	}
	x.seen[key] = true
}

func (x *wish) state(reached ...string) *wish { x.States = reached; return x }
func (x *wish) moving(on ...string) *wish     { x.Moving = on; return x }

// attr expects an attribute to be v.
func (x *wish) attr(name string, v json.RawMessage) {
	if x.Attrs == nil {
		x.Attrs = map[string]json.RawMessage{}
	}
	x.Attrs[name] = v
}

// same expects the attribute to become the value of a key of data, numbers
// within some distance. Without the key nothing is expected.
func (x *wish) same(attribute, key string, within float64) {
	v, ok := x.data[key]
	if !ok {
		return
	}
	if f, isNumber := number(v); isNumber {
		v = raw(f)
	}
	x.attr(attribute, v)
	x.covers(key)
	x.Within = max(x.Within, within)
}

func (x *wish) has(attribute string) bool { _, ok := attrNumber(x.s, attribute); return ok }

// onOff is what turn_on and turn_off mean in domains without more to say.
func (x *wish) onOff(domain, service string) bool {
	on := []string{"on"}
	switch domain {
	case "switch", "input_boolean", "siren", "humidifier", "automation", "remote", "light", "fan":
	case "media_player":
		on = []string{"on", "idle", "playing", "paused", "buffering", "standby"}
	case "climate":
		on = slices.DeleteFunc(attrTexts(x.s, "hvac_modes"), func(m string) bool { return m == "off" })
	case "water_heater":
		on = slices.DeleteFunc(attrTexts(x.s, "operation_list"), func(m string) bool { return m == "off" })
	default:
		return false
	}
	switch service {
	case "turn_on":
		x.state(on...)
	case "turn_off":
		x.state("off")
		if domain == "media_player" {
			x.state("off", "standby")
		}
	default:
		return false
	}
	return true
}

func (x *wish) byDomain(domain, service string) bool {
	switch domain {
	case "light":
		return x.light(service)
	case "lock":
		return x.lock(service)
	case "cover", "valve":
		return x.cover(domain, service)
	case "climate", "water_heater", "humidifier":
		return x.climate(service)
	case "fan":
		return x.fan(service)
	case "media_player":
		return x.media(service)
	case "number", "input_number", "counter", "text", "input_text", "select", "input_select", "input_datetime":
		return x.helper(service)
	case "vacuum", "lawn_mower", "alarm_control_panel", "timer":
		return x.machine(service)
	}
	return false
}

func (x *wish) light(service string) bool {
	if service != "turn_on" {
		return false
	}
	x.state("on")
	if b, ok := brightnessOf(x.data, x.s); ok && can(x.s, "brightness") {
		x.covers("brightness")
		x.covers("brightness_pct")
		if b <= 0 {
			x.state("off")
			return true
		}
		x.attr("brightness", raw(b))
		x.Within = 3 // one distance for a temperature too would be no check: that is for proof
	} else if slices.Contains(attrTexts(x.s, "supported_color_modes"), "color_temp") {
		x.same("color_temp_kelvin", "color_temp_kelvin", 60)
		if k, ok := x.kelvinShown(); ok {
			x.attr("color_temp_kelvin", raw(k))
		}
	}
	if can(x.s, "effect") {
		x.same("effect", "effect", 0)
	}
	x.shade()
	return true
}

// kelvinShown is the colour temperature that is shown, where it is what was
// asked after Home Assistant's own way to mired and back, which many lamps
// count in: who asked for 3000 K and sees 3003 K has it.
func (x *wish) kelvinShown() (float64, bool) {
	asked, ok := number(x.data["color_temp_kelvin"])
	shown, has := attrNumber(x.s, "color_temp_kelvin")
	if !ok || !has || asked <= 0 {
		return 0, false
	}
	for _, mired := range []float64{math.Floor(1e6 / asked), math.RoundToEven(1e6 / asked)} {
		if mired > 0 && (shown == math.Floor(1e6/mired) || shown == math.RoundToEven(1e6/mired)) {
			return shown, true
		}
	}
	return 0, false
}

func (x *wish) lock(service string) bool {
	switch service {
	case "lock":
		x.state("locked").moving("locking")
	case "unlock":
		x.state("unlocked").moving("unlocking")
	case "open":
		x.state("open").moving("opening")
	default:
		return false
	}
	return true
}

// cover expects positions where the cover reports one: "open" alone also
// stands for half open.
func (x *wish) cover(domain, service string) bool {
	switch service {
	case "open_" + domain:
		x.state("open").moving("opening")
		if x.has("current_position") {
			x.attr("current_position", raw(100))
			x.Within = 1
		} else {
			x.Loose = true
		}
	case "close_" + domain:
		x.state("closed").moving("closing")
	case "stop_" + domain:
		x.state("open", "closed")
	case "set_cover_position", "set_valve_position":
		if !x.has("current_position") {
			return false
		}
		x.state("open", "closed").moving("opening", "closing")
		x.same("current_position", "position", 3)
	case "open_cover_tilt", "close_cover_tilt":
		if !x.has("current_tilt_position") {
			return false
		}
		x.attr("current_tilt_position", raw(map[bool]float64{true: 100}[service == "open_cover_tilt"]))
	case "set_cover_tilt_position":
		if !x.has("current_tilt_position") {
			return false
		}
		x.same("current_tilt_position", "tilt_position", 3)
	default:
		return false
	}
	return true
}

func (x *wish) climate(service string) bool {
	step, ok := attrNumber(x.s, "target_temp_step")
	if !ok {
		step = 0.5
	}
	switch service {
	case "set_temperature":
		x.same("temperature", "temperature", step/2+0.01)
		x.same("target_temp_low", "target_temp_low", step/2+0.01)
		x.same("target_temp_high", "target_temp_high", step/2+0.01)
		x.toText("hvac_mode", "operation_mode")
	case "set_hvac_mode":
		x.toText("hvac_mode")
	case "set_operation_mode":
		x.toText("operation_mode")
	case "set_preset_mode":
		x.same("preset_mode", "preset_mode", 0)
	case "set_fan_mode":
		x.same("fan_mode", "fan_mode", 0)
	case "set_swing_mode":
		x.same("swing_mode", "swing_mode", 0)
	case "set_swing_horizontal_mode":
		x.same("swing_horizontal_mode", "swing_horizontal_mode", 0)
	case "set_humidity":
		x.same("humidity", "humidity", 1)
	case "set_mode":
		x.same("mode", "mode", 0)
	default:
		return false
	}
	return true
}

// toText expects the state to become a text of data.
func (x *wish) toText(keys ...string) {
	for _, k := range keys {
		if t, ok := mirror.Unquote(x.data[k]); ok {
			x.state(t)
			x.covers(k)
		}
	}
}

func (x *wish) fan(service string) bool {
	step, ok := attrNumber(x.s, "percentage_step")
	if !ok || step < 1 {
		step = 1
	}
	within := math.Floor(step*49) / 100 // less than half a step: the next speed is another one
	switch service {
	case "turn_on", "set_percentage":
		if p, ok := number(x.data["percentage"]); ok && p == 0 {
			x.state("off")
			x.covers("percentage")
			return true
		}
		x.state("on")
		x.same("percentage", "percentage", within)
		x.same("preset_mode", "preset_mode", 0)
	case "set_preset_mode":
		x.same("preset_mode", "preset_mode", 0)
	case "oscillate":
		x.same("oscillating", "oscillating", 0)
	case "set_direction":
		x.same("direction", "direction", 0)
	default:
		return false
	}
	return true
}

func (x *wish) media(service string) bool {
	switch service {
	case "media_play":
		x.state("playing").moving("buffering")
	case "media_pause":
		x.state("paused")
	case "media_stop":
		x.state("idle", "off", "standby", "on")
	case "play_media":
		x.state("playing").moving("buffering")
		x.Loose = true
	case "volume_set":
		x.same("volume_level", "volume_level", 0.02)
	case "volume_mute":
		x.same("is_volume_muted", "is_volume_muted", 0)
	case "select_source":
		x.same("source", "source", 0)
	case "select_sound_mode":
		x.same("sound_mode", "sound_mode", 0)
	case "shuffle_set":
		x.same("shuffle", "shuffle", 0)
	case "repeat_set":
		x.same("repeat", "repeat", 0)
	default:
		return false
	}
	return true
}

// helper covers what holds one value of a person's choice. Numbers are expected
// in every spelling Home Assistant may show them in.
func (x *wish) helper(service string) bool {
	switch service {
	case "set_value":
		x.covers("value")
		f, isNumber := number(x.data["value"])
		if t, ok := mirror.Unquote(x.data["value"]); ok {
			x.state(t)
		}
		if domain := x.s.ID.Domain(); isNumber && domain != "text" && domain != "input_text" {
			x.state(slices.Compact([]string{
				strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'f', 1, 64), strconv.FormatFloat(f, 'f', 2, 64), strconv.FormatFloat(f, 'f', 3, 64),
			})...)
		}
	case "select_option":
		x.toText("option")
	case "select_first", "select_last":
		options := attrTexts(x.s, "options")
		if len(options) == 0 {
			return false
		}
		x.state(options[map[bool]int{true: len(options) - 1}[service == "select_last"]])
	case "reset":
		if v, ok := attrNumber(x.s, "initial"); ok {
			x.state(strconv.FormatFloat(v, 'f', -1, 64))
		}
	case "set_datetime":
		date, d := mirror.Unquote(x.data["date"])
		clock, c := mirror.Unquote(x.data["time"])
		both, b := mirror.Unquote(x.data["datetime"])
		for _, k := range []string{"date", "time", "datetime"} {
			x.covers(k)
		}
		if b {
			date, clock, _ = strings.Cut(strings.Replace(both, "T", " ", 1), " ")
			d, c = true, clock != ""
		}
		if len(clock) == len("15:04") {
			clock += ":00"
		}
		x.moment(date, clock, d, c)
	default:
		return false
	}
	return true
}

// moment expects of a date and a time what the helper keeps of them: one of
// the two, or both. What is spelt in another way than shown is not compared.
func (x *wish) moment(date, clock string, hasDate, hasClock bool) {
	hasDate = hasDate && len(date) == len("2006-01-02")
	hasClock = hasClock && len(clock) == len("15:04:05")
	switch keepsDate, keepsTime := attrTrue(x.s, "has_date"), attrTrue(x.s, "has_time"); {
	case keepsDate && keepsTime:
		if hasDate && hasClock {
			x.state(date + " " + clock)
		}
	case keepsTime && hasClock:
		x.state(clock)
	case keepsDate && hasDate:
		x.state(date)
	}
}

func (x *wish) machine(service string) bool {
	switch service {
	case "start", "start_mowing":
		switch x.s.ID.Domain() {
		case "vacuum":
			x.state("cleaning")
		case "lawn_mower":
			x.state("mowing")
		default:
			x.state("active")
			x.Loose = true // starting a running timer begins it anew
		}
	case "pause":
		x.state("paused")
		if x.s.ID.Domain() == "vacuum" {
			x.state("paused", "idle")
		}
	case "stop":
		x.state("idle", "docked", "paused")
	case "cancel", "finish":
		x.state("idle")
	case "return_to_base", "dock":
		x.state("docked").moving("returning")
	case "set_fan_speed":
		x.same("fan_speed", "fan_speed", 0)
	case "alarm_disarm":
		x.state("disarmed").moving("disarming")
	case "alarm_arm_home", "alarm_arm_away", "alarm_arm_night", "alarm_arm_vacation", "alarm_arm_custom_bypass":
		x.state("armed_"+service[len("alarm_arm_"):]).moving("arming", "pending")
	default:
		return false
	}
	return true
}
