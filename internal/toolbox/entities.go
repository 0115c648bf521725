package toolbox

import (
	"context"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/tool"
)

func (b *Box) entityShelf() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name:     "entity_search",
			Title:    "Find entities by words",
			About:    "Finds entities by what people call them: name, alias, id, area, floor or label, in any order, tolerant of typing errors, accents and languages without spaces. Use it to turn words into entity ids before reading or acting. Each hit says why it matched; ambiguous=true means that the words fit several equally well: ask which one is meant.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{"query":"kitchen light"}`, `{"query":"kichen lihgt","domain":"light","limit":5}`},
		}, b.entitySearch),
		tool.NewRead(tool.Spec{
			Name:     "entity_list",
			Title:    "List entities",
			About:    "Lists the entities that fit all given filters, in order of their ids. Without any filter it answers how many there are by domain, area and floor instead of listing. Areas, floors, labels and devices are given by id or name. Ask for more columns with fields; go on with cursor=next.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{"domain":"light","area":"kitchen"}`, `{"class":"battery","fields":["name","state","area"]}`, `{"state":"unavailable","fields":["name","area","changed"]}`, `{}`},
		}, b.entityList),
		tool.NewRead(tool.Spec{
			Name:     "entity_get",
			Title:    "One entity in full",
			About:    "Everything about one entity: state, unit, attributes, area, floor, device, labels, aliases and when it last changed. Takes an entity id, or a name that only one entity has. Long attributes are cut; name them in attributes to get them whole. fresh=true reads it from Home Assistant now instead of from memory.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{"entity_id":"light.kitchen_lights"}`, `{"entity_id":"light.kitchen_lights","attributes":["brightness"],"fresh":true}`},
		}, b.entityGet),
	}
}

// entityRow is an entity in a list. Only what was asked for is filled.
type entityRow struct {
	ID       home.EntityID `json:"entity_id" jsonschema:"entity id"`
	Name     string        `json:"name,omitempty" jsonschema:"name as Home Assistant shows it"`
	State    string        `json:"state,omitempty" jsonschema:"state, raw"`
	Unit     string        `json:"unit,omitempty" jsonschema:"unit of the state"`
	Area     string        `json:"area,omitempty" jsonschema:"name of the area, its own or its device's"`
	AreaID   string        `json:"area_id,omitempty" jsonschema:"id of the area"`
	Floor    string        `json:"floor,omitempty" jsonschema:"name of the floor"`
	FloorID  string        `json:"floor_id,omitempty" jsonschema:"id of the floor"`
	Device   string        `json:"device,omitempty" jsonschema:"name of the device"`
	DeviceID string        `json:"device_id,omitempty" jsonschema:"id of the device"`
	Labels   []string      `json:"labels,omitempty" jsonschema:"names of its labels"`
	Aliases  []string      `json:"aliases,omitempty" jsonschema:"other names people use"`
	Class    string        `json:"class,omitempty" jsonschema:"device class"`
	Platform string        `json:"platform,omitempty" jsonschema:"integration"`
	Category string        `json:"category,omitempty" jsonschema:"config or diagnostic"`
	Changed  string        `json:"changed,omitempty" jsonschema:"when the state last changed"`
	Updated  string        `json:"updated,omitempty" jsonschema:"when state or attributes last changed"`
	Why      string        `json:"why,omitempty" jsonschema:"what matched"`
}

// row fills the columns that are asked for.
func (v sight) row(e *home.Entity, s *home.State, fields []string) entityRow {
	r := entityRow{ID: e.ID}
	for _, f := range fields {
		switch f {
		case "name":
			r.Name = name(e.Name)
		case "state":
			r.State, r.Unit = value(s), unit(s)
		case "unit":
			r.Unit = unit(s)
		case "area":
			r.Area, r.AreaID = v.areaName(e.Area), string(e.Area)
		case "floor":
			r.Floor, r.FloorID = v.floorName(e.Floor), string(e.Floor)
		case "device":
			r.Device, r.DeviceID = v.deviceName(e.Device), string(e.Device)
		case "labels":
			r.Labels = v.labels(e.Labels)
		case "aliases":
			r.Aliases = names(e.Aliases)
		case "class":
			r.Class = mirror.Class(e, s)
		case "platform":
			r.Platform = e.Platform
		case "category":
			r.Category = e.Category
		case "changed":
			if s != nil {
				r.Changed = v.at(s.Changed)
			}
		case "updated":
			if s != nil {
				r.Updated = v.at(s.Updated)
			}
		}
	}
	return r
}

func (v sight) labels(ids []home.LabelID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, v.labelName(id))
	}
	return out
}

func names(all []string) []string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, name(s))
		}
	}
	return out
}

