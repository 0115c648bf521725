package guard

import (
	"maps"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// actions judges a script's sequence, whatever branch would be taken.
func (j *judging) actions(v any, inside string) *home.Error {
	if j.nested++; j.nested > maxNested {
		return denied("its sequences are nested too deep")
	}
	defer func() { j.nested-- }()
	if err := j.look(); err != nil {
		return err
	}
	switch x := v.(type) {
	case nil:
		return nil
	case []any:
		for _, item := range x {
			if err := j.actions(item, inside); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		return j.action(x, inside)
	}
	return denied("it has an action that is not understood")
}

// action judges one action. Every key counts: an action with a key that is not
// known here does something that is not known.
func (j *judging) action(m map[string]any, inside string) *home.Error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		var err *home.Error
		v := m[key]
		switch key {
		case "action", "service":
			err = j.calls(m, v, inside)
		case "service_template", "data_template", "event_data_template":
			err = denied("it has a templated service")
		case "event":
			err = denied("it fires an event, which may start anything")
		case "scene":
			err = j.activates(v, inside)
		case "device_id":
			err = j.deviceAction(m, inside)
		case "choose":
			err = j.branches(v, inside)
		case "default", "then", "else", "sequence", "parallel":
			err = j.actions(v, inside)
		case "repeat":
			err = j.repeats(v, inside)
		default:
			if !harmless(m, key) {
				err = denied("it has an action that is not understood: %s", tool.Quote(key, 40))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// harmless reports whether a key of an action touches nothing, or belongs to
// another key that is judged.
func harmless(m map[string]any, key string) bool {
	switch key {
	case "alias", "note", "enabled", "continue_on_error", "metadata", "response_variable",
		"delay", "wait_template", "wait_for_trigger", "timeout", "continue_on_timeout",
		"condition", "conditions", "and", "or", "not", "if", "variables", "stop", "error", "set_conversation_response":
		return true
	case "data", "target", "entity_id":
		return has(m, "action") || has(m, "service") || checks(m) || has(m, "device_id")
	}
	// The fields of a condition and of a device action are of many names.
	return (checks(m) || has(m, "device_id")) && !has(m, "action") && !has(m, "service")
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

// checks reports whether the action only looks: a condition.
func checks(m map[string]any) bool {
	return has(m, "condition") || has(m, "and") || has(m, "or") || has(m, "not")
}

// calls judges a service call of a script.
func (j *judging) calls(m map[string]any, name any, inside string) *home.Error {
	text, ok := name.(string)
	if !ok || templated(text) {
		return denied("it calls a service that only a template names")
	}
	domain, service, ok := strings.Cut(lower(strings.TrimSpace(text)), ".")
	if !ok || !word.MatchString(domain) || !word.MatchString(service) {
		return denied("it calls %s, which is no service", tool.Quote(text, 60))
	}
	a := act{domain: domain, service: service, data: map[string]any{}, inside: inside}
	switch data := m["data"].(type) {
	case nil:
	case map[string]any:
		for k := range data {
			if templated(k) {
				return denied("the data of %s has a templated name in it", a.name())
			}
		}
		a.data = data
	default:
		return denied("the data of %s is a template", a.name())
	}
	if domain == "script" && !managing(service) {
		return j.call(a)
	}
	from := []map[string]any{a.data, {"entity_id": m["entity_id"]}}
	switch target := m["target"].(type) {
	case nil:
	case map[string]any:
		from = append(from, target)
	default:
		return denied("the target of %s is a template", a.name())
	}
	for _, f := range from {
		if err := a.addTargets(f); err != nil {
			return err
		}
	}
	return j.call(a)
}

// activates judges the short form that turns on a scene.
func (j *judging) activates(v any, inside string) *home.Error {
	ids, ok := texts(v)
	if !ok || anyTemplate(v) {
		return denied("it turns on a scene that is not known")
	}
	a := act{domain: "scene", service: "turn_on", inside: inside}
	for _, id := range ids {
		a.target.Entities = append(a.target.Entities, home.EntityID(lower(id)))
	}
	return j.call(a)
}

// branches judges all options of a choice.
func (j *judging) branches(v any, inside string) *home.Error {
	options, ok := v.([]any)
	if !ok {
		options = []any{v}
	}
	for _, o := range options {
		m, ok := o.(map[string]any)
		if !ok {
			return denied("it has a choice that is not understood")
		}
		if err := j.actions(m["sequence"], inside); err != nil {
			return err
		}
	}
	return nil
}

func (j *judging) repeats(v any, inside string) *home.Error {
	m, ok := v.(map[string]any)
	if !ok {
		return denied("it has a repetition that is not understood")
	}
	return j.actions(m["sequence"], inside)
}

// deviceAction judges an action that an integration defines for a device. Its
// type is not the name of a service, so only domains that are wholly on the
// list pass, and of lock and cover what is plain.
func (j *judging) deviceAction(m map[string]any, inside string) *home.Error {
	if checks(m) {
		return nil
	}
	domain, _ := m["domain"].(string)
	kind, _ := m["type"].(string)
	entity, _ := m["entity_id"].(string)
	a := act{domain: lower(domain), service: "set", inside: inside}
	if a.domain == "climate" || a.domain == "number" {
		a.data = m
	}
	switch {
	case entity == "" || templated(entity) || services(a.domain) == "",
		a.domain == "lock" && kind != "lock":
		return denied("it has a device action that is not on the list: %s of %s", tool.Quote(kind, 40), tool.Quote(domain, 40))
	}
	a.target.Entities = []home.EntityID{home.EntityID(lower(entity))}
	found, err := j.targets(a)
	if err != nil {
		return err
	}
	return j.leavesOf(a, found)
}
