package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

func (b *Box) serviceShelf() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name:     "service_list",
			Title:    "List services",
			About:    "What Home Assistant can be told to do. Without arguments: how many services each domain has. With domain: its services and their fields. With service: that one in full. With search: services whose name, description or field names have the words. Use it before service_call when the fields of a service are not known.",
			Class:    home.Read,
			Core:     true,
			Examples: []string{`{}`, `{"domain":"light"}`, `{"service":"climate.set_temperature"}`, `{"search":"volume"}`},
		}, b.serviceList),
		tool.NewWrite(tool.Spec{
			Name:  "service_call",
			Title: "Call a service",
			About: "Makes the house do something: calls a Home Assistant service on entities, devices, areas, floors or labels, waits until the house shows the result and says what became of each entity (done, already, sent: not seen yet, unknown: may have happened, failed, refused). Targets are ids, or names that only one thing has; anything unclear is refused with candidates. toggle and relative steps are turned into the absolute state they mean now. A call is never sent twice: on unknown, read the state before trying again. dry_run=true shows what would be sent.",
			Class: home.Act,
			// What it may do is whatever the service does: the judge decides per call.
			Varies:  true,
			Slow:    45 * time.Second,
			Core:    true,
			Compact: true,
			Examples: []string{
				`{"service":"light.turn_on","area_id":["kitchen"],"data":{"brightness_pct":40}}`,
				`{"service":"climate.set_temperature","entity_id":["climate.hvac"],"data":{"temperature":21},"dry_run":true}`,
			},
		}, b.serviceCall),
	}
}

