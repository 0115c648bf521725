package guard

import (
	"encoding/json"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// leaf judges one entity as the target of a service that is on the list, and
// notes it as touched.
func (j *judging) leaf(id home.EntityID, a act) *home.Error {
	if err := j.look(); err != nil {
		return err
	}
	row, state := j.v.Row(id), j.v.State(id)
	if row == nil && state == nil {
		return nil // a dead member: Home Assistant passes over it; what is named was looked up before
	}
	if !j.mayTouch(id) {
		return j.outOfSight(a)
	}
	j.leaves[id] = struct{}{}
	switch a.domain {
	case "cover":
		if sign := guarded(j.v, row, state); sign != "" {
			return j.notListedBecause(a, id, "it is a "+sign)
		}
	case "climate":
		return j.temperatures(id, a)
	case "light", "fan", "siren":
		if row == nil || row.Platform != switchAsX {
			return nil
		}
		fallthrough // it is a switch that is shown as something else
	case "switch", "number", "select":
		if other := j.keeper(id, row); other != "" {
			return j.notListedBecause(a, id, "it belongs to "+string(other))
		}
		if a.domain == "number" {
			return j.number(row, state, a)
		}
	}
	return nil
}

// guarded says what kind of guarded opening a cover is: garage, gate or door;
// "" for blinds and the like. Any class that says so counts, whoever set it,
// and without a class the name does.
func guarded(v *mirror.View, row *home.Entity, state *home.State) string {
	classes := []string{mirror.Class(row, state)}
	var attr string
	if raw := mirror.Attribute(state, "device_class"); json.Unmarshal(raw, &attr) == nil {
		classes = append(classes, attr)
	}
	if row != nil {
		classes = append(classes, row.Class, row.OrigClass)
	}
	classed := false
	for _, c := range classes {
		switch c = strings.ToLower(c); c {
		case "garage", "gate", "door":
			return c
		case "":
		default:
			classed = true
		}
	}
	if classed {
		return ""
	}
	return soundsGuarded(v, row)
}

// soundsGuarded looks for a guarded opening in the names of a cover.
func soundsGuarded(v *mirror.View, row *home.Entity) string {
	if row == nil {
		return "cover nobody knows"
	}
	names := append([]string{row.ID.Object(), row.Name, row.OwnName, row.OriginalName}, row.Aliases...)
	if d := v.Device(row.Device); d != nil {
		names = append(names, d.Name, d.NameByUser, d.Model)
	}
	for _, name := range names {
		folded := mirror.Fold(strings.ReplaceAll(name, "_", " "))
		for _, part := range []string{"garage", "garaje", "garagem", "gate", "door", "portail", "porton", "cancello", "einfahrt", "haustur", "车库", "車庫", "門", "门", "ガレージ", "ドア", "ゲート", "ворота", "гараж", "дверь"} {
			if strings.Contains(folded, mirror.Fold(part)) {
				return "cover without a class whose name sounds like a door or gate"
			}
		}
		for w := range strings.FieldsSeq(folded) {
			if slices.Contains([]string{"tor", "tur", "tuer", "porte", "porta", "puerta", "deur", "poort", "brama", "drzwi", "dorr", "kapi", "ovi"}, w) {
				return "cover without a class whose name sounds like a door or gate"
			}
		}
	}
	return ""
}

// switchAsX is the integration that shows a switch as something else.
const switchAsX = "switch_as_x"

// shownSwitch is the switch that an entity of that integration stands for, as
// the options of its row have it.
func shownSwitch(e *home.Entity) home.EntityID {
	var options struct {
		Of struct {
			Switch home.EntityID `json:"entity_id"`
		} `json:"switch_as_x"`
	}
	if json.Unmarshal(e.Options, &options) != nil {
		return ""
	}
	return home.EntityID(lower(string(options.Of.Switch)))
}

// keeper finds the lock, alarm panel, valve or guarded cover that a switch,
// number or select belongs to: one of the same device, or one that Home
// Assistant made of the switch under its own name.
func (j *judging) keeper(id home.EntityID, row *home.Entity) home.EntityID {
	guards := func(e *home.Entity, s *home.State) bool {
		switch e.ID.Domain() {
		case "lock", "alarm_control_panel", "valve":
			return true
		case "cover":
			return guarded(j.v, e, s) != ""
		}
		return false
	}
	if row != nil && row.Device != "" {
		for e, s := range j.v.Entities(home.Everything(), mirror.Filter{Device: row.Device}) {
			if e.ID != id && guards(e, s) {
				return e.ID
			}
		}
	}
	for _, domain := range []string{"lock", "valve", "cover"} {
		for e, s := range j.v.Entities(home.Everything(), mirror.Filter{Domain: domain}) {
			if e.Platform == switchAsX && (e.ID.Object() == id.Object() || shownSwitch(e) == id) && guards(e, s) {
				return e.ID
			}
		}
	}
	return ""
}
