package simhome

import (
	"fmt"
	"slices"
	"strings"
)

// invalid is a refusal of the kind Home Assistant calls a validation error.
func invalid(text, key, domain string, with map[string]any) *fault {
	return &fault{code: "service_validation_error", message: "Validation error: " + text, key: key, domain: domain, with: with}
}

// oneOf refuses a choice an entity does not offer, in the words of its domain.
func oneOf(h *House, id, attr, choice string) *fault {
	offered := texts2(h.attrs(id)[attr])
	if slices.Contains(offered, choice) {
		return nil
	}
	all := strings.Join(offered, ", ")
	modes := map[string]any{"mode": choice, "modes": all}
	option := map[string]any{"entity_id": id, "option": choice, "options": all}
	switch {
	case attr == "hvac_modes":
		return invalid("HVAC mode "+choice+" is not valid. Valid HVAC modes are: "+all, "not_valid_hvac_mode", "climate", modes)
	case attr == "fan_modes":
		return invalid("Fan mode "+choice+" is not valid. Valid fan modes are: "+all, "not_valid_fan_mode", "climate", modes)
	case attr == "preset_modes" && domainOf(id) == "fan":
		return invalid("Preset mode "+choice+" is not valid, valid preset modes are: "+all, "not_valid_preset_mode", "fan",
			map[string]any{"preset_mode": choice, "preset_modes": all})
	case attr == "preset_modes":
		return invalid("Preset mode "+choice+" is not valid. Valid preset modes are: "+all, "not_valid_preset_mode", domainOf(id), modes)
	case domainOf(id) == "input_select":
		return invalid("Option "+choice+" is not valid for "+id+". Valid options are: "+all, "invalid_option", "input_select", option)
	}
	return invalid("Option "+choice+" is not valid for entity "+id+", valid options are: "+all, "not_valid_option", "select", option)
}

// texts2 is a list as it is: no commas are split.
func texts2(v any) []string {
	var out []string
	if l, ok := v.([]any); ok {
		for _, x := range l {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// airDeeds are climate and humidifiers.
func airDeeds() map[string]deed {
	return join(onOff("humidifier"), map[string]deed{
		"climate.set_temperature": {each: setTemperature, feature: 3},
		"climate.set_hvac_mode":   {each: func(c *call, id string) *fault { return c.hvacMode(id, c.text("hvac_mode"), nil) }},
		"climate.set_fan_mode":    chooses("fan_mode", "fan_modes", 8),
		"climate.set_preset_mode": chooses("preset_mode", "preset_modes", 16),
		"climate.set_humidity":    {each: climateHumidity, feature: 4},
		"climate.turn_on":         {each: climateOn, feature: 256},
		"climate.turn_off":        shows("off", 128),
		"humidifier.set_humidity": sets("humidity", 0),
		"humidifier.set_mode":     sets("mode", 1),
	})
}

func (c *call) hvacMode(id, mode string, attrs map[string]any) *fault {
	if f := oneOf(c.h, id, "hvac_modes", mode); f != nil {
		return f
	}
	return c.show(id, mode, attrs)
}

func climateHumidity(c *call, id string) *fault {
	low, _ := number(c.h.attrs(id)["min_humidity"])
	high, _ := number(c.h.attrs(id)["max_humidity"])
	v, _ := c.num("humidity")
	if v < low || v > high {
		return invalid(fmt.Sprintf("Provided humidity %g is not valid. Accepted range is %g to %g", v, low, high), "humidity_out_of_range", "climate",
			map[string]any{"humidity": fmt.Sprintf("%g", v), "min_humidity": fmt.Sprintf("%g", low), "max_humidity": fmt.Sprintf("%g", high)})
	}
	return c.show(id, c.h.value(id), map[string]any{"humidity": int(v)})
}

func setTemperature(c *call, id string) *fault {
	h := c.h
	low, _ := number(h.attrs(id)["min_temp"])
	high, _ := number(h.attrs(id)["max_temp"])
	attrs := map[string]any{}
	for _, k := range []string{"temperature", "target_temp_low", "target_temp_high"} {
		t, ok := c.num(k)
		if ok && (t < low || t > high) {
			return invalid(fmt.Sprintf("Provided temperature %s is not valid. Accepted range is %g to %g", pythonFloat(t), low, high),
				"temp_out_of_range", "climate", map[string]any{"check_temp": pythonFloat(t), "min_temp": fmt.Sprintf("%g", low), "max_temp": fmt.Sprintf("%g", high)})
		}
		if ok {
			attrs[k] = t
		}
	}
	if m := c.text("hvac_mode"); m != "" {
		return c.hvacMode(id, m, attrs)
	}
	return c.show(id, h.value(id), attrs)
}

// climateOn picks the first of heat_cool, heat, cool the device has.
func climateOn(c *call, id string) *fault {
	for _, mode := range []string{"heat_cool", "heat", "cool"} {
		if c.hvacMode(id, mode, nil) == nil {
			return nil
		}
	}
	return nil
}

// mediaDeeds are the media players. Bits: pause 1, volume 4, mute 8, on 128,
// off 256, step 1024, source 2048, stop 4096, play 16384.
func mediaDeeds() map[string]deed {
	on, off := mediaState("playing", 128), mediaState("off", 256)
	return map[string]deed{
		"media_player.turn_on":       on,
		"media_player.turn_off":      off,
		"media_player.toggle":        toggles("off", on, off),
		"media_player.media_play":    mediaState("playing", 16384),
		"media_player.media_pause":   mediaState("paused", 1),
		"media_player.media_stop":    mediaState("off", 4096),
		"media_player.volume_set":    sets("volume_level", 4),
		"media_player.volume_mute":   sets("is_volume_muted", 8),
		"media_player.select_source": sets("source", 2048),
		"media_player.volume_up":     volumeStep(0.1),
		"media_player.volume_down":   volumeStep(-0.1),
	}
}

// mediaState changes the state; while off, a player hides all but what it can do.
func mediaState(to string, feature int) deed {
	return deed{feature: feature, each: func(c *call, id string) *fault {
		h := c.h
		attrs, m := h.attrs(id), h.mind(id)
		switch {
		case to == "off" && h.value(id) != "off":
			m.shown, attrs = attrs, map[string]any{}
			for _, k := range []string{"source_list", "sound_mode_list", "group_members", "friendly_name", "supported_features", "device_class"} {
				if v, ok := m.shown[k]; ok {
					attrs[k] = v
				}
			}
		case to != "off" && h.value(id) == "off":
			attrs = m.shown
		}
		h.hold(id, c.ctx)
		h.show(id, to, attrs)
		return nil
	}}
}

func volumeStep(by float64) deed {
	return deed{feature: 1028, each: func(c *call, id string) *fault {
		v, _ := number(c.h.attrs(id)["volume_level"])
		return c.show(id, c.h.value(id), map[string]any{"volume_level": min(1, max(0, v+by))})
	}}
}
