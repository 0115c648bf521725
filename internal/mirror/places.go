package mirror

import (
	"cmp"
	"maps"
	"slices"

	"hearth/internal/home"
)

// places are areas, floors, labels and users, rebuilt whole when one of their
// lists is replaced.
type places struct {
	areas  []home.Area
	floors []home.Floor
	labels []home.Label
	users  []home.User

	area  map[home.AreaID]*home.Area
	floor map[home.FloorID]*home.Floor
	label map[home.LabelID]*home.Label
	user  map[string]*home.User

	areasOnFloor   map[home.FloorID][]home.AreaID
	areasWithLabel map[home.LabelID][]home.AreaID

	findArea  map[string][]int
	findFloor map[string][]int
	findLabel map[string][]int
}

// with gives the places after the lists of r that are not nil replaced ours.
func (p *places) with(r *home.Registries) *places {
	out := &places{areas: p.areas, floors: p.floors, labels: p.labels, users: p.users}
	if r.Areas != nil {
		out.areas = sortedBy(r.Areas, func(a *home.Area) (string, string) { return a.Name, string(a.ID) })
	}
	if r.Floors != nil {
		out.floors = sortedBy(r.Floors, func(f *home.Floor) (string, string) { return f.Name, string(f.ID) })
	}
	if r.Labels != nil {
		out.labels = sortedBy(r.Labels, func(l *home.Label) (string, string) { return l.Name, string(l.ID) })
	}
	if r.Users != nil {
		out.users = sortedBy(r.Users, func(u *home.User) (string, string) { return u.Name, u.ID })
	}
	out.build()
	return out
}

func (p *places) build() {
	p.area = map[home.AreaID]*home.Area{}
	p.floor = map[home.FloorID]*home.Floor{}
	p.label = map[home.LabelID]*home.Label{}
	p.user = map[string]*home.User{}
	p.areasOnFloor = map[home.FloorID][]home.AreaID{}
	p.areasWithLabel = map[home.LabelID][]home.AreaID{}
	p.findArea, p.findFloor, p.findLabel = map[string][]int{}, map[string][]int{}, map[string][]int{}
	for i := range p.areas {
		a := &p.areas[i]
		p.area[a.ID] = a
		if a.Floor != "" {
			p.areasOnFloor[a.Floor] = append(p.areasOnFloor[a.Floor], a.ID)
		}
		for _, l := range a.Labels {
			p.areasWithLabel[l] = append(p.areasWithLabel[l], a.ID)
		}
		calledBy(p.findArea, i, append([]string{a.Name, string(a.ID)}, a.Aliases...))
	}
	for i := range p.floors {
		f := &p.floors[i]
		p.floor[f.ID] = f
		calledBy(p.findFloor, i, append([]string{f.Name, string(f.ID)}, f.Aliases...))
	}
	for i := range p.labels {
		l := &p.labels[i]
		p.label[l.ID] = l
		calledBy(p.findLabel, i, []string{l.Name, string(l.ID)})
	}
	for i := range p.users {
		p.user[p.users[i].ID] = &p.users[i]
	}
}

// calledBy notes that row i answers to the names.
func calledBy(m map[string][]int, i int, names []string) {
	for _, n := range names {
		if k := squash(n); k != "" && !slices.Contains(m[k], i) {
			m[k] = append(m[k], i)
		}
	}
}

// sortedBy copies rows and orders them by folded name, then id.
func sortedBy[T any](rows []T, key func(*T) (name, id string)) []T {
	type keyed struct {
		name, id string
		at       int
	}
	ks := make([]keyed, len(rows))
	for i := range rows {
		n, id := key(&rows[i])
		ks[i] = keyed{Fold(n), id, i}
	}
	slices.SortFunc(ks, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	out := make([]T, len(rows))
	for i, k := range ks {
		out[i] = rows[k.at]
	}
	return out
}

// devices is the device registry with what hangs on it.
type devices struct {
	rows       []home.Device
	byID       map[home.DeviceID]*home.Device
	children   map[home.DeviceID][]home.DeviceID
	withLabel  map[home.LabelID][]home.DeviceID
	inArea     map[home.AreaID][]home.DeviceID // by effective area
	area       map[home.DeviceID]home.AreaID   // effective area
	composites map[home.DeviceID][]home.DeviceID
}

// with gives the devices after the lists of r that are not nil replaced ours.
func (d *devices) with(r *home.Registries) *devices {
	out := &devices{rows: d.rows, composites: d.composites}
	if r.Devices != nil {
		out.rows = sortedBy(r.Devices, func(d *home.Device) (string, string) { return d.DisplayName(), string(d.ID) })
	}
	if r.Composites != nil {
		out.composites = maps.Clone(r.Composites)
	}
	out.byID = make(map[home.DeviceID]*home.Device, len(out.rows))
	out.children = map[home.DeviceID][]home.DeviceID{}
	out.withLabel = map[home.LabelID][]home.DeviceID{}
	out.inArea = map[home.AreaID][]home.DeviceID{}
	out.area = make(map[home.DeviceID]home.AreaID, len(out.rows))
	for i := range out.rows {
		row := &out.rows[i]
		out.byID[row.ID] = row
		if row.Parent != "" {
			out.children[row.Parent] = append(out.children[row.Parent], row.ID)
		}
		for _, l := range row.Labels {
			out.withLabel[l] = append(out.withLabel[l], row.ID)
		}
	}
	for i := range out.rows {
		id := out.rows[i].ID
		if a := out.areaOf(id); a != "" {
			out.area[id] = a
			out.inArea[a] = append(out.inArea[a], id)
		}
	}
	return out
}

// areaOf is the device's own area, else that of the nearest parent that has
// one. A circle of parents has none.
func (d *devices) areaOf(id home.DeviceID) home.AreaID {
	for range 16 {
		row := d.byID[id]
		if row == nil {
			return ""
		}
		if row.Area != "" {
			return row.Area
		}
		if row.Parent == "" || row.Parent == id {
			return ""
		}
		id = row.Parent
	}
	return ""
}
