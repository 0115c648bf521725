package toolbox

import (
	"context"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/tool"
)

func (b *Box) placeShelf() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name:     "area_list",
			Title:    "List areas and floors",
			About:    "The rooms of the house with their floor, aliases, labels and how many entities and devices they hold, and the floors. Use it to learn area ids or to see what a spoken room name may mean.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{}`, `{"floor":"upstairs"}`},
		}, b.areaList),
		tool.NewRead(tool.Spec{
			Name:     "device_list",
			Title:    "List devices",
			About:    "Devices with maker, model, area and how many entities they have, in order of their ids; disabled ones are left out. Filter by area, floor, label or a part of name, maker or model. For one device's entities use entity_list with device.",
			Class:    home.Read,
			Core:     true,
			Examples: []string{`{"area":"kitchen"}`, `{"name":"lamp","limit":20}`},
		}, b.deviceList),
	}
}

type areaIn struct {
	Floor  string `json:"floor,omitempty" jsonschema:"Only on this floor: id, name or alias"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many areas at most" default:"100" min:"1" max:"200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type areaRow struct {
	ID       string   `json:"area_id" jsonschema:"area id"`
	Name     string   `json:"name" jsonschema:"name"`
	Aliases  []string `json:"aliases,omitempty" jsonschema:"other names people use"`
	Floor    string   `json:"floor,omitempty" jsonschema:"name of its floor"`
	FloorID  string   `json:"floor_id,omitempty" jsonschema:"id of its floor"`
	Labels   []string `json:"labels,omitempty" jsonschema:"names of its labels"`
	Entities int      `json:"entities" jsonschema:"entities in it, within your sight"`
	Devices  int      `json:"devices" jsonschema:"devices in it"`
}

type floorRow struct {
	ID      string   `json:"floor_id" jsonschema:"floor id"`
	Name    string   `json:"name" jsonschema:"name"`
	Aliases []string `json:"aliases,omitempty" jsonschema:"other names people use"`
	Level   *int     `json:"level,omitempty" jsonschema:"0 is the ground floor"`
	Areas   int      `json:"areas" jsonschema:"areas on it"`
}

type areaOut struct {
	Total     int        `json:"total" jsonschema:"areas that fit"`
	Items     []areaRow  `json:"items" jsonschema:"this page, in order of area id"`
	Floors    []floorRow `json:"floors,omitempty" jsonschema:"the floors, lowest first"`
	Truncated bool       `json:"truncated,omitempty" jsonschema:"true when there is more: go on with next"`
	Next      string     `json:"next,omitempty" jsonschema:"cursor of the next page"`
	Stale     string     `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`

	at cursor
}

// Len and Cut let the door shorten the answer.
func (o areaOut) Len() int { return len(o.Items) }

// Cut ends the page earlier.
func (o areaOut) Cut(keep int) (any, bool) {
	if keep < 1 || keep > len(o.Items) {
		return o, false
	}
	o.Items = o.Items[:keep]
	o.at.Key = o.Items[keep-1].ID
	o.Truncated, o.Next = true, o.at.String()
	return o, true
}

func (b *Box) areaList(ctx context.Context, c tool.Caller, in areaIn) (areaOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return areaOut{}, err
	}
	f, err := v.filter(narrow{Floor: in.Floor})
	if err != nil {
		return areaOut{}, err
	}
	hash := filterHash("area_list", f)
	from, err := parseCursor(in.Cursor, hash)
	if err != nil {
		return areaOut{}, err
	}
	out := areaOut{Items: []areaRow{}, Stale: v.stale(), at: cursor{Filter: hash, Seq: v.Seq()}}
	rooms := map[home.FloorID]int{}
	var fit []home.Area
	for _, a := range v.Areas() {
		rooms[a.Floor]++
		if f.Floor == "" || a.Floor == f.Floor {
			fit = append(fit, a)
		}
	}
	slices.SortFunc(fit, func(a, b home.Area) int { return strings.Compare(string(a.ID), string(b.ID)) })
	devices := map[home.AreaID]int{}
	for _, d := range v.Devices() {
		if d.DisabledBy == "" {
			devices[v.DeviceArea(d.ID)]++
		}
	}
	entities := map[string]int{}
	for _, p := range v.overview().byArea {
		entities[p.ID] = p.Count
	}
	out.Total = len(fit)
	for _, a := range fit {
		if string(a.ID) <= from.Key {
			continue
		}
		if len(out.Items) == in.Limit {
			out.at.Key = out.Items[len(out.Items)-1].ID
			out.Truncated, out.Next = true, out.at.String()
			break
		}
		out.Items = append(out.Items, areaRow{
			ID: string(a.ID), Name: name(a.Name), Aliases: names(a.Aliases), Floor: v.floorName(a.Floor), FloorID: string(a.Floor),
			Labels: v.labels(a.Labels), Entities: entities[string(a.ID)], Devices: devices[a.ID],
		})
	}
	out.Floors = v.floorRows(f.Floor, rooms)
	return out, nil
}

// floorRows are the floors, or the one that was asked for, lowest first.
func (v sight) floorRows(only home.FloorID, rooms map[home.FloorID]int) []floorRow {
	floors := slices.Clone(v.Floors())
	slices.SortStableFunc(floors, func(a, b home.Floor) int {
		switch {
		case a.Level == nil && b.Level == nil:
			return 0
		case a.Level == nil:
			return 1
		case b.Level == nil:
			return -1
		}
		return *a.Level - *b.Level
	})
	var out []floorRow
	for _, f := range floors {
		if only == "" || f.ID == only {
			out = append(out, floorRow{string(f.ID), name(f.Name), names(f.Aliases), f.Level, rooms[f.ID]})
		}
	}
	return first(out, 40)
}