type searchIn struct {
	Query  string `json:"query" jsonschema:"Words to look for, as a person would say them" min:"1" max:"200"`
	Domain string `json:"domain,omitempty" jsonschema:"Only this domain, such as light"`
	Area   string `json:"area,omitempty" jsonschema:"Only this area: id, name or alias"`
	Floor  string `json:"floor,omitempty" jsonschema:"Only this floor: id, name or alias"`
	Label  string `json:"label,omitempty" jsonschema:"Only with this label: id or name"`
	Limit  int    `json:"limit,omitempty" jsonschema:"How many hits at most" default:"6" min:"1" max:"50"`
}

type searchOut struct {
	Items     []entityRow `json:"items" jsonschema:"hits, best first"`
	Ambiguous bool        `json:"ambiguous" jsonschema:"true when the words fit the first hits equally well"`
	Truncated bool        `json:"truncated,omitempty" jsonschema:"true when hits were left off to keep the answer short"`
	Note      string      `json:"note,omitempty" jsonschema:"what to try next"`
	Stale     string      `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`
}

// Len and Cut let the door shorten the answer.
func (o searchOut) Len() int { return len(o.Items) }

// Cut keeps the best hits.
func (o searchOut) Cut(keep int) (any, bool) {
	o.Items, o.Truncated = o.Items[:keep], true
	return o, true
}

func (b *Box) entitySearch(ctx context.Context, c tool.Caller, in searchIn) (searchOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return searchOut{}, err
	}
	if b.Recall == nil {
		return searchOut{}, home.Errorf(home.Offline, "the search index is not there").WithHint("entity_list finds by filters")
	}
	f, err := v.filter(narrow{Domain: in.Domain, Area: in.Area, Floor: in.Floor, Label: in.Label})
	if err != nil {
		return searchOut{}, err
	}
	hits, ambiguous := b.Recall.Find(v.sc, recall.Query{Text: in.Query, Domain: f.Domain, Area: f.Area, Floor: f.Floor, Label: f.Label, Limit: in.Limit})
	out := searchOut{Items: []entityRow{}, Ambiguous: ambiguous, Stale: v.stale()}
	for _, h := range hits {
		e, s, ok := v.Entity(v.sc, h.Entity.ID)
		if !ok {
			continue // gone since the index was read
		}
		r := v.row(e, s, []string{"name", "state", "area"})
		r.Why = home.Clip(clean(h.Why), 160)
		out.Items = append(out.Items, r)
	}
	if len(out.Items) == 0 {
		out.Note = "nothing matches; try fewer or other words, or entity_list with a domain or an area"
	}
	return out, nil
}

