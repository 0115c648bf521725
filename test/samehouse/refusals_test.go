package samehouse

import (
	"strings"
	"testing"
)

// refusal is a call with a value that the house does not take.
type refusal struct{ name, target, data, code, message string }

const (
	bad      = "invalid_format"
	unfit    = "service_validation_error"
	bed      = "light.bed_light"
	fanOne   = "fan.living_room_fan"
	humidity = "input_number.target_humidity"
)

func refusals() []refusal {
	return []refusal{
		{"light.turn_on", bed, `{"rgb_color":"red"}`, bad, "expected int at 'rgb_color[0]'"},
		{"light.turn_on", bed, `{"rgb_color":"blue"}`, bad, "expected a sequence of 3 items at 'rgb_color'"},
		{"light.turn_on", bed, `{"rgb_color":5}`, bad, "expected tuple at 'rgb_color'"},
		{"light.turn_on", bed, `{"rgb_color":[300,0,0]}`, bad, "value must be at most 255 at 'rgb_color[0]'"},
		{"light.turn_on", bed, `{"rgb_color":[0,-1,0]}`, bad, "value must be at least 0 at 'rgb_color[1]'"},
		{"light.turn_on", bed, `{"rgbw_color":[1,2,3]}`, bad, "expected a sequence of 4 items at 'rgbw_color'"},
		{"light.turn_on", bed, `{"rgbww_color":[1,2,3,4]}`, bad, "expected a sequence of 5 items at 'rgbww_color'"},
		{"light.turn_on", bed, `{"hs_color":[400,50]}`, bad, "value must be at most 360 at 'hs_color[0]'"},
		{"light.turn_on", bed, `{"hs_color":[120,150]}`, bad, "expected a percentage between 0 and 100 at 'hs_color[1]'"},
		{"light.turn_on", bed, `{"xy_color":"blue"}`, bad, "expected a sequence of 2 items at 'xy_color'"},
		{"light.turn_on", bed, `{"xy_color":[0.3,1.3]}`, bad, "value must be at most 1 at 'xy_color[1]'"},
		{"light.turn_on", bed, `{"color_name":["red"]}`, bad, "value should be a string at 'color_name'"},
		{"light.turn_on", bed, `{"effect":["x"]}`, bad, "value should be a string at 'effect'"},
		{"light.turn_on", bed, `{"brightness":"x"}`, bad, "expected int at 'brightness'"},
		{"light.turn_on", bed, `{"brightness_pct":"30%"}`, bad, "expected float at 'brightness_pct'"},
		{"light.turn_on", bed, `{"brightness_pct":120}`, bad, "expected a percentage between 0 and 100 at 'brightness_pct'"},
		{"light.turn_on", bed, `{"color_temp_kelvin":-5}`, bad, "value must be at least 0 at 'color_temp_kelvin'"},
		{"light.turn_on", bed, `{"color_temp_kelvin":"warm"}`, bad, "expected int at 'color_temp_kelvin'"},
		{"light.turn_on", bed, `{"transition":"x"}`, bad, "expected float at 'transition'"},
		{"light.turn_on", bed, `{"flash":"medium"}`, bad, "value must be one of ['long', 'short'] at 'flash'"},
		{"light.turn_on", bed, `{"rgb_color":[1,2,3],"hs_color":[1,2]}`, bad, "two or more values in the same group of exclusion 'Color descriptors' at '[<Color descriptors>]'"},
		{"light.turn_on", bed, `{"brightness":10,"brightness_pct":10}`, bad, "two or more values in the same group of exclusion 'brightness' at '<brightness>'"},
		{"light.turn_off", bed, `{"transition":"x"}`, bad, "expected float at 'transition'"},
		{"media_player.volume_set", walkman, `{"volume_level":40}`, bad, "value must be at most 1 at 'volume_level'"},
		{"media_player.volume_set", walkman, `{"volume_level":-1}`, bad, "value must be at least 0 at 'volume_level'"},
		{"media_player.volume_set", walkman, `{"volume_level":"loud"}`, bad, "expected float at 'volume_level'"},
		{"media_player.volume_set", walkman, `{"volume_level":null}`, bad, "expected float at 'volume_level'"},
		{"media_player.volume_mute", walkman, `{"is_volume_muted":"maybe"}`, bad, "invalid boolean value maybe at 'is_volume_muted'"},
		{"media_player.volume_mute", walkman, `{"is_volume_muted":null}`, bad, "invalid boolean value None at 'is_volume_muted'"},
		{"media_player.select_source", "media_player.lounge_room", `{"source":["a"]}`, bad, "value should be a string at 'source'"},
		{"siren.turn_on", "siren.siren", `{"volume_level":5}`, bad, "value must be at most 1 at 'volume_level'"},
		{"climate.set_temperature", hvac, `{"temperature":"21,5"}`, bad, "expected float at 'temperature'"},
		{"climate.set_temperature", hvac, `{"temperature":100}`, unfit, "Validation error: Provided temperature 100.0 is not valid. Accepted range is 7 to 35"},
		{"climate.set_temperature", hvac, `{"hvac_mode":"heat"}`, bad, "at least one of ['temperature', 'target_temp_high', 'target_temp_low'] is required"},
		{"climate.set_temperature", hvac, `{"temperature":20,"hvac_mode":"x"}`, bad, "expected HVACMode or one of 'off', 'heat', 'cool', 'heat_cool', 'auto', 'dry', 'fan_only' at 'hvac_mode'"},
		{"climate.set_hvac_mode", "climate.heatpump", `{"hvac_mode":"dry"}`, unfit, "Validation error: HVAC mode dry is not valid. Valid HVAC modes are: heat, off"},
		{"climate.set_humidity", hvac, `{"humidity":"x"}`, bad, "expected int at 'humidity'"},
		{"climate.set_humidity", hvac, `{"humidity":5}`, unfit, "Validation error: Provided humidity 5 is not valid. Accepted range is 30 to 99"},
		{"fan.set_percentage", fanOne, `{"percentage":120}`, bad, "expected a percentage between 0 and 100 at 'percentage'"},
		{"fan.set_percentage", fanOne, `{"percentage":"x"}`, bad, "expected int at 'percentage'"},
		{"fan.oscillate", fanOne, `{"oscillating":"x"}`, bad, "invalid boolean value x at 'oscillating'"},
		{"fan.set_preset_mode", fanOne, `{"preset_mode":"x"}`, unfit, "Validation error: Preset mode x is not valid, valid preset modes are: auto, smart, sleep, on"},
		{"cover.set_cover_position", "cover.hall_window", `{"position":120}`, bad, "expected a percentage between 0 and 100 at 'position'"},
		{"humidifier.set_humidity", "humidifier.hygrostat", `{"humidity":120}`, bad, "expected a percentage between 0 and 100 at 'humidity'"},
		{"input_number.set_value", humidity, `{"value":"x"}`, bad, "expected float at 'value'"},
		{"input_number.set_value", humidity, `{"value":1000}`, bad, "Invalid value for input_number.target_humidity: 1000.0 (range 20.0 - 80.0)"},
		{"number.set_value", "number.volume", `{"value":1000}`, unfit, "Validation error: Value 1000.0 for number.volume is outside valid range 0.0 - 100.0"},
		{"timer.start", "timer.laundry", `{"duration":"x"}`, bad, "offset x should be format 'HH:MM', 'HH:MM:SS' or 'HH:MM:SS.F' at 'duration'"},
		{"todo.update_item", "todo.groceries", `{"item":"x","status":"y"}`, bad, "value must be one of [<TodoItemStatus.COMPLETED: 'completed'>, <TodoItemStatus.NEEDS_ACTION: 'needs_action'>] at 'status'"},
		{"input_text.set_value", "input_text.note", `{"value":["a"]}`, bad, "value should be a string at 'value'"},
	}
}

// refuses calls with values the house does not take; each is refused in its words.
func refuses(t *testing.T, h *home) {
	c := open(t, h, h.hearth)
	for _, r := range refusals() {
		domain, name, _ := strings.Cut(r.name, ".")
		got := c.send("call_service", map[string]any{"domain": domain, "service": name,
			"target": map[string]any{"entity_id": r.target}, "service_data": parse(t, r.data)})
		e, _ := got["error"].(map[string]any)
		if e["code"] != r.code || e["message"] != r.message {
			t.Errorf("%s %s: %v, want %s %q", r.name, r.data, got, r.code, r.message)
		}
	}
}
