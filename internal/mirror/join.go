package mirror

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hearth/internal/home"
)

// joined gives a row with its name, area and floor filled in, and itself when
// they are right already.
func joined(row *home.Entity, s *home.State, p *places, d *devices) *home.Entity {
	name, area, floor := join(row, s, p, d)
	if row.Name == name && row.Area == area && row.Floor == floor {
		return row
	}
	c := *row
	c.Name, c.Area, c.Floor = name, area, floor
	return &c
}

func join(row *home.Entity, s *home.State, p *places, d *devices) (string, home.AreaID, home.FloorID) {
	area := row.OwnArea
	if area == "" && row.Device != "" {
		area = d.area[row.Device]
	}
	var floor home.FloorID
	if a := p.area[area]; a != nil {
		floor = a.Floor
	}
	return nameOf(row, s, d), area, floor
}

// nameOf is the name Home Assistant's own pages show: the friendly name of the
// state where there is one; else what Home Assistant would compose: the
// device's name and the entity's; else the object id in words.
func nameOf(row *home.Entity, s *home.State, d *devices) string {
	if s != nil {
		if n := text(s.Attrs, "friendly_name"); n != "" {
			if n == row.Name {
				return row.Name
			}
			return n
		}
	}
	if row.RegistryID == "" {
		return objectWords(row.ID)
	}
	own := row.OwnName
	device := ""
	if dev := d.byID[row.Device]; dev != nil {
		device = dev.DisplayName()
	}
	if own == "" {
		own = row.OriginalName
		if !row.HasEntity {
			own = unprefixed(own, device)
		}
	}
	n := strings.TrimSpace(device + " " + own)
	if n == "" {
		return objectWords(row.ID)
	}
	return n
}

// objectWords is what Home Assistant shows of an entity without any name.
func objectWords(id home.EntityID) string {
	return strings.TrimSpace(strings.ReplaceAll(id.Object(), "_", " "))
}

// unprefixed takes the device's name off the front of an integration's name
// that repeats it, so that it is not said twice. A name that only begins with
// the same letters stays.
func unprefixed(name, device string) string {
	if device == "" || len(name) < len(device) || !strings.EqualFold(name[:len(device)], device) {
		return name
	}
	rest := name[len(device):]
	own := strings.TrimLeft(rest, " -:")
	if own == "" {
		return ""
	}
	if own == rest {
		return name
	}
	first, _, _ := strings.Cut(own, " ")
	if first != strings.ToLower(first) {
		return own
	}
	r, n := utf8.DecodeRuneInString(own)
	return string(unicode.ToUpper(r)) + own[n:]
}

// sameRow reports whether two rows say the same, computed fields aside.
func sameRow(a, b *home.Entity) bool {
	return a.ID == b.ID && a.RegistryID == b.RegistryID && a.UniqueID == b.UniqueID &&
		a.Platform == b.Platform && a.Device == b.Device && a.OwnArea == b.OwnArea &&
		a.OwnName == b.OwnName && a.OriginalName == b.OriginalName && a.HasEntity == b.HasEntity &&
		a.Category == b.Category && a.HiddenBy == b.HiddenBy && a.DisabledBy == b.DisabledBy &&
		a.Class == b.Class && a.OrigClass == b.OrigClass && string(optionsOf(a.Options)) == string(optionsOf(b.Options)) &&
		equalLists(a.Labels, b.Labels) && equalLists(a.Aliases, b.Aliases)
}

func equalLists[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