type listIn struct {
	Domain string   `json:"domain,omitempty" jsonschema:"Only this domain, such as light"`
	Area   string   `json:"area,omitempty" jsonschema:"Only in this area: id, name or alias"`
	Floor  string   `json:"floor,omitempty" jsonschema:"Only on this floor: id, name or alias"`
	Label  string   `json:"label,omitempty" jsonschema:"Only with this label: id or name"`
	Device string   `json:"device,omitempty" jsonschema:"Only of this device: id or name"`
	State  string   `json:"state,omitempty" jsonschema:"Only in this state, exactly: on, unavailable, 21.5"`
	Class  string   `json:"class,omitempty" jsonschema:"Only of this device class: battery, window, temperature"`
	Name   string   `json:"name,omitempty" jsonschema:"Only with this text in name, alias or id"`
	Fields []string `json:"fields,omitempty" jsonschema:"Columns beside entity_id; default name, state, area" enum:"name,state,unit,area,floor,device,labels,aliases,class,platform,category,changed,updated"`
	Limit  int      `json:"limit,omitempty" jsonschema:"How many rows at most" default:"50" min:"1" max:"200"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type listOut struct {
	Total     int          `json:"total" jsonschema:"entities that fit all filters"`
	Items     []entityRow  `json:"items,omitempty" jsonschema:"this page, in order of entity id"`
	Truncated bool         `json:"truncated,omitempty" jsonschema:"true when there is more: go on with next"`
	Next      string       `json:"next,omitempty" jsonschema:"cursor of the next page"`
	Domains   []count      `json:"domains,omitempty" jsonschema:"without a filter: entities by domain"`
	Areas     []placeCount `json:"areas,omitempty" jsonschema:"without a filter: entities by area"`
	Floors    []placeCount `json:"floors,omitempty" jsonschema:"without a filter: entities by floor"`
	More      int          `json:"more_domains,omitempty" jsonschema:"domains not shown"`
	MoreAreas int          `json:"more_areas,omitempty" jsonschema:"areas not shown"`
	MoreFloor int          `json:"more_floors,omitempty" jsonschema:"floors not shown"`
	NoArea    int          `json:"no_area,omitempty" jsonschema:"without a filter: entities in no area"`
	Note      string       `json:"note,omitempty" jsonschema:"what to try next"`
	Stale     string       `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`

	at cursor
}

// Len and Cut let the door shorten the answer.
func (o listOut) Len() int { return len(o.Items) }

// Cut ends the page earlier.
func (o listOut) Cut(keep int) (any, bool) {
	if keep < 1 || keep > len(o.Items) {
		return o, false
	}
	o.Items = o.Items[:keep]
	o.at.Key = string(o.Items[keep-1].ID)
	o.Truncated, o.Next = true, o.at.String()
	return o, true
}

// histogram is how many rows of each kind an unfiltered list shows.
const histogram = 40

func (b *Box) entityList(ctx context.Context, c tool.Caller, in listIn) (listOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return listOut{}, err
	}
	n := narrow{in.Domain, in.Area, in.Floor, in.Label, in.Device, in.State}
	in.Class = strings.ToLower(strings.TrimSpace(in.Class))
	if n == (narrow{}) && strings.TrimSpace(in.Name) == "" && in.Class == "" {
		if in.Cursor != "" {
			return listOut{}, home.Errorf(home.Invalid, "a cursor needs the filters it was made with").WithHint("keep all other arguments as they were, or leave cursor out")
		}
		t := v.overview()
		return listOut{Total: t.total, Domains: first(t.byDomain, histogram), Areas: first(t.byArea, histogram), Floors: first(t.byFloor, histogram),
			More: max(0, len(t.byDomain)-histogram), MoreAreas: max(0, len(t.byArea)-histogram), MoreFloor: max(0, len(t.byFloor)-histogram),
			NoArea: t.noArea, Note: "add a filter to list entities", Stale: v.stale()}, nil
	}
	f, err := v.filter(n)
	if err != nil {
		return listOut{}, err
	}
	part := newPart(in.Name)
	hash := filterHash("entity_list", []any{f, part.raw, in.Class})
	from, err := parseCursor(in.Cursor, hash)
	if err != nil {
		return listOut{}, err
	}
	if len(in.Fields) == 0 {
		in.Fields = []string{"name", "state", "area"}
	}
	out := listOut{Stale: v.stale(), at: cursor{Filter: hash, Seq: v.Seq()}}
	for e, s := range v.Entities(v.sc, f) {
		if s == nil || part.raw != "" && !part.in(e) || in.Class != "" && mirror.Class(e, s) != in.Class {
			continue
		}
		if out.Total++; string(e.ID) <= from.Key || out.Truncated {
			continue
		}
		if len(out.Items) == in.Limit {
			out.Truncated = true
			continue
		}
		out.Items = append(out.Items, v.row(e, s, in.Fields))
	}
	if out.Truncated {
		out.at.Key = string(out.Items[len(out.Items)-1].ID)
		out.Next = out.at.String()
	}
	if out.Total == 0 {
		out.Note = v.emptyNote(f, in.State, in.Class)
	}
	return out, nil
}

// parted is a text to look for in names and ids. Ids are compared as they are,
// since folding every one of them would cost more than the rest of the walk.
type parted struct{ folded, raw, id string }

func newPart(s string) parted {
	f := fold(s)
	return parted{f, strings.ToLower(strings.TrimSpace(s)), strings.ReplaceAll(f, " ", "_")}
}

// in reports whether an entity has the text in id, name or alias.
func (p parted) in(e *home.Entity) bool {
	return strings.Contains(string(e.ID), p.raw) || p.id != "" && strings.Contains(string(e.ID), p.id) ||
		p.folded != "" && (strings.Contains(fold(e.Name), p.folded) || slices.ContainsFunc(e.Aliases, func(a string) bool { return strings.Contains(fold(a), p.folded) }))
}

// emptyNote says what would not have been empty.
func (v sight) emptyNote(f mirror.Filter, state, class string) string {
	f.State = ""
	states, classes := map[string]int{}, map[string]int{}
	for e, s := range v.Entities(v.sc, f) {
		if s == nil || len(states) >= 1000 {
			continue
		}
		c := mirror.Class(e, s)
		if c != "" {
			classes[c]++
		}
		if class == "" || c == class {
			states[value(s)]++
		}
	}
	switch {
	case class != "" && classes[class] == 0 && len(classes) > 0:
		return "no entity is of class " + tool.Quote(class, 40) + "; the classes here are " + most(classes, 12)
	case state != "" && len(states) > 0:
		return "no entity is in state " + tool.Quote(state, 40) + "; the states here are " + most(states, 5)
	}
	return "nothing fits all filters; leave one out"
}

// most names the n that there are most of.
func most(seen map[string]int, n int) string {
	var all []count
	for s, n := range seen {
		all = append(all, count{s, n})
	}
	byCount(all, func(c count) (int, string) { return c.Count, c.Name })
	var said []string
	for _, s := range first(all, n) {
		said = append(said, tool.Quote(s.Name, 40))
	}
	return strings.Join(said, ", ")
}
