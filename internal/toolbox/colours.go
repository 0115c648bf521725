package toolbox

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// shade expects the colour that is asked where a light can show it. A lamp
// shows what it makes of a colour, so another one is no proof of a failure; but
// only the same one is proof that it was done.
func (x *wish) shade() {
	set := func(key, attribute string, v json.RawMessage, near float64) {
		if x.seen[key] || !can(x.s, key) {
			return
		}
		x.colour, x.Near, x.Proof = key, near, map[string]json.RawMessage{attribute: v}
	}
	for _, c := range []struct {
		key  string
		n    int
		near float64
	}{{"rgb_color", 3, 4}, {"rgbw_color", 4, 4}, {"rgbww_color", 5, 4}, {"hs_color", 2, 1.5}, {"xy_color", 2, 0.01}} {
		v, ok := numbers(x.data[c.key], c.n)
		if !ok {
			continue
		}
		if c.key == "rgb_color" {
			v = x.full(v)
		}
		set(c.key, c.key, list(v), c.near)
	}
	if t, ok := mirror.Unquote(x.data["color_name"]); ok {
		if v, known := primary(squeezed(t)); known {
			set("color_name", "rgb_color", list(x.full(v)), 4)
		}
	}
	if k, ok := number(x.data["color_temp_kelvin"]); ok && slices.Contains(attrTexts(x.s, "supported_color_modes"), "color_temp") {
		if shown, same := x.kelvinShown(); same {
			k = shown
		}
		set("color_temp_kelvin", "color_temp_kelvin", raw(k), 60)
	}
}

// full is a colour as a light shows it that keeps hue and brightness apart: its
// largest part is 255. One that keeps the three parts shows them as they are.
func (x *wish) full(rgb []float64) []float64 {
	keeps := func(mode string) bool { return strings.HasPrefix(mode, "rgb") } // with white parts too
	if most := slices.Max(rgb); most > 0 && !slices.ContainsFunc(attrTexts(x.s, "supported_color_modes"), keeps) {
		out := make([]float64, len(rgb))
		for i, v := range rgb {
			out[i] = math.Round(v * 255 / most)
		}
		return out
	}
	return rgb
}

// primary gives the parts of the plainest of the colour names of CSS, which
// are those that people say; the others have no proof.
func primary(name string) ([]float64, bool) {
	switch name {
	case "red":
		return []float64{255, 0, 0}, true
	case "lime":
		return []float64{0, 255, 0}, true
	case "green":
		return []float64{0, 128, 0}, true
	case "blue":
		return []float64{0, 0, 255}, true
	case "yellow":
		return []float64{255, 255, 0}, true
	case "cyan", "aqua":
		return []float64{0, 255, 255}, true
	case "magenta", "fuchsia":
		return []float64{255, 0, 255}, true
	case "orange":
		return []float64{255, 165, 0}, true
	case "pink":
		return []float64{255, 192, 203}, true
	case "purple":
		return []float64{128, 0, 128}, true
	case "white":
		return []float64{255, 255, 255}, true
	}
	return nil, false
}

// squeezed is a name as Home Assistant compares colours: without case and spaces.
func squeezed(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

// numbers reads a list of n numbers.
func numbers(v json.RawMessage, n int) ([]float64, bool) {
	var out []float64
	return out, len(v) > 0 && json.Unmarshal(v, &out) == nil && len(out) == n
}

func list(v []float64) json.RawMessage {
	b, _ := json.Marshal(v) // finite numbers cannot fail
	return b
}

// choices refuses a value that is not among the options that a field's own
// description lists. Home Assistant does not always: an unknown colour becomes
// white without a word. A value that differs in case or spaces is put right.
func (r *request) choices(f home.ServiceField) error {
	options := optionsOf(f.Selector)
	t, ok := mirror.Unquote(r.data[f.Name])
	if !ok || len(options) == 0 || slices.Contains(options, t) {
		return nil
	}
	for _, o := range options {
		if squeezed(o) == squeezed(t) {
			r.data[f.Name], _ = json.Marshal(o) // a string cannot fail
			return nil
		}
	}
	e := home.Errorf(home.Invalid, "%s does not know %s %s", r.name, f.Name, tool.Quote(t, 60))
	if near := tool.Nearest(t, options, 3); len(near) > 0 {
		return e.WithHint("Did you mean %s?", either(near, len(near)))
	}
	return e.WithHint("it knows %s", either(first(options, 8), len(options)))
}

// optionsOf are the values that a selector lets choose from, nil when others
// are taken as well.
func optionsOf(selector json.RawMessage) []string {
	var s struct {
		Select *struct {
			Options []json.RawMessage
			Custom  bool `json:"custom_value"`
		}
	}
	if !hasMember(selector, "select") || json.Unmarshal(selector, &s) != nil || s.Select == nil || s.Select.Custom {
		return nil
	}
	var out []string
	for _, raw := range s.Select.Options {
		var named struct{ Value string }
		if t, ok := mirror.Unquote(raw); ok {
			out = append(out, t)
		} else if json.Unmarshal(raw, &named) == nil {
			out = append(out, named.Value)
		}
	}
	return out
}

// effects refuses an effect that none of the lights lists.
func (r *request) effects(sent []home.EntityID) error {
	t, ok := mirror.Unquote(r.data["effect"])
	if !ok || r.name != "light.turn_on" && r.name != "light.toggle" {
		return nil
	}
	var known []string
	for _, id := range r.members(sent) {
		s := r.v.State(id)
		if !can(s, "effect") {
			continue
		}
		own := attrTexts(s, "effect_list")
		if len(own) == 0 || slices.Contains(own, t) {
			return nil
		}
		known = append(known, own...)
	}
	if len(known) == 0 {
		return nil
	}
	slices.Sort(known)
	known = slices.Compact(known)
	e := home.Errorf(home.Invalid, "none of these lights has the effect %s", tool.Quote(t, 60))
	if near := tool.Nearest(t, known, 3); len(near) > 0 {
		return e.WithHint("Did you mean %s?", either(near, len(near)))
	}
	return e.WithHint("they have %s", either(first(known, 8), len(known)))
}
