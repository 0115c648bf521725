package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/secret"
)

const (
	mostTargets = 2000     // resolved targets kept per call
	mostData    = 16 << 10 // bytes of a call's data that are kept
)

// call makes the row of a service call.
func (j *Journal) call(v *mirror.View, ev *home.Event) *event {
	var domain, service string
	var data json.RawMessage
	mirror.EachMember(ev.Data, func(k, val []byte) bool {
		switch string(k) {
		case "domain":
			domain = text(val)
		case "service":
			service = text(val)
		case "service_data":
			data = val
		}
		return true
	})
	if domain == "" || service == "" {
		return nil
	}
	raw, rest, target, all := splitData(data)
	row := &event{kind: kindCall, what: domain + "." + service}
	row.raw, row.doc = bounded(secret.Star(raw)), bounded(secret.Star(rest))
	for _, id := range j.touched(v, domain, target, all, rest) {
		if len(row.targets) == mostTargets {
			break
		}
		row.targets = append(row.targets, j.entity(v, id).subject)
	}
	row.n = int64(len(row.targets))
	return row
}

// splitData parts a call's data into the target, as it was given, and the
// rest. Home Assistant merges the two before it fires the event.
func splitData(data json.RawMessage) (raw, rest json.RawMessage, t home.Target, all bool) {
	var to, other []byte
	mirror.EachMember(data, func(k, val []byte) bool {
		into := &other
		switch string(k) {
		case "entity_id":
			into = &to
			for _, id := range list(val) {
				if id == "all" {
					all = true
				} else if id != "none" {
					t.Entities = append(t.Entities, home.EntityID(strings.ToLower(id)))
				}
			}
		case "device_id":
			into, t.Devices = &to, appendAs(t.Devices, val)
		case "area_id":
			into, t.Areas = &to, appendAs(t.Areas, val)
		case "floor_id":
			into, t.Floors = &to, appendAs(t.Floors, val)
		case "label_id":
			into, t.Labels = &to, appendAs(t.Labels, val)
		}
		if len(*into) == 0 {
			*into = append(*into, '{')
		} else {
			*into = append(*into, ',')
		}
		name, _ := json.Marshal(string(k)) // a string cannot fail
		*into = append(append(append(*into, name...), ':'), val...)
		return true
	})
	if to != nil {
		raw = append(to, '}')
	}
	if other != nil {
		rest = append(other, '}')
	}
	return raw, rest, t, all
}

func appendAs[T ~string](to []T, val []byte) []T {
	for _, s := range list(val) {
		to = append(to, T(s))
	}
	return to
}

// list reads a string, a comma list or a list of strings.
func list(val []byte) []string {
	var out []string
	if s := text(val); s != "" {
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out
	}
	if json.Unmarshal(val, &out) != nil {
		return nil
	}
	return out
}

// touched resolves whom a call is about: what is named, groups and their
// members, and what lies in areas, floors, labels and devices. Of what is only
// reached through a place, the call's own domain counts where it is there at
// all: light.turn_off of a kitchen touches no sensor.
func (j *Journal) touched(v *mirror.View, domain string, t home.Target, all bool, rest json.RawMessage) []home.EntityID {
	out := slices.Clone(t.Entities)
	out = append(out, mentioned(domain, rest)...)
	if v == nil {
		return unique(out)
	}
	if len(t.Entities) > 0 {
		out = append(out, v.Resolve(home.Target{Entities: t.Entities}, true).Entities...)
	}
	if all {
		for e := range v.Entities(home.Everything(), mirror.Filter{Domain: domain}) {
			out = append(out, e.ID)
		}
	}
	if places := (home.Target{Devices: t.Devices, Areas: t.Areas, Floors: t.Floors, Labels: t.Labels}); !places.Empty() {
		reached := v.Resolve(places, false).Entities
		own := slices.DeleteFunc(slices.Clone(reached), func(id home.EntityID) bool { return id.Domain() != domain })
		if len(own) > 0 {
			reached = own
		}
		out = append(out, reached...)
	}
	return unique(out)
}

// mentioned gives the entities that the data of some services name outside
// their target.
func mentioned(domain string, rest json.RawMessage) []home.EntityID {
	var out []home.EntityID
	add := func(ids []string) {
		for _, s := range ids {
			if id := home.EntityID(s); id.Valid() {
				out = append(out, id)
			}
		}
	}
	mirror.EachMember(rest, func(k, val []byte) bool {
		switch key := string(k); {
		case key == "entities" && (domain == "scene" || domain == "group"):
			if len(val) > 0 && val[0] == '{' {
				mirror.EachMember(val, func(id, _ []byte) bool {
					add([]string{string(id)})
					return true
				})
			} else {
				add(list(val))
			}
		case key == "snapshot_entities", key == "group_members", key == "add_entities", key == "remove_entities":
			add(list(val))
		}
		return true
	})
	return out
}

func unique(ids []home.EntityID) []home.EntityID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// bounded keeps a JSON text within mostData: of a longer one it keeps the
// names of its keys and how long it was.
func bounded(doc json.RawMessage) json.RawMessage {
	if len(doc) <= mostData {
		return doc
	}
	var keys []string
	mirror.EachMember(doc, func(k, _ []byte) bool {
		keys = append(keys, home.Clip(string(k), 60))
		return len(keys) < 50
	})
	short, err := json.Marshal(map[string]any{"too_long": fmt.Sprintf("%d bytes, only the names are kept", len(doc)), "names": keys})
	if err != nil {
		return nil
	}
	return short
}