type serviceIn struct {
	Domain  string `json:"domain,omitempty" jsonschema:"Services of this domain, such as light"`
	Service string `json:"service,omitempty" jsonschema:"This service in full, such as light.turn_on"`
	Search  string `json:"search,omitempty" jsonschema:"Words in name, description or field names"`
	Limit   int    `json:"limit,omitempty" jsonschema:"How many services at most" default:"30" min:"1" max:"100"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type serviceRow struct {
	Service  string     `json:"service" jsonschema:"domain.service as service_call takes it"`
	Title    string     `json:"title,omitempty" jsonschema:"its title"`
	About    string     `json:"about,omitempty" jsonschema:"what it does"`
	Target   bool       `json:"target,omitempty" jsonschema:"whether it acts on entities, devices or areas"`
	Response string     `json:"response,omitempty" jsonschema:"optional or only, when it can answer with data"`
	Fields   []fieldRow `json:"fields,omitempty" jsonschema:"what its data may hold"`
}

type fieldRow struct {
	Name     string `json:"name" jsonschema:"key in data"`
	Required bool   `json:"required,omitempty" jsonschema:"whether it must be given"`
	Type     string `json:"type,omitempty" jsonschema:"kind of value: number, text, boolean, select…"`
	About    string `json:"about,omitempty" jsonschema:"what it means"`
	Example  string `json:"example,omitempty" jsonschema:"an example as JSON"`

	Min     *float64 `json:"min,omitempty" jsonschema:"lowest number"`
	Max     *float64 `json:"max,omitempty" jsonschema:"highest number"`
	Unit    string   `json:"unit,omitempty" jsonschema:"unit of the number"`
	Options []string `json:"options,omitempty" jsonschema:"with service: the values it takes"`
	More    int      `json:"more_options,omitempty" jsonschema:"options not shown"`
}

type serviceOut struct {
	Total     int          `json:"total" jsonschema:"services that fit"`
	Domains   []count      `json:"domains,omitempty" jsonschema:"without arguments: services by domain"`
	Items     []serviceRow `json:"items,omitempty" jsonschema:"this page, in order of domain and name"`
	Truncated bool         `json:"truncated,omitempty" jsonschema:"true when there is more: go on with next"`
	Next      string       `json:"next,omitempty" jsonschema:"cursor of the next page"`
	Note      string       `json:"note,omitempty" jsonschema:"what to try next"`
	Stale     string       `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`

	at cursor
}

// Len and Cut let the door shorten the answer.
func (o serviceOut) Len() int { return len(o.Items) }

// Cut ends the page earlier.
func (o serviceOut) Cut(keep int) (any, bool) {
	if keep < 1 || keep > len(o.Items) {
		return o, false
	}
	o.Items = o.Items[:keep]
	o.at.Key = o.Items[keep-1].Service
	o.Truncated, o.Next = true, o.at.String()
	return o, true
}

// optionsMost is how many options of a field are shown.
const optionsMost = 40

func (b *Box) serviceList(ctx context.Context, c tool.Caller, in serviceIn) (serviceOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return serviceOut{}, err
	}
	if in.Service == "" && strings.Contains(in.Domain, ".") {
		in.Service, in.Domain = in.Domain, ""
	}
	if in.Service != "" {
		s, err := v.service(in.Service, nil)
		if err != nil {
			return serviceOut{}, err
		}
		row := serviceRowOf(*s, true)
		for i, f := range s.Fields {
			options := optionsOf(f.Selector)
			for _, o := range first(options, optionsMost) {
				row.Fields[i].Options = append(row.Fields[i].Options, home.Clip(clean(o), 60))
			}
			row.Fields[i].More = max(0, len(options)-optionsMost)
		}
		return serviceOut{Total: 1, Items: []serviceRow{row}, Stale: v.stale()}, nil
	}
	in.Domain, in.Search = strings.ToLower(strings.TrimSpace(in.Domain)), fold(in.Search)
	if in.Domain == "" && in.Search == "" {
		return v.serviceDomains(), nil
	}
	hash := filterHash("service_list", []string{in.Domain, in.Search})
	from, err := parseCursor(in.Cursor, hash)
	if err != nil {
		return serviceOut{}, err
	}
	out := serviceOut{Stale: v.stale(), at: cursor{Filter: hash, Seq: v.Seq()}}
	known := false
	for _, s := range v.Services() {
		if in.Domain != "" && s.Domain != in.Domain {
			continue
		}
		known = true
		if !serviceHas(s, in.Search) {
			continue
		}
		if out.Total++; s.Domain+"."+s.Name <= from.Key || len(out.Items) == in.Limit {
			out.Truncated = out.Truncated || len(out.Items) == in.Limit
			continue
		}
		out.Items = append(out.Items, serviceRowOf(s, in.Domain != ""))
	}
	if !known {
		return out, v.noServiceDomain(in.Domain)
	}
	if out.Truncated {
		out.at.Key = out.Items[len(out.Items)-1].Service
		out.Next = out.at.String()
	}
	if out.Total == 0 {
		out.Note = "no service has these words; try fewer, or list a domain"
	}
	return out, nil
}

// serviceHas reports whether all words of a folded search are somewhere in a
// service's name, title, description or names of fields.
func serviceHas(s home.Service, search string) bool {
	if search == "" {
		return true
	}
	text := s.Domain + " " + s.Name + " " + s.Title + " " + s.Description
	for _, f := range s.Fields {
		text += " " + f.Name
	}
	text = fold(text)
	for _, w := range strings.Fields(search) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (v sight) serviceDomains() serviceOut {
	out := serviceOut{Total: len(v.Services()), Note: "pass a domain to see its services", Stale: v.stale()}
	for _, s := range v.Services() {
		if n := len(out.Domains); n == 0 || out.Domains[n-1].Name != s.Domain {
			out.Domains = append(out.Domains, count{Name: s.Domain})
		}
		out.Domains[len(out.Domains)-1].Count++
	}
	return out
}

func (v sight) noServiceDomain(d string) error {
	var all []string
	for _, c := range v.serviceDomains().Domains {
		all = append(all, c.Name)
	}
	e := home.Errorf(home.NotFound, "no services of domain %s", tool.Quote(d, 40))
	if near := tool.Nearest(d, all, 3); len(near) > 0 {
		return e.WithHint("Did you mean %s? service_list without arguments lists the domains.", either(near, len(near)))
	}
	return e.WithHint("service_list without arguments lists the domains.")
}

// service finds a service by domain.service, or the error with the nearest
// ones. Of a name without a domain those for the given domains are proposed.
func (v sight) service(s string, domains []string) (*home.Service, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	domain, name, ok := strings.Cut(s, ".")
	if ok {
		if svc := v.Service(domain, name); svc != nil {
			return svc, nil
		}
	}
	var all, bare []string
	for _, x := range v.Services() {
		all = append(all, x.Domain+"."+x.Name)
		if x.Name == s {
			bare = append(bare, x.Domain+"."+x.Name)
		}
	}
	if !ok && len(bare) == 0 {
		return nil, home.Errorf(home.Invalid, "%s is no service", tool.Quote(s, 60)).WithHint("write it as domain.service, for example light.turn_on")
	}
	e := home.Errorf(home.NotFound, "no service %s", tool.Quote(s, 80))
	near := fitting(bare, domains)
	if ok {
		near = tool.Nearest(s, all, 3)
	}
	if len(near) == 0 {
		return nil, e.WithHint("Try service_list.")
	}
	return nil, e.WithHint("Did you mean %s? Try service_list.", either(first(near, 3), len(near)))
}

// fitting keeps the services of the domains, and those of homeassistant behind
// them, when there are any.
func fitting(services, domains []string) []string {
	var own, general []string
	for _, s := range services {
		switch d, _, _ := strings.Cut(s, "."); {
		case slices.Contains(domains, d):
			own = append(own, s)
		case d == "homeassistant":
			general = append(general, s)
		}
	}
	if len(own) == 0 {
		return services
	}
	return append(own, general...)
}

// serviceRowOf shows a service; its fields only where few are shown.
func serviceRowOf(s home.Service, full bool) serviceRow {
	r := serviceRow{Service: s.Domain + "." + s.Name, Title: name(s.Title), About: home.Clip(clean(s.Description), 200), Target: len(s.Target) > 0}
	if s.Response != "none" {
		r.Response = s.Response
	}
	if !full {
		r.About = home.Clip(r.About, 120)
		return r
	}
	for _, f := range s.Fields {
		row := fieldRow{Name: f.Name, Required: f.Required, About: home.Clip(clean(f.Description), 120)}
		for k, v := range members(f.Selector) {
			row.Type = k
			row.bounds(v)
			break
		}
		if text, ok := mirror.Unquote(f.Example); ok { // Home Assistant writes examples as text
			row.Example = home.Clip(clean(text), 80)
		} else if len(f.Example) <= 80 && json.Valid(f.Example) {
			row.Example = clean(string(f.Example))
		}
		r.Fields = append(r.Fields, row)
	}
	return r
}

// bounds shows the range and unit of a selector that has them: of a number, of
// a colour temperature.
func (r *fieldRow) bounds(selector json.RawMessage) {
	var sel struct {
		Min, Max *float64
		Unit     string
		Of       string `json:"unit_of_measurement"`
	}
	if json.Unmarshal(selector, &sel) != nil {
		return
	}
	r.Min, r.Max, r.Unit = sel.Min, sel.Max, home.Clip(clean(cmp.Or(sel.Of, sel.Unit)), 20)
}

// notANumber refuses a value of a number's field, with the range it takes.
func notANumber(service string, f home.ServiceField, v json.RawMessage) error {
	text, ok := mirror.Unquote(v)
	if !ok {
		text = string(v)
	}
	e := home.Errorf(home.Invalid, "%s wants a number in %s, not %s", service, f.Name, tool.Quote(text, 60))
	var row fieldRow
	for _, sel := range members(f.Selector) {
		row.bounds(sel)
	}
	if row.Min == nil || row.Max == nil {
		return e.WithHint("give it without quotes and unit")
	}
	return e.WithHint("give it without quotes and unit, from %v to %v", *row.Min, *row.Max)
}
