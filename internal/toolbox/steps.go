package toolbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// steps turns the request into what is sent. Toggles and relative steps become
// the absolute state they mean now, so that a step that did arrive although its
// answer was lost does no harm when it is asked for again.
func (r *request) steps(sent []home.EntityID) ([]home.Step, error) {
	r.response()
	if err := r.effects(sent); err != nil {
		return nil, err
	}
	switch {
	case r.svc.Domain == "script" && !slices.Contains([]string{"turn_on", "turn_off", "toggle", "reload"}, r.svc.Name):
		return r.script(sent)
	case r.svc.Name == "toggle" && len(sent) > 0:
		return r.toggle(sent)
	}
	if steps, ok := r.relative(sent); ok {
		return steps, nil
	}
	return []home.Step{r.step(r.name, sent, r.data)}, nil
}

// response makes return_response fit what the service can do.
func (r *request) response() {
	switch r.svc.Response {
	case "only":
		if !r.answer {
			r.answer = true
			r.note(r.name, " only makes sense with its answer, so return_response was set")
		}
	case "optional":
	default:
		if r.answer && r.svc.Domain != "script" {
			r.answer = false
			r.note(r.name, " gives no answer, so return_response was dropped")
		}
	}
}

// step is one call with what each leaf should show afterwards.
func (r *request) step(service string, ids []home.EntityID, data map[string]json.RawMessage) home.Step {
	domain, name, _ := strings.Cut(service, ".")
	call := &home.ServiceCall{Domain: domain, Service: name, Target: home.Target{Entities: ids}, Response: r.answer}
	if len(data) > 0 {
		call.Data, _ = json.Marshal(data) // raw values that were parsed before
	}
	step := home.Step{Kind: home.StepService, Call: call}
	seen := map[home.EntityID]bool{}
	for _, id := range ids {
		for _, leaf := range r.leaves(id) {
			s := r.v.State(leaf)
			if seen[leaf] || s == nil || domain != "homeassistant" && id.Domain() == "group" && !r.touches(domain, leaf) {
				continue
			}
			seen[leaf] = true
			step.Expect = append(step.Expect, expectation(domain, name, data, s))
		}
	}
	return step
}

// touches reports whether a member of a group is reached by a service.
func (r *request) touches(domain string, leaf home.EntityID) bool {
	if a := r.accepts(); a != nil {
		return slices.Contains(a, leaf.Domain())
	}
	return leaf.Domain() == domain
}

// script starts a script through script.turn_on, which does not wait for its
// end; only a wanted answer needs the script's own service.
func (r *request) script(sent []home.EntityID) ([]home.Step, error) {
	if len(sent) > 0 {
		return nil, home.Errorf(home.Invalid, "%s takes no target", r.name).WithHint("put what it needs into data; they are its variables")
	}
	id := home.EntityID(r.name)
	if _, s, ok := r.v.Entity(r.v.sc, id); !ok || s == nil {
		return nil, r.v.noEntity(r.name)
	}
	if r.answer {
		return []home.Step{r.step(r.name, nil, r.data)}, nil
	}
	data := map[string]json.RawMessage{}
	if len(r.data) > 0 {
		data["variables"], _ = json.Marshal(r.data) // raw values that were parsed before
	}
	return []home.Step{r.step("script.turn_on", []home.EntityID{id}, data)}, nil
}

// toggle becomes on for what is off and off for what is on.
func (r *request) toggle(sent []home.EntityID) ([]home.Step, error) {
	var b bundles
	var dark []string
	for _, id := range r.apart(sent) {
		on, known := isOn(r.v.State(id))
		if !known {
			dark = append(dark, named(string(id), r.v.nameOf(id))+" is "+value(r.v.State(id)))
			continue
		}
		service := r.verb(id, on)
		data := r.data
		if on { // turning off takes no brightness or colour
			data = map[string]json.RawMessage{}
			for _, k := range []string{"transition", "flash"} {
				if v, ok := r.data[k]; ok {
					data[k] = v
				}
			}
		}
		b.add(service, data, id)
	}
	if len(b.list) == 0 {
		return nil, home.Errorf(home.Conflict, "toggle has no known state to start from: %s", either(first(dark, 3), len(dark))).WithHint("say what is wanted: turn_on, turn_off, open_cover or close_cover")
	}
	for _, d := range first(dark, 5) {
		r.note("left alone: ", d)
	}
	steps := b.steps(r)
	for _, s := range steps {
		r.note(fmt.Sprintf("toggle means %s for %d of %d", s.Call.Name(), len(s.Call.Target.Entities), len(sent)))
	}
	return steps, nil
}

