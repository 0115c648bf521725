package toolbox

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// maxBundles is how many different absolute calls a relative one may become;
// beyond, hundreds of single commands would flood a radio mesh.
const maxBundles = 8

// relative turns a relative service into absolute ones where the state is
// known; ok is false for services that are not relative.
func (r *request) relative(sent []home.EntityID) ([]home.Step, bool) {
	to := r.absolute()
	if to == nil {
		return nil, false
	}
	var b bundles
	rest := 0
	for _, id := range r.members(sent) {
		s := r.v.State(id)
		service, data, ok := "", map[string]json.RawMessage(nil), false
		if s.Available() {
			service, data, ok = to(s)
		}
		if !ok {
			service, data = r.name, r.data
			rest++
		}
		b.add(service, data, id)
	}
	if len(b.list) == 0 {
		return nil, false
	}
	if len(b.list) > maxBundles {
		r.note(fmt.Sprintf("sent as a relative step: %d different values would be %d calls", len(b.list), len(b.list)))
		return nil, false
	}
	if rest > 0 {
		r.note(fmt.Sprintf("the state of %d is not known, so the relative step is sent for them", rest))
	}
	steps := b.steps(r)
	for i, s := range steps {
		if b.list[i].service != r.name || string(s.Call.Data) != "" && rest == 0 {
			r.note(strings.TrimSpace("counted from what is shown, the step is sent as " + s.Call.Name() + " " + home.Clip(string(s.Call.Data), 120)))
		}
	}
	return steps, true
}

// members takes group entities apart: each member has a state of its own.
func (r *request) members(sent []home.EntityID) []home.EntityID {
	var out []home.EntityID
	for _, id := range sent {
		if id.Domain() != "group" {
			out = append(out, id)
			continue
		}
		for _, m := range r.leaves(id) {
			if r.touches(r.svc.Domain, m) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// absolute gives the function that makes a relative service absolute for one
// state, nil for a service that is not relative.
func (r *request) absolute() func(*home.State) (string, map[string]json.RawMessage, bool) {
	d := r.svc.Domain
	switch r.name {
	case "light.turn_on":
		_, a := r.data["brightness_step"]
		_, b := r.data["brightness_step_pct"]
		if a || b {
			return r.dim
		}
	case "media_player.volume_up":
		return volume(+0.1)
	case "media_player.volume_down":
		return volume(-0.1)
	case "media_player.media_play_pause":
		return func(s *home.State) (string, map[string]json.RawMessage, bool) {
			switch s.Value {
			case "playing":
				return "media_player.media_pause", nil, true
			case "paused":
				return "media_player.media_play", nil, true
			}
			return "", nil, false
		}
	case "input_number.increment", "counter.increment":
		return increment(d, "step", +1)
	case "input_number.decrement", "counter.decrement":
		return increment(d, "step", -1)
	case "fan.increase_speed":
		return r.speed(+1)
	case "fan.decrease_speed":
		return r.speed(-1)
	case "select.select_next", "input_select.select_next":
		return r.option(+1)
	case "select.select_previous", "input_select.select_previous":
		return r.option(-1)
	}
	return nil
}

// dim is a brightness step from the brightness seen; a light that is off starts at 0.
func (r *request) dim(s *home.State) (string, map[string]json.RawMessage, bool) {
	now, ok := attrNumber(s, "brightness")
	if !ok && s.Value == "on" {
		return "", nil, false
	}
	step, ok := number(r.data["brightness_step"])
	if pct, okPct := number(r.data["brightness_step_pct"]); okPct {
		step, ok = pct*255/100, true
	}
	if !ok {
		return "", nil, false
	}
	data := without(r.data, "brightness_step", "brightness_step_pct")
	to := math.Round(min(255, max(0, now+step)))
	if to == 0 {
		off := map[string]json.RawMessage{}
		if t, ok := data["transition"]; ok {
			off["transition"] = t
		}
		return "light.turn_off", off, true
	}
	data["brightness"] = raw(to)
	return "light.turn_on", data, true
}

// volume is a step of Home Assistant's usual tenth from the volume seen.
func volume(step float64) func(*home.State) (string, map[string]json.RawMessage, bool) {
	return func(s *home.State) (string, map[string]json.RawMessage, bool) {
		now, ok := attrNumber(s, "volume_level")
		features, _ := attrNumber(s, "supported_features")
		if !ok || int(features)&4 == 0 { // 4: the volume can be set
			return "", nil, false
		}
		to := math.Round(min(1, max(0, now+step))*100) / 100
		return "media_player.volume_set", map[string]json.RawMessage{"volume_level": raw(to)}, true
	}
}

// increment is one step of a number within its limits.
func increment(domain, step string, sign float64) func(*home.State) (string, map[string]json.RawMessage, bool) {
	return func(s *home.State) (string, map[string]json.RawMessage, bool) {
		now, err := strconv.ParseFloat(s.Value, 64)
		by, ok := attrNumber(s, step)
		if err != nil || !ok {
			return "", nil, false
		}
		to := now + sign*by
		for _, k := range []string{"min", "minimum"} {
			if lo, ok := attrNumber(s, k); ok {
				to = max(to, lo)
			}
		}
		for _, k := range []string{"max", "maximum"} {
			if hi, ok := attrNumber(s, k); ok {
				to = min(to, hi)
			}
		}
		return domain + ".set_value", map[string]json.RawMessage{"value": raw(math.Round(to*1e6) / 1e6)}, true
	}
}

// speed is one step of a fan from the percentage seen.
func (r *request) speed(sign float64) func(*home.State) (string, map[string]json.RawMessage, bool) {
	return func(s *home.State) (string, map[string]json.RawMessage, bool) {
		now, ok := attrNumber(s, "percentage")
		if s.Value == "off" {
			now, ok = 0, true
		}
		step, okStep := number(r.data["percentage_step"])
		if !okStep {
			step, okStep = attrNumber(s, "percentage_step")
		}
		if !ok || !okStep {
			return "", nil, false
		}
		to := math.Round(min(100, max(0, now+sign*step)))
		return "fan.set_percentage", map[string]json.RawMessage{"percentage": raw(to)}, true
	}
}

// option is the neighbour of the option that is chosen.
func (r *request) option(by int) func(*home.State) (string, map[string]json.RawMessage, bool) {
	return func(s *home.State) (string, map[string]json.RawMessage, bool) {
		options := attrTexts(s, "options")
		at := slices.Index(options, s.Value)
		if at < 0 {
			return "", nil, false
		}
		if at += by; at < 0 || at >= len(options) {
			if string(r.data["cycle"]) == "false" {
				at -= by
			}
			at = (at + len(options)) % len(options)
		}
		opt, _ := json.Marshal(options[at]) // a string cannot fail
		return s.ID.Domain() + ".select_option", map[string]json.RawMessage{"option": opt}, true
	}
}

// number reads a JSON number, or a number that was sent as text.
func number(v json.RawMessage) (float64, bool) {
	text, ok := mirror.Unquote(v)
	if !ok {
		text = string(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func raw(f float64) json.RawMessage {
	return json.RawMessage(strconv.FormatFloat(f, 'f', -1, 64))
}
