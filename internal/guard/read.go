package guard

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"hearth/internal/home"
)

var word = regexp.MustCompile(`^[a-z0-9_]+$`)

// lower is s in lower case when it is plain ASCII; anything else stays as it is
// and will match nothing. Home Assistant lowers ids by Unicode's rules, under
// which a Kelvin sign becomes a k.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return s
		}
	}
	return strings.ToLower(s)
}

// read makes an act of a call: names in lower case, the data taken apart, and
// every target in it, wherever it stands, in one place.
func (j *judging) read(c home.ServiceCall) (act, *home.Error) {
	a := act{domain: lower(c.Domain), service: lower(c.Service), data: map[string]any{}}
	if !word.MatchString(a.domain) || !word.MatchString(a.service) {
		return a, j.noService(c.Domain, c.Service)
	}
	if len(j.v.Services()) > 0 && j.v.Service(a.domain, a.service) == nil {
		return a, j.noService(c.Domain, c.Service)
	}
	if len(c.Data) > 0 && string(bytes.TrimSpace(c.Data)) != "null" {
		d := json.NewDecoder(bytes.NewReader(c.Data))
		d.UseNumber()
		if err := d.Decode(&a.data); err != nil {
			return a, home.Errorf(home.Invalid, "the data of %s is no JSON object", a.name()).WithHint(`write it like {"brightness_pct": 40}`)
		}
		if d.More() {
			return a, home.Errorf(home.Invalid, "the data of %s is more than one JSON object", a.name()).WithHint("give one object")
		}
	}
	for _, key := range []string{"target", "exclude"} {
		if _, ok := a.data[key]; ok && a.domain != "script" {
			return a, home.Errorf(home.Invalid, "%s stands in the data of %s", key, a.name()).
				WithHint("give entity_id, area_id, floor_id, label_id or device_id beside the data, without what is to be left out")
		}
	}
	a.target = c.Target
	a.target.Entities = slices.Clone(c.Target.Entities)
	for i, id := range a.target.Entities {
		a.target.Entities[i] = home.EntityID(lower(string(id)))
	}
	if a.domain == "script" && !managing(a.service) {
		return a, nil // the data of script.x are variables, not targets
	}
	return a, a.addTargets(a.data)
}

// managing reports whether a service of the domain script is about scripts
// rather than being one.
func managing(service string) bool {
	switch service {
	case "turn_on", "turn_off", "toggle", "reload":
		return true
	}
	return false
}

// addTargets takes the targets out of m: Home Assistant reads them in the data
// of a call as well as in its target.
func (a *act) addTargets(m map[string]any) *home.Error {
	keys := []string{"entity_id", "device_id", "area_id", "floor_id", "label_id"}
	if a.domain == "media_player" {
		keys = append(keys, "group_members")
	}
	for _, key := range keys {
		v, ok := m[key]
		if !ok || v == nil {
			continue
		}
		ids, ok := texts(v)
		if !ok {
			return home.Errorf(home.Invalid, "%s must be a text or a list of texts", key).WithHint("give it beside the data, as a list of ids")
		}
		for _, id := range ids {
			if templated(id) {
				return denied("the %s of %s is a template, and what it names is not known", key, a.name())
			}
			switch key {
			case "entity_id", "group_members":
				a.target.Entities = append(a.target.Entities, home.EntityID(lower(id)))
			case "device_id":
				a.target.Devices = append(a.target.Devices, home.DeviceID(id))
			case "area_id":
				a.target.Areas = append(a.target.Areas, home.AreaID(id))
			case "floor_id":
				a.target.Floors = append(a.target.Floors, home.FloorID(id))
			case "label_id":
				a.target.Labels = append(a.target.Labels, home.LabelID(id))
			}
		}
	}
	return nil
}

// texts reads a text, a comma list or a list of either.
func texts(v any) ([]string, bool) {
	var out []string
	switch x := v.(type) {
	case string:
		for part := range strings.SplitSeq(x, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out, true
	case []any:
		for _, item := range x {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			more, _ := texts(s)
			out = append(out, more...)
		}
		return out, true
	}
	return nil, false
}

// templated reports whether s has the marks of a template.
func templated(s string) bool {
	return strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#")
}

// anyTemplate reports whether a template stands anywhere in v, in keys too.
func anyTemplate(v any) bool {
	switch x := v.(type) {
	case string:
		return templated(x)
	case []any:
		for _, item := range x {
			if anyTemplate(item) {
				return true
			}
		}
	case map[string]any:
		for k, item := range x {
			if templated(k) || anyTemplate(item) {
				return true
			}
		}
	}
	return false
}
