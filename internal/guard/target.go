package guard

import (
	"regexp"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// touched is an entity that a call reaches.
type touched struct {
	id    home.EntityID
	named bool          // by the caller, not through a place or a group
	of    home.EntityID // the entity whose member it is, "" when Home Assistant addresses it itself
}

// reach collects what a call reaches. An entity counts once as addressed and
// once as another's member, since the two are judged differently.
type reach struct {
	j    *judging
	a    act
	seen map[way]bool
	out  []touched
}

// way is how an entity is reached.
type way struct {
	id     home.EntityID
	member bool
}

var registryID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// targets resolves what a call is about. What does not exist, or is out of the
// caller's sight, is an error for the caller's own call; inside a script Home
// Assistant passes over it.
func (j *judging) targets(a act) ([]touched, *home.Error) {
	r := &reach{j: j, a: a, seen: map[way]bool{}}
	named := 0
	for _, text := range a.target.Entities {
		for part := range strings.SplitSeq(string(text), ",") {
			part = strings.TrimSpace(part)
			if part == "" || part == "none" {
				continue
			}
			named++
			if err := r.name(part); err != nil {
				return nil, err
			}
		}
	}
	if err := r.places(); err != nil {
		return nil, err
	}
	if named == 0 && len(a.target.Devices)+len(a.target.Areas)+len(a.target.Floors)+len(a.target.Labels) == 0 && a.inside == "" {
		return nil, home.Errorf(home.Invalid, "%s needs a target", a.name()).
			WithHint("give entity_id, area_id, floor_id, label_id or device_id")
	}
	return r.out, nil
}

// name takes in one entity that was named.
func (r *reach) name(text string) *home.Error {
	j, a := r.j, r.a
	if text == "all" {
		return r.all()
	}
	id := home.EntityID(text)
	if a.inside != "" && registryID.MatchString(text) {
		row := j.v.EntityByRegistryID(text)
		if row == nil {
			return denied("%s acts on an entity that is not known", a.inside)
		}
		id = row.ID
	}
	if templated(text) {
		return denied("the target of %s is a template, and what it names is not known", a.name())
	}
	if !id.Valid() {
		return home.Errorf(home.Invalid, "%q is not an entity id", home.Clip(string(id), 80)).
			WithHint("write it as domain.object, for example light.kitchen; entity_search finds ids by name")
	}
	if a.inside == "" && !j.sees(id) {
		return j.noEntity(id)
	}
	return r.add(id, true, "")
}

// all takes in everything of the service's domain.
func (r *reach) all() *home.Error {
	if r.a.domain == "homeassistant" {
		return home.Errorf(home.Invalid, "%s does nothing with entity_id all", r.a.name()).
			WithHint("name the entities, areas, floors or labels")
	}
	for e, s := range r.j.v.Entities(home.Everything(), mirror.Filter{Domain: r.a.domain}) {
		if s == nil {
			continue // disabled
		}
		if err := r.add(e.ID, false, ""); err != nil {
			return err
		}
	}
	return nil
}

// places takes in what stands in areas, on floors, under labels and in devices.
func (r *reach) places() *home.Error {
	t := r.a.target
	t.Entities = nil
	t.Areas = without(t.Areas)
	t.Floors = without(t.Floors)
	t.Labels = without(t.Labels)
	t.Devices = without(t.Devices)
	if t.Empty() {
		return nil
	}
	res := r.j.v.Resolve(t, true)
	if r.a.inside == "" {
		if err := r.j.noPlace(res); err != nil {
			return err
		}
	}
	for _, id := range res.Entities {
		if err := r.add(id, false, ""); err != nil {
			return err
		}
	}
	return nil
}

// without drops Home Assistant's word for nothing.
func without[T ~string](ids []T) []T {
	return slices.DeleteFunc(slices.Clone(ids), func(id T) bool { return id == "none" || id == "" })
}

// add takes in an entity and its members. A group of the old kind is replaced
// by its members; any other entity with members stays and acts on them itself.
func (r *reach) add(id home.EntityID, named bool, of home.EntityID) *home.Error {
	if err := r.j.look(); err != nil {
		return err
	}
	if r.seen[way{id, of != ""}] {
		return nil
	}
	r.seen[way{id, of != ""}] = true
	if id.Domain() == "scene" {
		r.out = append(r.out, touched{id, named, of}) // its members are judged by its body
		return nil
	}
	members := r.j.v.Members(id)
	if id.Domain() == "group" {
		if len(members) == 0 && r.j.v.Row(id) != nil {
			return denied("%s does not show what is in it", id)
		}
		for _, m := range members {
			// homeassistant.turn_on and its like are refused for a member that they
			// would not act on; a domain's own service passes over it.
			if err := r.add(m, r.a.domain == "homeassistant", of); err != nil {
				return err
			}
		}
		return nil
	}
	r.out = append(r.out, touched{id, named, of})
	for _, m := range members {
		if err := r.add(m, false, id); err != nil {
			return err
		}
	}
	return nil
}

// sees reports whether the entity exists within the caller's sight.
func (j *judging) sees(id home.EntityID) bool {
	_, _, ok := j.v.Entity(j.scope, id)
	return ok
}

// mayTouch reports whether a leaf that was not named by the caller may be
// touched: it is in sight, or hidden by its integration in favour of the group,
// scene or script that was called.
func (j *judging) mayTouch(id home.EntityID) bool {
	if j.sees(id) {
		return true
	}
	row := j.v.Row(id)
	return row != nil && row.HiddenBy == "integration" && !j.scope.Zero()
}
