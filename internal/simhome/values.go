package simhome

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form reads a value of a call's data the way its schema does: it gives the
// value as the service gets it, or says what is wrong without saying where.
type form func(v any) (any, string)

// formOf is how a service reads one of its fields, nil where it takes anything.
func formOf(domain, field string) form {
	switch domain + "." + field {
	case "light.brightness":
		return clamped(whole, 0, 255)
	case "light.brightness_step":
		return clamped(whole, -255, 255)
	case "light.brightness_pct":
		return percent(real)
	case "light.brightness_step_pct":
		return clamped(real, -100, 100)
	case "light.transition", "scene.transition":
		return clamped(real, 0, 6553)
	case "light.color_temp_kelvin":
		return within(whole, 0, math.Inf(1))
	case "light.flash":
		return choice("long", "short")
	case "light.rgb_color", "light.rgbw_color", "light.rgbww_color":
		return sequence(slices.Repeat([]form{within(whole, 0, 255)}, len(strings.TrimSuffix(field, "_color")))...)
	case "light.hs_color":
		return sequence(within(real, 0, 360), percent(real))
	case "light.xy_color":
		return sequence(within(real, 0, 1), within(real, 0, 1))
	case "fan.percentage", "cover.position", "humidifier.humidity":
		return percent(whole)
	case "climate.humidity":
		return whole
	case "media_player.volume_level", "siren.volume_level":
		return within(real, 0, 1)
	case "climate.temperature", "climate.target_temp_low", "climate.target_temp_high", "number.value", "input_number.value":
		return real
	case "climate.hvac_mode":
		return hvacName
	case "timer.duration":
		return length
	case "todo.status":
		return todoStatus
	case "fan.oscillating", "media_player.is_volume_muted":
		return truth
	case "light.color_name", "light.effect", "media_player.source", "fan.direction", "fan.preset_mode", "climate.preset_mode",
		"climate.fan_mode", "humidifier.mode", "input_text.value", "text.value":
		return words
	}
	return nil
}

// read gives the data as the service gets it, or refuses a value in the words
// of the schema.
func (s *service) read(data map[string]any) (map[string]any, *fault) {
	if f := rivals(s.domain, data); f != nil {
		return nil, f
	}
	out := maps.Clone(data)
	for _, k := range slices.Sorted(maps.Keys(data)) {
		read := formOf(s.domain, k)
		if read == nil {
			continue
		}
		v, wrong := read(data[k])
		if wrong == "" {
			out[k] = v
			continue
		}
		at := k
		if inner, item, ok := strings.Cut(wrong, "\x00"); ok {
			wrong, at = inner, k+item
		}
		return nil, &fault{code: "invalid_format", message: wrong + " at '" + at + "'"}
	}
	if _, low := data["target_temp_low"]; s.domain+"."+s.name == "climate.set_temperature" && data["temperature"] == nil && data["target_temp_high"] == nil && !low {
		return nil, &fault{code: "invalid_format", message: "at least one of ['temperature', 'target_temp_high', 'target_temp_low'] is required"}
	}
	if name, ok := out["color_name"].(string); ok && s.domain == "light" {
		delete(out, "color_name")
		out["rgb_color"] = colour(name)
	}
	return out, nil
}

// rivals refuses two fields of a light that say the same thing.
func rivals(domain string, data map[string]any) *fault {
	if domain != "light" {
		return nil
	}
	for _, group := range []struct {
		name, at string
		fields   []string
	}{
		{"Color descriptors", "[<Color descriptors>]", []string{"color_name", "rgb_color", "rgbw_color", "rgbww_color", "hs_color", "xy_color", "color_temp_kelvin", "white", "profile"}},
		{"brightness", "<brightness>", []string{"brightness", "brightness_pct", "brightness_step", "brightness_step_pct"}},
	} {
		n := 0
		for _, k := range group.fields {
			if _, ok := data[k]; ok {
				n++
			}
		}
		if n > 1 {
			return &fault{code: "invalid_format", message: "two or more values in the same group of exclusion '" + group.name + "' at '" + group.at + "'"}
		}
	}
	return nil
}

// colour is a named colour of CSS; one it does not know is white.
func colour(name string) []any {
	rgb, ok := load[map[string][]any]("colours.json")[strings.ToLower(strings.ReplaceAll(name, " ", ""))]
	if !ok {
		return []any{255, 255, 255}
	}
	return rgb
}

// real takes what can be read as a number.
func real(v any) (any, string) {
	if n, ok := asNumber(v); ok {
		return n, ""
	}
	return nil, "expected float"
}

