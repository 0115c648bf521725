package simhome

import (
	"fmt"
	"strings"
)

// oneOf refuses a choice an entity does not offer, in the words of its domain.
func oneOf(h *House, id, attr, choice string) *fault {
	offered := texts2(h.attrs(id)[attr])
	for _, o := range offered {
		if o == choice {
			return nil
		}
	}
	all := strings.Join(offered, ", ")
	switch attr {
	case "hvac_modes":
		return invalidChoice("HVAC mode "+choice+" is not valid. Valid HVAC modes are: "+all, "not_valid_hvac_mode", "climate", map[string]any{"mode": choice, "modes": all})
	case "fan_modes":
		return invalidChoice("Fan mode "+choice+" is not valid. Valid fan modes are: "+all, "not_valid_fan_mode", "climate", map[string]any{"mode": choice, "modes": all})
	case "preset_modes":
		return invalidChoice("Preset mode "+choice+" is not valid. Valid preset modes are: "+all, "not_valid_preset_mode", domainOf(id), map[string]any{"mode": choice, "modes": all, "preset_mode": choice, "preset_modes": all})
	case "available_modes":
		return invalidChoice("Invalid mode '"+choice+"'", "", "", nil)
	}
	if domainOf(id) == "input_select" {
		return invalidChoice("Option "+choice+" is not valid for "+id+". Valid options are: "+all, "invalid_option", "input_select",
			map[string]any{"entity_id": id, "option": choice, "options": all})
	}
	return invalidChoice("Option "+choice+" is not valid for entity "+id+", valid options are: "+all, "not_valid_option", "select",
		map[string]any{"entity_id": id, "option": choice, "options": all})
}

func invalidChoice(text, key, domain string, with map[string]any) *fault {
	return &fault{code: "service_validation_error", message: "Validation error: " + text, key: key, domain: domain, with: with}
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
	return join(onOff("humidifier", 0), map[string]deed{
		"climate.set_temperature": {each: setTemperature, feature: 3},
		"climate.set_hvac_mode": {each: func(c *call, id string) *fault {
			mode := c.text("hvac_mode")
			if f := oneOf(c.h, id, "hvac_modes", mode); f != nil {
				return f
			}
			c.show(id, mode, nil)
			return nil
		}},
		"climate.set_fan_mode":    {each: choose("fan_mode", "fan_modes"), feature: 8},
		"climate.set_preset_mode": {each: choose("preset_mode", "preset_modes"), feature: 16},
		"climate.set_humidity":    {each: climateHumidity, feature: 4},
		"climate.turn_on":         {each: climateOn, feature: 256},
		"climate.turn_off": {feature: 128, each: func(c *call, id string) *fault {
			c.show(id, "off", nil)
			return nil
		}},
		"humidifier.set_humidity": {each: func(c *call, id string) *fault {
			n, _ := c.num("humidity")
			c.show(id, c.h.value(id), map[string]any{"humidity": int(n)})
			return nil
		}},
		"humidifier.set_mode": {each: choose("mode", "available_modes"), feature: 1},
	})
}

// choose sets an attribute to one of those another attribute offers.
func choose(attr, offered string) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		choice := c.text(attr)
		if f := oneOf(c.h, id, offered, choice); f != nil {
			return f
		}
		c.show(id, c.h.value(id), map[string]any{attr: choice})
		return nil
	}
}

func setTemperature(c *call, id string) *fault {
	h := c.h
	low, _ := number(h.attrs(id)["min_temp"])
	high, _ := number(h.attrs(id)["max_temp"])
	attrs := map[string]any{}
	for _, k := range []string{"temperature", "target_temp_low", "target_temp_high"} {
		t, ok := c.num(k)
		if !ok {
			continue
		}
		if t < low || t > high {
			return invalidChoice(fmt.Sprintf("Provided temperature %s is not valid. Accepted range is %g to %g", pythonFloat(t), low, high),
				"temp_out_of_range", "climate", map[string]any{"check_temp": pythonFloat(t), "min_temp": fmt.Sprintf("%g", low), "max_temp": fmt.Sprintf("%g", high)})
		}
		attrs[k] = t
	}
	mode := h.value(id)
	if m := c.text("hvac_mode"); m != "" {
		if f := oneOf(h, id, "hvac_modes", m); f != nil {
			return f
		}
		mode = m
	}
	c.show(id, mode, attrs)
	return nil
}

func climateHumidity(c *call, id string) *fault {
	n, _ := c.num("humidity")
	c.show(id, c.h.value(id), map[string]any{"humidity": int(n)})
	return nil
}

// climateOn picks the first of heat_cool, heat, cool the device has.
func climateOn(c *call, id string) *fault {
	for _, mode := range []string{"heat_cool", "heat", "cool"} {
		if oneOf(c.h, id, "hvac_modes", mode) == nil {
			c.show(id, mode, nil)
			return nil
		}
	}
	return nil
}

// mediaDeeds are the media players. Bits: pause 1, volume 4, mute 8, on 128,
// off 256, step 1024, source 2048, stop 4096, play 16384.
func mediaDeeds() map[string]deed {
	return map[string]deed{
		"media_player.turn_on":     {each: mediaState("playing"), feature: 128},
		"media_player.turn_off":    {each: mediaState("off"), feature: 256},
		"media_player.media_play":  {each: mediaState("playing"), feature: 16384},
		"media_player.media_pause": {each: mediaState("paused"), feature: 1},
		"media_player.media_stop":  {each: mediaState("off"), feature: 4096},
		"media_player.toggle": {feature: 384, each: func(c *call, id string) *fault {
			if c.h.value(id) == "off" {
				return mediaState("playing")(c, id)
			}
			return mediaState("off")(c, id)
		}},
		"media_player.volume_set": {feature: 4, each: func(c *call, id string) *fault {
			v, _ := c.num("volume_level")
			return c.mediaAttr(id, "volume_level", v)
		}},
		"media_player.volume_up":   {feature: 1028, each: volumeStep(0.1)},
		"media_player.volume_down": {feature: 1028, each: volumeStep(-0.1)},
		"media_player.volume_mute": {feature: 8, each: func(c *call, id string) *fault {
			return c.mediaAttr(id, "is_volume_muted", c.data["is_volume_muted"])
		}},
		"media_player.select_source": {feature: 2048, each: func(c *call, id string) *fault {
			return c.mediaAttr(id, "source", c.data["source"])
		}},
	}
}

// mediaState changes the state; while off, a player hides all but what it can do.
func mediaState(to string) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		h := c.h
		attrs := h.attrs(id)
		m := h.mind(id)
		switch {
		case to == "off" && h.value(id) != "off":
			m.shown = attrs
			attrs = map[string]any{}
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
	}
}

func (c *call) mediaAttr(id, key string, v any) *fault {
	if c.h.value(id) == "off" {
		m := c.h.mind(id)
		m.shown = merged(m.shown, map[string]any{key: v})
		return nil
	}
	c.show(id, c.h.value(id), map[string]any{key: v})
	return nil
}

func volumeStep(by float64) func(*call, string) *fault {
	return func(c *call, id string) *fault {
		v, _ := number(c.h.attrs(id)["volume_level"])
		return c.mediaAttr(id, "volume_level", min(1, max(0, v+by)))
	}
}
