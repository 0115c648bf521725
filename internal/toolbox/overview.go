package toolbox

import (
	"context"
	"encoding/json"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// overviewBytes is what the overview may cost at any size of the house.
const overviewBytes = 2500

func (b *Box) houseShelf() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name:     "house_overview",
			Title:    "House overview",
			About:    "The house at a glance, always short: how many entities by domain, area and floor, who is home, which lights are on, what is open, unlocked or unavailable. Start here. Lists show the first few beside the true total; entity_list gives the rest (for example state=unavailable).",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{}`},
			URI:      "hearth://house",
			Topics:   []string{"state", "registry", "link"},
		}, b.houseOverview),
		tool.NewRead(tool.Spec{
			Name:     "hearth_status",
			Title:    "Hearth's own status",
			About:    "Whether Hearth itself is well: the link to Home Assistant, how far the journal lags, what the journal covers, lit conditions each with its remedy, and how complete the indexes are. Ask this when answers are stale or offline errors come.",
			Class:    home.Read,
			Core:     true,
			Examples: []string{`{}`},
		}, b.hearthStatus),
	}
}

type nothing struct{}

type overview struct {
	House       string       `json:"house" jsonschema:"name of the house"`
	Time        string       `json:"time" jsonschema:"now, with the home's own offset"`
	State       string       `json:"state,omitempty" jsonschema:"what Home Assistant says of itself, when it is not RUNNING"`
	Stale       string       `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`
	Entities    int          `json:"entities" jsonschema:"entities with a state, within your sight"`
	Domains     []count      `json:"domains" jsonschema:"the largest domains"`
	MoreDomains int          `json:"more_domains,omitempty" jsonschema:"domains not shown"`
	Areas       []placeCount `json:"areas" jsonschema:"the areas with most entities"`
	MoreAreas   int          `json:"more_areas,omitempty" jsonschema:"areas not shown"`
	NoArea      int          `json:"no_area" jsonschema:"entities in no area"`
	Floors      []placeCount `json:"floors" jsonschema:"floors"`
	MoreFloors  int          `json:"more_floors,omitempty" jsonschema:"floors not shown"`
	Home        who          `json:"home" jsonschema:"who is home"`
	LightsOn    some         `json:"lights_on" jsonschema:"lights that are on"`
	Open        some         `json:"open" jsonschema:"open doors, windows, covers and valves"`
	Unlocked    some         `json:"unlocked" jsonschema:"locks that are not locked"`
	Unavailable some         `json:"unavailable" jsonschema:"entities that cannot be reached"`
}

type who struct {
	People int      `json:"people" jsonschema:"persons known"`
	AtHome int      `json:"at_home" jsonschema:"of them at home"`
	Where  []person `json:"where" jsonschema:"where they are, those at home first"`
}

type person struct {
	ID   string `json:"id" jsonschema:"entity id of the person"`
	Name string `json:"name" jsonschema:"name"`
	Zone string `json:"zone" jsonschema:"home, not_home or the name of a zone"`
}

type some struct {
	Total int     `json:"total" jsonschema:"how many"`
	First []thing `json:"first,omitempty" jsonschema:"the first of them"`
}

type thing struct {
	ID   string `json:"id" jsonschema:"entity id"`
	Name string `json:"name" jsonschema:"name"`
}

func (b *Box) houseOverview(ctx context.Context, c tool.Caller, _ nothing) (overview, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return overview{}, err
	}
	t := v.overview()
	for n := findings; ; n-- {
		o := v.glance(t, n)
		raw, err := json.Marshal(o)
		if err != nil || len(raw) <= overviewBytes || n == 1 {
			return o, err
		}
	}
}

// glance shows a tally with at most n of everything.
func (v sight) glance(t *tally, n int) overview {
	info := v.Info()
	o := overview{
		House: name(info.Name), Time: v.at(v.b.now()), Stale: v.stale(), Entities: t.total, NoArea: t.noArea,
		Domains: first(t.byDomain, n), Areas: first(t.byArea, n), Floors: first(t.byFloor, n),
		MoreDomains: max(0, len(t.byDomain)-n), MoreAreas: max(0, len(t.byArea)-n), MoreFloors: max(0, len(t.byFloor)-n),
		Home:     who{People: len(t.people), AtHome: t.atHome, Where: []person{}},
		LightsOn: t.lightsOn.some(n), Open: t.open.some(n), Unlocked: t.unlocked.some(n), Unavailable: t.unavailable.some(n),
	}
	if info.State != "RUNNING" {
		o.State = name(info.State)
	}
	for _, p := range first(t.people, n) {
		o.Home.Where = append(o.Home.Where, person{string(p.ID), home.Clip(v.nameOf(p.ID), shortMax), home.Clip(value(p), shortMax)})
	}
	return o
}

func (f found) some(n int) some {
	s := some{Total: f.total}
	for _, x := range first(f.first, n) {
		s.First = append(s.First, thing{string(x.e.ID), home.Clip(clean(x.e.Name), shortMax)})
	}
	return s
}

// first is the beginning of a list, never nil so that it is [] in JSON.
func first[T any](all []T, n int) []T {
	return append([]T{}, all[:min(len(all), n)]...)
}
