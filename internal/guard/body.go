package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// script judges the services of the domain script: the scripts themselves
// (script.announce) and those that start and stop them.
func (j *judging) script(a act) *home.Error {
	if a.service == "reload" {
		return j.notListed(a, "")
	}
	if a.inside == "" && anyTemplate(a.data) {
		return denied("the variables of %s have a template in them, and what it becomes is not known", a.name())
	}
	if !managing(a.service) {
		id, ok := j.scriptOf(a.service)
		if !ok {
			return denied("what script.%s does is not known", a.service)
		}
		return j.scriptBody(id, a.inside)
	}
	found, err := j.targets(a)
	if err != nil {
		return err
	}
	for _, t := range found {
		if t.id.Domain() != "script" {
			if err := j.foreign(a, t); err != nil {
				return err
			}
			continue
		}
		if err := j.scriptBody(t.id, a.inside); err != nil {
			return err
		}
	}
	return nil
}

// scriptOf finds the script that a service runs. The service carries the
// script's own key, which a renamed entity no longer shows.
func (j *judging) scriptOf(service string) (home.EntityID, bool) {
	for e := range j.v.Entities(home.Everything(), mirror.Filter{Domain: "script"}) {
		if e.UniqueID == service {
			return e.ID, true
		}
	}
	id := home.EntityID("script." + service)
	row := j.v.Row(id)
	return id, row != nil && row.UniqueID == ""
}

// scriptBody judges what a script does.
func (j *judging) scriptBody(id home.EntityID, inside string) *home.Error {
	if j.v.Row(id) == nil && j.v.State(id) == nil && inside != "" {
		return nil
	}
	if inside == "" && !j.sees(id) {
		return j.noEntity(id)
	}
	if j.scripts[id] {
		return nil // a circle, or called twice: judged once
	}
	j.scripts[id] = true
	if j.mayTouch(id) {
		j.leaves[id] = struct{}{}
	}
	m, err := j.body(id)
	if err != nil {
		return err
	}
	sequence, ok := m["sequence"]
	switch {
	case m["use_blueprint"] != nil:
		return denied("what %s does is not known: it is made from a blueprint", id)
	case !ok:
		return denied("what %s does is not known: it has no sequence", id)
	}
	return j.within(id, j.actions(sequence, string(id)))
}

// body reads the stored text of a script or scene.
func (j *judging) body(id home.EntityID) (map[string]any, *home.Error) {
	b, ok := j.v.Body(id)
	if b.Old {
		return nil, denied("what %s does is not known: its text may have changed and is being read again", id).
			WithHint("Try again in a few seconds.")
	}
	if !ok || len(b.Config) == 0 {
		reason := "its text has not been read yet"
		if b.Missing != "" {
			reason = b.Missing
		}
		e := denied("what %s does is not known: %s", id, tool.Plain(reason))
		if b.Missing == home.NoRights {
			e = e.WithHint("Run hearth setup with the token of an administrator, and Hearth can read it.")
		}
		return nil, e
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(b.Config))
	d.UseNumber()
	if err := d.Decode(&m); err != nil || m == nil {
		return nil, denied("what %s does is not known: its text cannot be read", id)
	}
	return m, nil
}

// within says in which script something was found. Whatever is wrong inside a
// script is no fault of the caller's arguments: it is denied.
func (j *judging) within(id home.EntityID, err *home.Error) *home.Error {
	if err == nil {
		return nil
	}
	e := *err
	e.Code = home.Denied
	e.Msg = fmt.Sprintf("%s: %s", id, home.Clip(err.Msg, 400))
	return &e
}

// scene judges scene.turn_on and scene.apply.
func (j *judging) scene(a act) *home.Error {
	switch a.service {
	case "turn_on":
		found, err := j.targets(a)
		if err != nil {
			return err
		}
		for _, t := range found {
			if t.id.Domain() != "scene" {
				if err := j.foreign(a, t); err != nil {
					return err
				}
				continue
			}
			if err := j.sceneBody(t.id); err != nil {
				return err
			}
		}
		return nil
	case "apply":
		return j.sceneStates(a.data["entities"], a.inside)
	}
	return j.notListed(a, "")
}

// sceneBody judges what a scene sets.
func (j *judging) sceneBody(id home.EntityID) *home.Error {
	if !j.sees(id) {
		return j.noEntity(id)
	}
	m, err := j.body(id)
	if err != nil {
		return err
	}
	if err := j.sceneIsLoaded(id, m["entities"]); err != nil {
		return err
	}
	j.leaves[id] = struct{}{}
	return j.within(id, j.sceneStates(m["entities"], string(id)))
}

// sceneIsLoaded compares the text of a scene, which comes from a file, with the
// entities that the scene shows it sets: a file that was edited and not loaded
// tells nothing of what would happen.
func (j *judging) sceneIsLoaded(id home.EntityID, v any) *home.Error {
	states, _ := v.(map[string]any)
	written := make(map[string]bool, len(states))
	for key := range states {
		written[lower(key)] = true
	}
	for _, member := range j.v.Members(id) {
		if !written[string(member)] {
			return denied("what %s does is not known: its text is not what Home Assistant has loaded", id).
				WithHint("Reload the scenes in Home Assistant.")
		}
	}
	return nil
}

// sceneStates judges a map of entities to the states they shall have.
func (j *judging) sceneStates(v any, inside string) *home.Error {
	states, ok := v.(map[string]any)
	if !ok {
		return denied("what the scene sets is not known")
	}
	for _, key := range slices.Sorted(maps.Keys(states)) {
		id := home.EntityID(lower(key))
		if !id.Valid() {
			return denied("the scene names %s, which is no entity id", tool.Quote(key, 60))
		}
		a := act{domain: id.Domain(), service: "set", inside: inside}
		want := states[key]
		if m, ok := want.(map[string]any); ok {
			a.data, want = m, m["state"]
		}
		if err := j.sceneState(id, want, a); err != nil {
			return err
		}
	}
	return nil
}

// sceneState judges one entity of a scene and the members of a group.
func (j *judging) sceneState(id home.EntityID, want any, a act) *home.Error {
	if anyTemplate(want) {
		return denied("the scene's state for %s is a template", id)
	}
	if a.inside == "" && !j.sees(id) {
		return j.noEntity(id)
	}
	r := &reach{j: j, a: a, seen: map[way]bool{}}
	if err := r.add(id, true, ""); err != nil {
		return err
	}
	for _, t := range r.out {
		own := a
		own.domain = t.id.Domain()
		if own.domain == "number" {
			own.data = map[string]any{"value": want} // its state is its value
		}
		switch {
		case own.domain == "lock" && want != "locked" && want != "locking":
			return j.notListed(act{domain: "lock", service: "unlock", inside: a.inside}, t.id)
		case services(own.domain) == "":
			return j.notListed(own, t.id)
		}
		if err := j.leaf(t.id, own); err != nil {
			return err
		}
	}
	return nil
}
