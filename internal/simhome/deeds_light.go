package simhome

import "math"

// lightDeeds are lights, switches, sirens and fans.
func lightDeeds() map[string]deed {
	on := deed{each: lightOn, also: "brightness brightness_step color_temp hs_color xy_color flash profile white"}
	off := deed{each: lightOff}
	fan, still := deed{each: fanOn, feature: 32}, deed{each: fanOff, feature: 16}
	return join(onOff("switch"), map[string]deed{
		"light.turn_on":       on,
		"light.turn_off":      off,
		"light.toggle":        {each: toggles("on", off, on).each, also: on.also},
		"siren.turn_on":       shows("on", 1),
		"siren.turn_off":      shows("off", 2),
		"fan.turn_on":         fan,
		"fan.turn_off":        still,
		"fan.toggle":          toggles("on", still, fan),
		"fan.set_percentage":  {each: fanSpeed, feature: 1},
		"fan.set_preset_mode": {each: fanPreset, feature: 9},
		"fan.oscillate":       sets("oscillating", 2),
		"fan.set_direction":   sets("direction", 4),
	})
}

// lightLooks are the attributes a light hides while it is off.
func lightLooks() []string {
	return []string{"color_mode", "brightness", "color_temp_kelvin", "hs_color", "rgb_color", "xy_color", "rgbw_color", "rgbww_color", "effect"}
}

func lightOff(c *call, id string) *fault {
	h := c.h
	attrs := h.attrs(id)
	hide := map[string]any{}
	for _, k := range lightLooks() {
		if _, ok := attrs[k]; ok {
			hide[k] = nil
		}
	}
	if h.value(id) == "on" {
		h.mind(id).shown = attrs
	}
	return c.show(id, "off", hide)
}

func lightOn(c *call, id string) *fault {
	h := c.h
	looks := map[string]any{}
	attrs := h.attrs(id)
	before := attrs
	if h.value(id) != "on" {
		before = h.mind(id).shown
	}
	for _, k := range lightLooks() {
		if _, ok := attrs[k]; ok {
			looks[k] = before[k]
		}
	}
	if looks["brightness"] == nil {
		looks["brightness"] = 180
	}
	if looks["color_mode"] == nil {
		warmWhite(looks, 2631)
	}
	if c.lightBrightness(looks) {
		return lightOff(c, id)
	}
	c.lightColour(looks, attrs)
	return c.show(id, "on", looks)
}

// lightBrightness applies what the call says of brightness and reports whether it means off.
func (c *call) lightBrightness(looks map[string]any) (off bool) {
	level, _ := number(looks["brightness"])
	if b, ok := c.num("brightness"); ok {
		level = b
	}
	if p, ok := c.num("brightness_pct"); ok {
		level = math.RoundToEven(p * 255 / 100)
	}
	if n, ok := c.num("brightness_step"); ok {
		level = math.Max(0, math.Min(255, level+n))
	}
	if p, ok := c.num("brightness_step_pct"); ok {
		level = math.Max(0, math.Min(255, level+math.RoundToEven(p*255/100)))
	}
	looks["brightness"] = int(level)
	return level == 0
}

// lightColour applies what the call says of colour.
func (c *call) lightColour(looks, attrs map[string]any) {
	if k, ok := c.num("color_temp_kelvin"); ok {
		warmWhite(looks, k)
	}
	if hs := pair(c.data["hs_color"]); hs != nil {
		looks["color_mode"], looks["color_temp_kelvin"] = "hs", nil
		paint(looks, hs[0], hs[1])
	}
	if rgb := pair(c.data["rgb_color"]); len(rgb) == 3 {
		looks["color_mode"], looks["color_temp_kelvin"] = "hs", nil
		hue, sat := hueSat(rgb)
		paint(looks, hue, sat)
	}
	if e := c.text("effect"); e != "" {
		looks["effect"] = e
	}
	if _, ok := attrs["color_temp_kelvin"]; !ok {
		delete(looks, "color_temp_kelvin")
	}
}

