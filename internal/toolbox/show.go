package toolbox

import (
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// Lengths of text from the house in answers, in bytes.
const (
	nameMax  = 100 // names of entities, areas, devices
	shortMax = 40  // names in the overview
	stateMax = 255 // Home Assistant's own limit
	attrMax  = 500 // one attribute
)

// name is a name of the house fit for an answer.
func name(s string) string { return home.Clip(clean(s), nameMax) }

// value is a state fit for an answer; a registered entity without a state has none.
func value(s *home.State) string {
	if s == nil {
		return ""
	}
	return home.Clip(clean(s.Value), stateMax)
}

// unit is the unit the state's number is in, "" without one.
func unit(s *home.State) string {
	return home.Clip(clean(attrText(s, "unit_of_measurement")), 20)
}

// areaName is the name of an area, "" for none.
func (v sight) areaName(id home.AreaID) string {
	if a := v.Area(id); a != nil {
		return name(a.Name)
	}
	return ""
}

func (v sight) floorName(id home.FloorID) string {
	if f := v.Floor(id); f != nil {
		return name(f.Name)
	}
	return ""
}

func (v sight) deviceName(id home.DeviceID) string {
	if d := v.Device(id); d != nil {
		return name(d.DisplayName())
	}
	return ""
}

func (v sight) labelName(id home.LabelID) string {
	if l := v.Label(id); l != nil {
		return name(l.Name)
	}
	return string(id)
}

// nameOf is the name of an entity within sight, "" where it is unknown.
func (v sight) nameOf(id home.EntityID) string {
	if e, _, ok := v.Entity(v.sc, id); ok {
		return name(e.Name)
	}
	return ""
}

// narrow are the filters several tools share.
type narrow struct{ Domain, Area, Floor, Label, Device, State string }

// filter turns names and ids into the mirror's filter, or the error that says
// which of them is unknown or ambiguous.
func (v sight) filter(n narrow) (f mirror.Filter, err error) {
	f.State = n.State
	if n.Domain != "" {
		if f.Domain, err = v.domain(n.Domain); err != nil {
			return f, err
		}
	}
	if n.Area != "" {
		if f.Area, err = v.area(n.Area); err != nil {
			return f, err
		}
	}
	if n.Floor != "" {
		if f.Floor, err = v.floor(n.Floor); err != nil {
			return f, err
		}
	}
	if n.Label != "" {
		if f.Label, err = v.label(n.Label); err != nil {
			return f, err
		}
	}
	if n.Device != "" {
		f.Device, err = v.device(n.Device)
	}
	return f, err
}

// domain checks that the house has entities of that domain.
func (v sight) domain(s string) (string, error) {
	d := home.EntityID(strings.ToLower(strings.TrimSpace(s)) + ".").Domain()
	for range v.Entities(v.sc, mirror.Filter{Domain: d}) {
		return d, nil
	}
	var all []string
	for _, c := range v.overview().byDomain {
		all = append(all, c.Name)
	}
	e := home.Errorf(home.NotFound, "no entity of domain %q", home.Clip(s, 40))
	if near := tool.Nearest(s, all, 3); len(near) > 0 {
		return "", e.WithHint("Did you mean %s? entity_list without arguments lists the domains.", either(near, len(near)))
	}
	return "", e.WithHint("entity_list without arguments lists the domains.")
}
