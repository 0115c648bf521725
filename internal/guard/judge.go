package guard

import (
	"context"
	"maps"
	"slices"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// The bounds of one judgement: what is larger is not understood, and denied.
const (
	maxDepth  = 12      // scripts within scripts
	maxNested = 200     // sequences within sequences, all scripts together
	maxLooks  = 200_000 // entities and actions looked at
)

// NewJudge makes the judge: a short list; all else is denied.
func NewJudge(house *mirror.House) tool.Judge {
	return func(_ context.Context, c tool.Caller, _ string, p tool.Plan) (tool.Verdict, error) {
		return judge(house.View(), c.Grant.Scope, p)
	}
}

// judge looks at every step in one view.
func judge(v *mirror.View, sc home.Scope, p tool.Plan) (tool.Verdict, error) {
	out := tool.Verdict{Class: home.Act, Allow: true, Unseen: map[home.EntityID]bool{}}
	looks := maxLooks
	for _, s := range p.Steps {
		j := &judging{v: v, scope: sc, looks: &looks, leaves: map[home.EntityID]struct{}{}, scripts: map[home.EntityID]bool{}}
		err := j.step(s)
		out.Leaves = append(out.Leaves, slices.Sorted(maps.Keys(j.leaves)))
		for id := range j.leaves {
			if !j.sees(id) {
				out.Unseen[id] = true
			}
		}
		switch {
		case err == nil:
		case err.Code != home.Denied:
			return tool.Verdict{}, err
		case out.Allow:
			out.Allow, out.Class = false, home.Danger
			out.Why = err.Msg
			if err.Hint != "" {
				out.Why += ". " + err.Hint
			}
		}
	}
	return out, nil
}

// judging is one step being judged.
type judging struct {
	v       *mirror.View
	scope   home.Scope
	looks   *int // how many more things may be looked at
	depth   int  // of calls
	nested  int  // of sequences
	leaves  map[home.EntityID]struct{}
	scripts map[home.EntityID]bool // looked at already, or being looked at
}

// act is one service call as Home Assistant would carry it out.
type act struct {
	domain  string
	service string
	data    map[string]any
	target  home.Target
	inside  string // the script that calls it, "" for the caller's own call
}

func (a act) name() string { return a.domain + "." + a.service }

// step judges one step of a plan.
func (j *judging) step(s home.Step) *home.Error {
	if s.Kind != home.StepService || s.Call == nil {
		return denied("a step of kind %s is not on the list of what Hearth may do", tool.Quote(string(s.Kind), 40))
	}
	a, err := j.read(*s.Call)
	if err != nil {
		return err
	}
	return j.call(a)
}

// look counts down; a plan that is too large to be looked through is denied.
func (j *judging) look() *home.Error {
	if *j.looks--; *j.looks < 0 {
		return denied("this would touch more than can be looked through")
	}
	return nil
}

// call judges one service call.
func (j *judging) call(a act) *home.Error {
	if j.depth++; j.depth > maxDepth {
		return denied("%s calls others more than %d deep", a.inside, maxDepth)
	}
	defer func() { j.depth-- }()
	if err := j.look(); err != nil {
		return err
	}
	switch a.domain {
	case "homeassistant":
		return j.generic(a)
	case "script":
		return j.script(a)
	case "scene":
		return j.scene(a)
	}
	if !listed(a.domain, a.service) {
		return j.notListed(a, "")
	}
	found, err := j.targets(a)
	if err != nil {
		return err
	}
	return j.leavesOf(a, found)
}

// leavesOf judges what a call of a domain's own service touches: only entities
// of that domain, as Home Assistant does.
func (j *judging) leavesOf(a act, found []touched) *home.Error {
	n := 0
	for _, t := range found {
		if t.id.Domain() != a.domain {
			if err := j.foreign(a, t); err != nil {
				return err
			}
			continue
		}
		n++
		if err := j.leaf(t.id, a); err != nil {
			return err
		}
	}
	if n == 0 && a.inside == "" {
		return home.Errorf(home.NotFound, "nothing there that %s acts on", a.name()).
			WithHint("entity_list shows what an area, floor, label or device holds")
	}
	return nil
}

// foreign is an entity of another domain than the service's. Home Assistant
// leaves it alone; but a member of an entity that stays in charge of it (a
// group that is a light, a fan, …) may be reached in a way nobody can see.
func (j *judging) foreign(a act, t touched) *home.Error {
	switch {
	case t.of != "":
		return denied("%s is a group with %s in it, and what %s does to that is not known", t.of, t.id, a.name())
	case t.named && a.inside == "":
		return home.Errorf(home.Invalid, "%s does not act on %s", a.name(), t.id).
			WithHint("call a service of %s, or homeassistant.turn_on and turn_off for a mixture", t.id.Domain())
	}
	return nil
}

// generic judges homeassistant.turn_on, turn_off and toggle: each leaf as a
// call of its own domain's service.
func (j *judging) generic(a act) *home.Error {
	switch a.service {
	case "turn_on", "turn_off", "toggle":
	default:
		return j.notListed(a, "")
	}
	found, err := j.targets(a)
	if err != nil {
		return err
	}
	known := len(j.v.Services()) > 0
	n := 0
	for _, t := range found {
		own := act{domain: t.id.Domain(), service: a.service, data: a.data, inside: a.inside}
		if !t.named && t.of == "" && known && j.v.Service(own.domain, own.service) == nil {
			continue // found by area, floor, label or device: Home Assistant leaves it alone
		}
		n++
		if err := j.own(own, t.id); err != nil {
			return err
		}
	}
	if n == 0 && a.inside == "" {
		return home.Errorf(home.NotFound, "nothing there that can be turned on or off").
			WithHint("entity_list shows what an area, floor, label or device holds")
	}
	return nil
}

// own judges a leaf as the target of a service of its own domain.
func (j *judging) own(a act, id home.EntityID) *home.Error {
	switch a.domain {
	case "script":
		if a.service == "turn_on" || a.service == "turn_off" || a.service == "toggle" {
			return j.scriptBody(id, a.inside)
		}
	case "scene":
		if a.service == "turn_on" {
			return j.sceneBody(id)
		}
	default:
		if listed(a.domain, a.service) {
			return j.leaf(id, a)
		}
	}
	return j.notListed(a, id)
}