func pair(v any) []float64 {
	l, _ := v.([]any)
	var out []float64
	for _, x := range l {
		if n, ok := number(x); ok {
			out = append(out, n)
		}
	}
	return out
}

// warmWhite shows a colour temperature and the colour it looks like.
func warmWhite(looks map[string]any, kelvin float64) {
	t := kelvin / 100
	r, g, b := 255.0, clip(99.4708025861*math.Log(t)-161.1195681661), 0.0
	if t > 19 {
		b = clip(138.5177312231*math.Log(t-10) - 305.0447927307)
	}
	if t >= 66 {
		b = 255
	}
	looks["color_mode"], looks["color_temp_kelvin"] = "color_temp", int(kelvin)
	hue, sat := hueSat([]float64{r, g, b})
	paint(looks, hue, sat)
}

func clip(v float64) float64 { return math.Max(0, math.Min(255, v)) }

// paint fills the three ways Home Assistant shows a colour.
func paint(looks map[string]any, hue, sat float64) {
	f := func(n float64) float64 {
		k := math.Mod(n+hue/60, 6)
		return math.RoundToEven(255 * (1 - sat/100*math.Max(0, math.Min(k, math.Min(4-k, 1)))))
	}
	r, g, b := f(5), f(3), f(1)
	looks["hs_color"] = []any{round3(hue), round3(sat)}
	looks["rgb_color"] = []any{r, g, b}
	lin := func(v float64) float64 {
		v /= 255
		if v > 0.04045 {
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return v / 12.92
	}
	r, g, b = lin(r), lin(g), lin(b)
	x := r*0.664511 + g*0.154324 + b*0.162028
	y := r*0.283881 + g*0.668433 + b*0.047685
	z := r*0.000088 + g*0.07231 + b*0.986039
	if sum := x + y + z; sum > 0 {
		looks["xy_color"] = []any{round3(x / sum), round3(y / sum)}
	}
}

func hueSat(rgb []float64) (hue, sat float64) {
	hi, lo := math.Max(rgb[0], math.Max(rgb[1], rgb[2])), math.Min(rgb[0], math.Min(rgb[1], rgb[2]))
	if hi == lo {
		return 0, 0
	}
	switch d := hi - lo; hi {
	case rgb[0]:
		hue = math.Mod((rgb[1]-rgb[2])/d+6, 6)
	case rgb[1]:
		hue = (rgb[2]-rgb[0])/d + 2
	default:
		hue = (rgb[0]-rgb[1])/d + 4
	}
	return round3(hue * 60), round3((hi - lo) / hi * 100)
}

func round3(v float64) float64 { return math.RoundToEven(v*1000) / 1000 }

func fanOn(c *call, id string) *fault {
	if c.text("preset_mode") != "" {
		return fanPreset(c, id)
	}
	p := 67.0
	if n, ok := c.num("percentage"); ok {
		p = n
	}
	return c.setFan(id, p)
}

func fanOff(c *call, id string) *fault {
	if c.h.attrs(id)["oscillating"] != nil {
		c.show(id, c.h.value(id), map[string]any{"oscillating": false})
	}
	return c.setFan(id, 0)
}

func fanSpeed(c *call, id string) *fault {
	p, _ := c.num("percentage")
	return c.setFan(id, p)
}

func (c *call) setFan(id string, p float64) *fault {
	v := "on"
	if p == 0 {
		v = "off"
	}
	attrs := map[string]any{"preset_mode": nil}
	if _, ok := c.h.attrs(id)["percentage"]; ok {
		attrs["percentage"] = int(p)
	}
	return c.show(id, v, attrs)
}

func fanPreset(c *call, id string) *fault {
	mode := c.text("preset_mode")
	if f := oneOf(c.h, id, "preset_modes", mode); f != nil {
		return f
	}
	attrs := map[string]any{"preset_mode": mode}
	if _, ok := c.h.attrs(id)["percentage"]; ok {
		attrs["percentage"] = nil
	}
	return c.show(id, "on", attrs)
}
