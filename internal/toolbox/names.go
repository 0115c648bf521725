package toolbox

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/tool"
)

// sight is a view and what the caller may see of it.
type sight struct {
	*mirror.View
	sc home.Scope
	b  *Box
}

// entity finds one entity by id, or by a name or alias that only one entity
// has. It never guesses: several are an Ambiguous error, none a NotFound error,
// each with at most three candidates.
func (v sight) entity(s string) (home.EntityID, error) { return v.entityFor(s, nil) }

// entityFor is entity where only some domains make sense: their entities are
// proposed first.
func (v sight) entityFor(s string, domains []string) (home.EntityID, error) {
	s = strings.TrimSpace(s)
	if id, err := home.ParseEntityID(s); err == nil {
		if _, _, ok := v.Entity(v.sc, id); ok {
			return id, nil
		}
		return "", v.noEntity(string(id), domains...)
	}
	if s == "" {
		return "", home.Errorf(home.Invalid, "an entity id is empty").WithHint("write it as domain.object; entity_search finds ids by name")
	}
	if v.b.Recall == nil {
		return "", v.noEntity(s, domains...)
	}
	near, _ := v.b.Recall.Find(v.sc, recall.Query{Text: home.Clip(s, 200), Limit: 10})
	var same []home.EntityID
	for _, h := range near {
		if called(h.Entity, fold(s)) {
			same = append(same, h.Entity.ID)
		}
	}
	switch len(same) {
	case 1:
		return same[0], nil
	case 0:
		return "", v.noEntity(s, domains...)
	}
	slices.SortStableFunc(same, func(a, b home.EntityID) int {
		return b2i(slices.Contains(domains, b.Domain())) - b2i(slices.Contains(domains, a.Domain()))
	})
	return "", home.Errorf(home.Ambiguous, "%d entities are called %q: %s", len(same), home.Clip(s, 60), v.twins(same)).WithHint("pass the entity id of the one that is meant")
}

// called reports whether one of the entity's names is exactly s (folded).
func called(e *home.Entity, s string) bool {
	return fold(e.Name) == s || slices.ContainsFunc(e.Aliases, func(a string) bool { return fold(a) == s })
}

// noEntity says that there is no such entity, and which may be meant. Of an id
// whose domain the house has, only what could stand in its place is proposed.
func (v sight) noEntity(s string, domains ...string) *home.Error {
	e := home.Errorf(home.NotFound, "no entity %q", home.Clip(s, 80))
	if v.b.Recall == nil {
		return e.WithHint("Try entity_search.")
	}
	id := home.EntityID(s)
	strict := false
	if _, err := v.domain(id.Domain()); id.Domain() != "" && err == nil {
		domains, strict = []string{id.Domain()}, true
	}
	var ids, rest []home.EntityID
	for _, h := range v.b.Recall.Near(v.sc, s, 20) {
		switch x := h.Entity.ID; {
		case slices.Contains(domains, x.Domain()):
			ids = append(ids, x)
		case !strict || x.Object() == id.Object():
			rest = append(rest, x)
		}
	}
	if len(ids) == 0 {
		ids = rest
	}
	place := ""
	if as := v.FindArea(strings.ReplaceAll(id.Object(), "_", " ")); len(as) == 1 {
		place = tool.Quote(string(as[0].ID), 40) + " is an area: entity_list takes it as area, service_call as area_id. "
	}
	if len(ids) == 0 {
		return e.WithHint("%sTry entity_search.", place)
	}
	return e.WithHint("Did you mean %s? %sTry entity_search.", v.list(first(ids, 3)), place)
}

// twins writes at most three entities of one name with what tells them apart:
// the area, or the device where that is the same.
func (v sight) twins(ids []home.EntityID) string {
	for _, where := range []func(*home.Entity) string{
		func(e *home.Entity) string { return cmp.Or(v.areaName(e.Area), "in no area") },
		func(e *home.Entity) string { return cmp.Or(v.deviceName(e.Device), "of no device") },
	} {
		var parts []string
		differ, last := false, ""
		for _, id := range ids {
			if e, _, ok := v.Entity(v.sc, id); ok {
				at := where(e)
				differ = differ || len(parts) > 0 && at != last
				parts, last = append(parts, named(string(id), at)), at
			}
		}
		if differ {
			return either(first(parts, 3), len(parts))
		}
	}
	return v.list(ids)
}

// list writes at most three entities as id (Name).
func (v sight) list(ids []home.EntityID) string {
	var parts []string
	for _, id := range ids[:min(len(ids), 3)] {
		name := ""
		if r := v.Row(id); r != nil {
			name = r.Name
		}
		parts = append(parts, named(string(id), name))
	}
	return either(parts, len(ids))
}

// named is id (Name), the way errors call things.
func named(id, name string) string {
	if name == "" || name == id {
		return id
	}
	return id + " (" + home.Clip(clean(name), 40) + ")"
}