// apart takes groups apart whose members do not agree; a group that agrees
// stays itself.
func (r *request) apart(sent []home.EntityID) []home.EntityID {
	var out []home.EntityID
	for _, id := range sent {
		if id.Domain() != "group" {
			out = append(out, id)
			continue
		}
		agree, first := true, ""
		members := r.leaves(id)
		for _, m := range members {
			on, known := isOn(r.v.State(m))
			if now := fmt.Sprint(on, known, m.Domain() == "cover" || m.Domain() == "valve"); first == "" {
				first = now
			} else if now != first {
				agree = false
			}
		}
		if agree && len(members) > 0 && members[0].Domain() != "cover" && members[0].Domain() != "valve" {
			out = append(out, id)
			continue
		}
		for _, m := range members {
			if r.svc.Domain == "homeassistant" || r.touches(r.svc.Domain, m) {
				out = append(out, m)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isOn reads a state as on or off the way Home Assistant's own toggle does;
// known is false for what moves or cannot be reached.
func isOn(s *home.State) (on, known bool) {
	if !s.Available() {
		return false, false
	}
	switch s.ID.Domain() {
	case "cover", "valve":
		return s.Value == "open", s.Value == "open" || s.Value == "closed"
	case "media_player":
		return s.Value != "off" && s.Value != "idle" && s.Value != "standby", true
	case "climate", "water_heater":
		return s.Value != "off", true
	}
	return s.Value == "on", s.Value == "on" || s.Value == "off"
}

// verb is the service that ends the state an entity is in.
func (r *request) verb(id home.EntityID, on bool) string {
	switch id.Domain() {
	case "cover", "valve":
		return id.Domain() + "." + map[bool]string{true: "close_", false: "open_"}[on] + id.Domain()
	}
	return r.svc.Domain + "." + map[bool]string{true: "turn_off", false: "turn_on"}[on]
}

// bundles gathers entities that get the same call.
type bundles struct {
	list []bundle
	at   map[string]int
}

type bundle struct {
	service string
	data    map[string]json.RawMessage
	ids     []home.EntityID
}

func (b *bundles) add(service string, data map[string]json.RawMessage, id home.EntityID) {
	raw, _ := json.Marshal(data) // raw values that were parsed before
	key := service + string(raw)
	if b.at == nil {
		b.at = map[string]int{}
	}
	i, ok := b.at[key]
	if !ok {
		i = len(b.list)
		b.at[key] = i
		b.list = append(b.list, bundle{service, data, nil})
	}
	b.list[i].ids = append(b.list[i].ids, id)
}

func (b *bundles) steps(r *request) []home.Step {
	var out []home.Step
	for _, x := range b.list {
		out = append(out, r.step(x.service, x.ids, x.data))
	}
	return out
}

// without is data less some keys.
func without(data map[string]json.RawMessage, keys ...string) map[string]json.RawMessage {
	out := maps.Clone(data)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

// fields checks the keys of data against the service's own description. Home
// Assistant checks the values, and its words reach the caller; what it would
// say of an unknown key does not name the right one.
func (r *request) fields() error {
	r.lights()
	if !r.described() {
		return nil
	}
	var known []string
	for _, f := range r.svc.Fields {
		known = append(known, f.Name)
	}
	for _, k := range undescribed(r.name) {
		if !slices.Contains(known, k) {
			known = append(known, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(r.data)) {
		if slices.Contains(known, k) {
			continue
		}
		e := home.Errorf(home.Invalid, "%s has no field %s", r.name, tool.Quote(k, 60))
		if near := tool.Nearest(k, known, 3); len(near) > 0 {
			return e.WithHint("Did you mean %s?", either(near, len(near)))
		}
		if len(known) == 0 {
			return e.WithHint("it takes no data")
		}
		return e.WithHint("its fields are %s; service_list with service %s explains them", strings.Join(first(known, 12), ", "), r.name)
	}
	var missing []string
	for _, f := range r.svc.Fields {
		if v, ok := r.data[f.Name]; ok && hasMember(f.Selector, "number") {
			if _, isNumber := number(v); !isNumber && string(v) != "null" {
				return notANumber(r.name, f, v)
			}
		}
		if err := r.choices(f); err != nil {
			return err
		}
		if _, ok := r.data[f.Name]; f.Required && !ok && f.Name != "entity_id" && r.name != "media_player.play_media" {
			missing = append(missing, f.Name)
		}
	}
	if len(missing) > 0 {
		return home.Errorf(home.Invalid, "%s needs %s in data", r.name, strings.Join(missing, ", ")).WithHint("service_list with service %s explains its fields", r.name)
	}
	return nil
}

// hasMember reports whether an object has a member.
func hasMember(object json.RawMessage, key string) bool {
	for k := range members(object) {
		if k == key {
			return true
		}
	}
	return false
}

// described reports whether the description of a service can be trusted to name
// all its fields.
func (r *request) described() bool {
	if r.svc.Domain == "homeassistant" || r.svc.Domain == "script" || len(r.svc.Fields) == 0 && len(r.svc.Target) == 0 {
		return false
	}
	for _, f := range r.svc.Fields {
		if len(f.Selector) == 0 && f.Description == "" && len(f.Example) == 0 {
			return false // a folded section: its fields are not ours to see
		}
	}
	return true
}

// undescribed are fields that Home Assistant takes without describing them.
func undescribed(service string) []string {
	switch service {
	case "light.turn_on", "light.toggle":
		return []string{"transition", "brightness", "brightness_pct", "brightness_step", "brightness_step_pct", "rgb_color", "rgbw_color", "rgbww_color",
			"hs_color", "xy_color", "color_name", "color_temp_kelvin", "white", "profile", "effect", "flash"}
	case "light.turn_off":
		return []string{"transition", "flash"}
	case "media_player.play_media":
		return []string{"media_content_id", "media_content_type", "extra"}
	case "climate.set_temperature":
		return []string{"temperature", "target_temp_high", "target_temp_low", "hvac_mode"}
	case "fan.increase_speed", "fan.decrease_speed":
		return []string{"percentage_step"}
	case "input_datetime.set_datetime":
		return []string{"date", "time", "datetime", "timestamp"}
	}
	return nil
}