// whole takes numbers, without their fraction, and texts of whole numbers.
func whole(v any) (any, string) {
	if t, ok := v.(string); ok {
		n, err := strconv.Atoi(strings.TrimSpace(t))
		if err != nil {
			return nil, "expected int"
		}
		return n, ""
	}
	n, ok := asNumber(v)
	if !ok {
		return nil, "expected int"
	}
	return int(n), ""
}

func asNumber(v any) (float64, bool) {
	switch x := v.(type) {
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		return n, err == nil
	case bool:
		return map[bool]float64{true: 1}[x], true
	}
	return number(v)
}

func within(read form, low, high float64) form {
	return func(v any) (any, string) {
		out, wrong := read(v)
		n, _ := number(out)
		switch {
		case wrong != "":
			return nil, wrong
		case n < low:
			return nil, fmt.Sprintf("value must be at least %g", low)
		case n > high:
			return nil, fmt.Sprintf("value must be at most %g", high)
		}
		return out, ""
	}
}

func percent(read form) form {
	return func(v any) (any, string) {
		out, wrong := read(v)
		if n, _ := number(out); wrong == "" && (n < 0 || n > 100) {
			wrong = "expected a percentage between 0 and 100"
		}
		return out, wrong
	}
}

func clamped(read form, low, high float64) form {
	return func(v any) (any, string) {
		out, wrong := read(v)
		n, _ := number(out)
		if n < low || n > high {
			out = min(max(n, low), high)
		}
		return out, wrong
	}
}

func choice(of ...string) form {
	return func(v any) (any, string) {
		if t, ok := v.(string); ok && slices.Contains(of, t) {
			return t, ""
		}
		return nil, "value must be one of ['" + strings.Join(of, "', '") + "']"
	}
}

// sequence takes so many items; a text counts as its letters.
func sequence(items ...form) form {
	return func(v any) (any, string) {
		var list []any
		switch x := v.(type) {
		case []any:
			list = x
		case string:
			for _, r := range x {
				list = append(list, string(r))
			}
		default:
			return nil, "expected tuple"
		}
		if len(list) != len(items) {
			return nil, fmt.Sprintf("expected a sequence of %d items", len(items))
		}
		out := make([]any, len(list))
		for i, read := range items {
			one, wrong := read(list[i])
			if wrong != "" {
				return nil, fmt.Sprintf("%s\x00[%d]", wrong, i)
			}
			out[i] = one
		}
		return out, ""
	}
}

// truth takes the words for yes and no, and numbers.
func truth(v any) (any, string) {
	switch x := v.(type) {
	case bool:
		return x, ""
	case string:
		switch strings.ToLower(strings.TrimSpace(x)) {
		case "1", "true", "yes", "on", "enable":
			return true, ""
		case "0", "false", "no", "off", "disable":
			return false, ""
		}
		return nil, "invalid boolean value " + x
	case nil:
		return nil, "invalid boolean value None"
	}
	if n, ok := number(v); ok {
		return n != 0, ""
	}
	return nil, fmt.Sprintf("invalid boolean value %v", v)
}

// words takes texts, and whatever is written as one.
func words(v any) (any, string) {
	switch x := v.(type) {
	case string:
		return x, ""
	case nil:
		return nil, "string value is None"
	case []any, map[string]any:
		return nil, "value should be a string"
	case bool:
		return map[bool]string{true: "True", false: "False"}[x], ""
	}
	return fmt.Sprint(v), ""
}

// length takes seconds and H:M, H:M:S; it gives the latter.
func length(v any) (any, string) {
	if n, ok := asNumber(v); ok {
		return clockText(time.Duration(n * float64(time.Second))), ""
	}
	t, ok := v.(string)
	if !ok {
		return v, ""
	}
	parts := strings.Split(t, ":")
	for _, p := range parts {
		if _, err := strconv.ParseFloat(p, 64); err != nil || len(parts) < 2 || len(parts) > 3 {
			return nil, "offset " + t + " should be format 'HH:MM', 'HH:MM:SS' or 'HH:MM:SS.F'"
		}
	}
	if len(parts) == 2 {
		t += ":00"
	}
	return t, ""
}

// todoStatus takes the two states of an item of a list; todo.get_items takes a list of them.
func todoStatus(v any) (any, string) {
	if t, ok := v.(string); ok && t != "completed" && t != "needs_action" {
		return nil, "value must be one of [<TodoItemStatus.COMPLETED: 'completed'>, <TodoItemStatus.NEEDS_ACTION: 'needs_action'>]"
	}
	return v, ""
}

// hvacName takes what any climate device may do; whether this one can is asked later.
func hvacName(v any) (any, string) {
	all := []string{"off", "heat", "cool", "heat_cool", "auto", "dry", "fan_only"}
	if t, ok := v.(string); ok && slices.Contains(all, t) {
		return t, ""
	}
	return nil, "expected HVACMode or one of '" + strings.Join(all, "', '") + "'"
}