// either joins candidates; of is how many there are in all.
func either(parts []string, of int) string {
	if of > len(parts) || len(parts) < 2 {
		return strings.Join(parts, ", ")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

// place is what areas, floors and labels have in common here.
type place struct{ id, name string }

func (v sight) area(s string) (home.AreaID, error) {
	var hits, all []place
	for _, a := range v.FindArea(s) {
		hits = append(hits, place{id: string(a.ID), name: a.Name})
	}
	if len(hits) != 1 {
		for _, a := range v.Areas() {
			all = append(all, place{id: string(a.ID), name: a.Name})
		}
	}
	id, err := one("area", "area_list lists them.", s, hits, all)
	if len(hits) == 0 {
		if fs := v.FindFloor(s); len(fs) > 0 {
			return "", other(err, "a floor", s, "floor", string(fs[0].ID))
		}
		if ls := v.FindLabel(s); len(ls) > 0 {
			return "", other(err, "a label", s, "label", string(ls[0].ID))
		}
	}
	return home.AreaID(id), err
}

func (v sight) floor(s string) (home.FloorID, error) {
	var hits, all []place
	for _, f := range v.FindFloor(s) {
		hits = append(hits, place{id: string(f.ID), name: f.Name})
	}
	if len(hits) != 1 {
		for _, f := range v.Floors() {
			all = append(all, place{id: string(f.ID), name: f.Name})
		}
	}
	id, err := one("floor", "area_list shows the floors.", s, hits, all)
	if as := v.FindArea(s); len(hits) == 0 && len(as) > 0 {
		return "", other(err, "an area", s, "area", string(as[0].ID))
	}
	return home.FloorID(id), err
}

func (v sight) label(s string) (home.LabelID, error) {
	var hits, all []place
	for _, l := range v.FindLabel(s) {
		hits = append(hits, place{id: string(l.ID), name: l.Name})
	}
	if len(hits) != 1 {
		for _, l := range v.Labels() {
			all = append(all, place{id: string(l.ID), name: l.Name})
		}
	}
	id, err := one("label", "entity_get shows an entity's labels.", s, hits, all)
	if as := v.FindArea(s); len(hits) == 0 && len(as) > 0 {
		return "", other(err, "an area", s, "area", string(as[0].ID))
	}
	return home.LabelID(id), err
}

func (v sight) device(s string) (home.DeviceID, error) {
	s = strings.TrimSpace(s)
	if d := v.Device(home.DeviceID(s)); d != nil {
		return d.ID, nil
	}
	var hits, all []place
	want := fold(s)
	for _, d := range v.Devices() {
		p := place{id: string(d.ID), name: d.DisplayName()}
		if fold(p.name) == want {
			hits = append(hits, p)
		}
		all = append(all, p)
	}
	id, err := one("device", "device_list lists them.", s, hits, all)
	return home.DeviceID(id), err
}

// other says that something of another kind has the name that was not found.
// key is how filters and targets begin that take it: area and area_id.
func other(err error, kind, s, key, id string) error {
	var e *home.Error
	if strings.TrimSpace(s) == "" || !errors.As(err, &e) || e.Code != home.NotFound {
		return err
	}
	return e.WithHint("%q is %s: give %s or %s_id %q.", home.Clip(clean(s), 60), kind, key, key, home.Clip(clean(id), 60))
}

// one turns hits into the id that is meant, or into the error that names the
// candidates. An id that matches exactly beats names that match too.
func one(kind, hint, s string, hits, all []place) (string, error) {
	s = strings.TrimSpace(s)
	for _, h := range hits {
		if h.id == s {
			return h.id, nil
		}
	}
	switch {
	case s == "":
		return "", home.Errorf(home.Invalid, "a %s is empty", kind).WithHint("%s", hint)
	case len(hits) == 1:
		return hits[0].id, nil
	case len(hits) > 1:
		return "", home.Errorf(home.Ambiguous, "%d %ss are called %q: %s", len(hits), kind, home.Clip(s, 60), join(hits)).WithHint("pass the id of the one that is meant")
	}
	e := home.Errorf(home.NotFound, "no %s %q", kind, home.Clip(s, 60))
	near := nearest(s, all, 3)
	if len(near) == 0 {
		return "", e.WithHint("%s", hint)
	}
	return "", e.WithHint("Did you mean %s? %s", join(near), hint)
}

func join(ps []place) string {
	var parts []string
	for _, p := range ps[:min(len(ps), 3)] {
		parts = append(parts, named(p.id, p.name))
	}
	return either(parts, len(ps))
}

// nearest gives the places whose id or name is spelt most like s, at most n.
func nearest(s string, all []place, n int) []place {
	var words []string
	at := map[string]place{}
	for _, p := range all {
		for _, w := range []string{fold(p.id), fold(p.name)} {
			if _, taken := at[w]; w != "" && !taken {
				words, at[w] = append(words, w), p
			}
		}
	}
	var out []place
	for _, w := range tool.Nearest(fold(s), words, 2*n) {
		if p := at[w]; len(out) < n && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// fold is how the mirror compares names.
func fold(s string) string { return mirror.Fold(s) }

// clean is text of the house fit for one line of an answer.
func clean(s string) string { return tool.Plain(s) }
