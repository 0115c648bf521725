package toolbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// accepts are the domains of the entities a service acts on, from its own
// description; nil means any.
func (r *request) accepts() []string {
	if len(r.svc.Target) == 0 || r.svc.Domain == "homeassistant" {
		return nil
	}
	var sel struct {
		Entity json.RawMessage `json:"entity"`
	}
	if json.Unmarshal(r.svc.Target, &sel) != nil {
		return nil
	}
	type filter struct {
		Domain json.RawMessage `json:"domain"`
	}
	var filters []filter
	if json.Unmarshal(sel.Entity, &filters) != nil {
		var one filter
		if json.Unmarshal(sel.Entity, &one) != nil {
			return nil
		}
		filters = []filter{one}
	}
	var out []string
	for _, f := range filters {
		var many []string
		var one string
		switch {
		case json.Unmarshal(f.Domain, &many) == nil && len(many) > 0:
			out = append(out, many...)
		case json.Unmarshal(f.Domain, &one) == nil && one != "":
			out = append(out, one)
		default:
			return nil // one filter without a domain lets everything in
		}
	}
	return out
}

// acts reports whether a service that accepts these domains does something to
// an entity: itself, or for a group any of its members.
func (r *request) acts(id home.EntityID, accepts []string) bool {
	if slices.Contains(accepts, id.Domain()) {
		return true
	}
	if id.Domain() != "group" {
		return false
	}
	return slices.ContainsFunc(r.leaves(id), func(l home.EntityID) bool { return slices.Contains(accepts, l.Domain()) })
}

// exists reports whether homeassistant.turn_on and its like do anything for an
// entity: they call the service of its own domain.
func (r *request) exists(id home.EntityID) bool {
	if r.svc.Domain != "homeassistant" || id.Domain() == "group" {
		return true
	}
	switch r.svc.Name {
	case "turn_on", "turn_off", "toggle":
		return r.v.Service(id.Domain(), r.svc.Name) != nil
	}
	return true
}

func (r *request) wrongDomain(id home.EntityID, accepts []string) error {
	e := home.Errorf(home.Invalid, "%s does not act on %s", r.name, named(string(id), r.v.nameOf(id)))
	if r.v.Service(id.Domain(), r.svc.Name) != nil {
		return e.WithHint("call %s.%s, or homeassistant.turn_on and turn_off for a mixture", id.Domain(), r.svc.Name)
	}
	return e.WithHint("it acts on %s; service_list with domain %s shows what this entity can do", strings.Join(first(accepts, 5), ", "), id.Domain())
}

// needsTarget reports whether a service without a target does nothing.
func (r *request) needsTarget(accepts []string) bool {
	if r.svc.Domain == "homeassistant" {
		return slices.Contains([]string{"turn_on", "turn_off", "toggle", "update_entity"}, r.svc.Name)
	}
	return len(accepts) > 0 && slices.Contains(accepts, r.svc.Domain)
}

// all is every entity of the service's domain within sight.
func (r *request) all() ([]home.EntityID, error) {
	if len(r.accepts()) == 0 {
		return nil, home.Errorf(home.Invalid, "%s on all entities is not understood", r.name).WithHint("name the entities, areas, floors or labels")
	}
	var out []home.EntityID
	for _, d := range r.accepts() {
		for e, s := range r.v.Entities(r.v.sc, mirror.Filter{Domain: d}) {
			if s != nil {
				out = append(out, e.ID)
			}
		}
	}
	r.note(fmt.Sprintf("all means %d entities", len(out)))
	return out, nil
}

// leaves are the entities behind one: the members of a group, of its groups and
// so on, or itself. A group whose members are not all within sight stays
// itself: its own state tells enough, and hidden members stay hidden.
func (r *request) leaves(id home.EntityID) []home.EntityID {
	var out []home.EntityID
	seen := map[home.EntityID]bool{}
	var walk func(home.EntityID) bool
	walk = func(id home.EntityID) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		ms := r.v.Members(id)
		if len(ms) == 0 || id.Domain() == "scene" { // a scene lists what it sets, not what it is
			_, s, ok := r.v.Entity(r.v.sc, id)
			if ok && s != nil {
				out = append(out, id)
			}
			return ok
		}
		for _, m := range ms {
			if !walk(m) {
				return false
			}
		}
		return true
	}
	if !walk(id) {
		return []home.EntityID{id}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
