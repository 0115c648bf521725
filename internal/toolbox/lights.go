package toolbox

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"hearth/internal/home"
)

// lights puts the data of light.turn_on in order: old names of the colour
// temperature become the present one, and of keys that exclude each other one
// remains. Every change is noted.
func (r *request) lights() {
	if r.name != "light.turn_on" && r.name != "light.toggle" {
		return
	}
	r.kelvin()
	if _, ok := r.data["brightness_pct"]; ok {
		r.drop("brightness_pct says it already", "brightness")
	}
	colours := []string{"rgbww_color", "rgbw_color", "rgb_color", "hs_color", "xy_color", "color_name", "color_temp_kelvin", "white", "profile"}
	kept := ""
	for _, k := range colours {
		if _, ok := r.data[k]; !ok {
			continue
		}
		if kept == "" {
			kept = k
			continue
		}
		r.drop("it excludes "+kept, k)
	}
}

// kelvin translates color_temp (mired) and kelvin to color_temp_kelvin.
func (r *request) kelvin() {
	if v, ok := r.data["kelvin"]; ok {
		delete(r.data, "kelvin")
		if _, has := r.data["color_temp_kelvin"]; !has {
			r.data["color_temp_kelvin"] = v
			r.note("kelvin is called color_temp_kelvin now")
		}
	}
	v, ok := r.data["color_temp"]
	if !ok {
		return
	}
	mired, isNumber := number(v)
	if !isNumber || mired <= 0 {
		return // the check of fields refuses it with the right name
	}
	delete(r.data, "color_temp")
	if _, has := r.data["color_temp_kelvin"]; !has {
		k := mired
		if mired < 1000 { // more than a thousand is kelvin by a wrong name
			k = math.Round(1e6 / mired)
		}
		r.data["color_temp_kelvin"] = raw(k)
		r.note("color_temp ", string(v), " became color_temp_kelvin ", string(r.data["color_temp_kelvin"]))
	}
}

func (r *request) drop(why string, keys ...string) {
	for _, k := range keys {
		if _, ok := r.data[k]; ok {
			delete(r.data, k)
			r.note(k, " was dropped: ", why)
		}
	}
}

// fitLights drops what none of the lights can do and says which cannot do what
// is sent. Home Assistant would drop it without a word.
func (r *request) fitLights(sent []home.EntityID) {
	if r.name != "light.turn_on" && r.name != "light.toggle" {
		return
	}
	for _, k := range []string{"brightness", "brightness_pct", "brightness_step", "brightness_step_pct", "rgbww_color", "rgbw_color", "rgb_color",
		"hs_color", "xy_color", "color_name", "color_temp_kelvin", "white", "effect"} {
		if _, ok := r.data[k]; !ok {
			continue
		}
		var cannot []string
		able := 0
		for _, id := range r.members(sent) {
			if can(r.v.State(id), k) {
				able++
			} else {
				cannot = append(cannot, named(string(id), r.v.nameOf(id)))
			}
		}
		switch {
		case able == 0 && len(cannot) > 0:
			r.drop("none of these lights can do it", k)
		case len(cannot) > 0:
			r.note(k, " has no effect on ", either(first(cannot, 3), len(cannot)))
		}
	}
}

// can reports whether a light can do what a key of data asks. A light that
// does not say what it can do (unavailable, no attribute) is given the benefit.
func can(s *home.State, key string) bool {
	if key == "effect" {
		f, ok := attrNumber(s, "supported_features")
		return !ok || int(f)&4 != 0
	}
	modes := attrTexts(s, "supported_color_modes")
	if len(modes) == 0 {
		return true
	}
	coloured := slices.ContainsFunc(modes, func(m string) bool { return slices.Contains([]string{"hs", "xy", "rgb", "rgbw", "rgbww"}, m) })
	switch {
	case strings.HasPrefix(key, "brightness"):
		return !slices.Equal(modes, []string{"onoff"})
	case key == "color_temp_kelvin":
		return coloured || slices.Contains(modes, "color_temp")
	case key == "white":
		return slices.Contains(modes, "white")
	}
	return coloured
}

// brightnessOf is the brightness (0–255) that data asks for, rounded as Home
// Assistant does. A light that shows the percentage that is asked shows what is
// wanted: 127 and 128 are both 50 %.
func brightnessOf(data map[string]json.RawMessage, s *home.State) (float64, bool) {
	pct, ok := number(data["brightness_pct"])
	if !ok {
		return number(data["brightness"])
	}
	b := math.RoundToEven(pct * 255 / 100)
	if shown, ok := attrNumber(s, "brightness"); ok && b > 0 && math.RoundToEven(shown*100/255) == pct {
		return shown, true
	}
	return b, true
}
