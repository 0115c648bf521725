package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// denied makes a refusal.
func denied(format string, args ...any) *home.Error { return home.Errorf(home.Denied, format, args...) }

// byHand says what a refused call would need.
const byHand = "A person can do it in Home Assistant"

// notListed refuses a service that is not on the list.
func (j *judging) notListed(a act, id home.EntityID) *home.Error {
	return j.notListedBecause(a, id, why(a.domain, a.service))
}

// notListedBecause refuses a call and says why.
func (j *judging) notListedBecause(a act, id home.EntityID, because string) *home.Error {
	what := a.name()
	if a.service == "set" && j.v.Service(a.domain, "set") == nil { // a scene or a device action, no call
		what = "setting the state"
	}
	if id != "" {
		what += " on " + j.called(id)
	}
	if because != "" {
		because = ": " + because
	}
	return denied("%s is not on the list of what Hearth may do%s", what, because).WithHint("%s", byHand)
}

// called is an entity as it may be shown: id and name. One that is out of the
// caller's sight has no name here.
func (j *judging) called(id home.EntityID) string {
	e, _, ok := j.v.Entity(j.scope, id)
	if !ok {
		return "one of its members"
	}
	return label(e)
}

func label(e *home.Entity) string {
	name := home.Clip(tool.Plain(e.Name), 60)
	if name == "" {
		return string(e.ID)
	}
	return fmt.Sprintf("%s (%s)", e.ID, name)
}

// outOfSight refuses a call that would touch what the caller cannot see,
// without saying what that is.
func (j *judging) outOfSight(a act) *home.Error {
	return home.Errorf(home.NotFound, "%s would touch something that is not there for this caller", a.name()).
		WithHint("name the entities one by one; entity_list shows them")
}

// noEntity is the error for an entity that does not exist or is out of sight:
// the same words for both.
func (j *judging) noEntity(id home.EntityID) *home.Error {
	e := home.Errorf(home.NotFound, "no entity %q", home.Clip(string(id), 80))
	if near := j.near(id); len(near) > 0 {
		e.Msg += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return e.WithHint("Try entity_search.")
}

// near gives at most three entities within sight whose ids are close to id,
// those of the same domain first.
func (j *judging) near(id home.EntityID) []string {
	type hit struct {
		e   *home.Entity
		far int
	}
	var hits []hit
	object := id.Object()
	limit := max(2, min(len(object), 60)/4)
	for e := range j.v.Entities(j.scope, mirror.Filter{}) {
		far := 0
		if e.ID.Domain() != id.Domain() {
			far = 1
		}
		d := home.Distance(object, e.ID.Object(), limit)
		switch {
		case d <= limit:
			far += 2 * d
		case far == 0 && len(object) >= 4 && strings.Contains(e.ID.Object(), object):
			far = 2*limit + 2
		default:
			continue
		}
		hits = append(hits, hit{e, far})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.e.ID, b.e.ID))
	})
	var out []string
	for _, h := range hits[:min(3, len(hits))] {
		out = append(out, label(h.e))
	}
	return out
}

// noService is the error for a service that does not exist.
func (j *judging) noService(domain, service string) *home.Error {
	all := j.v.Services()
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.Domain+"."+s.Name)
	}
	want := home.Clip(domain+"."+service, 120)
	e := home.Errorf(home.NotFound, "no service %s", tool.Quote(want, 80))
	if near := tool.Nearest(want, names, 3); len(near) > 0 {
		e.Msg += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return e.WithHint("Try service_list.")
}

// noPlace is the error for areas, floors, labels and devices that do not exist.
func (j *judging) noPlace(r mirror.Resolution) *home.Error {
	m := r.Missing
	var kind, id string
	var names []string
	switch {
	case len(m.Areas) > 0:
		kind, id = "area", string(m.Areas[0])
		for _, a := range j.v.Areas() {
			names = append(names, string(a.ID))
		}
	case len(m.Floors) > 0:
		kind, id = "floor", string(m.Floors[0])
		for _, f := range j.v.Floors() {
			names = append(names, string(f.ID))
		}
	case len(m.Labels) > 0:
		kind, id = "label", string(m.Labels[0])
		for _, l := range j.v.Labels() {
			names = append(names, string(l.ID))
		}
	case len(m.Devices) > 0:
		kind, id = "device", string(m.Devices[0])
	default:
		return nil
	}
	e := home.Errorf(home.NotFound, "no %s %s", kind, tool.Quote(id, 80))
	if near := tool.Nearest(id, names, 3); len(near) > 0 {
		e.Msg += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return e.WithHint("area_list and device_list name those there are.")
}
