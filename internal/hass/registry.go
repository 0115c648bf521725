package hass

import (
	"encoding/json"
	"sort"

	"hearth/internal/home"
)

// entityRow decodes one row of the entity registry, of the list or extended.
// The scanner stands before the object; null gives ok false.
func entityRow(s *scanner) (e home.Entity, ok bool) {
	if s.peek() == 'n' {
		s.literal("null")
		return e, false
	}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "entity_id":
			e.ID = home.EntityID(s.text())
		case "id":
			e.RegistryID = s.text()
		case "unique_id":
			e.UniqueID = s.loose()
		case "platform":
			e.Platform = s.textOrNull()
		case "device_id":
			e.Device = home.DeviceID(s.textOrNull())
		case "area_id":
			e.OwnArea = home.AreaID(s.textOrNull())
		case "labels":
			e.Labels = texts[home.LabelID](s)
		case "aliases":
			e.Aliases = texts[string](s)
		case "name":
			e.OwnName = s.textOrNull()
		case "original_name":
			e.OriginalName = s.textOrNull()
		case "next_name_part": // what goes before the entity's own name: device, area (nothing) or null
			e.HasEntity = s.textOrNull() == "device"
		case "entity_category":
			e.Category = s.textOrNull()
		case "hidden_by":
			e.HiddenBy = s.textOrNull()
		case "disabled_by":
			e.DisabledBy = s.textOrNull()
		case "device_class":
			e.Class = s.textOrNull()
		case "original_device_class":
			e.OrigClass = s.textOrNull()
		case "options":
			e.Options = options(s.raw())
		default:
			s.skip()
		}
	}
	if e.ID == "" {
		s.fail()
	}
	return e, true
}

// options copies the per-domain options; most rows share the same few bytes.
func options(raw []byte) json.RawMessage {
	if len(raw) <= 2 || string(raw) == "null" {
		return nil
	}
	return append(json.RawMessage(nil), raw...)
}

// loose reads a string, and takes other values as they are written: some
// integrations give numbers as unique ids.
func (s *scanner) loose() string {
	switch s.peek() {
	case '"', 'n':
		return s.textOrNull()
	}
	return string(s.raw())
}

// texts reads a list of strings; null members (an alias that stands for the
// computed name) are left out.
func texts[T ~string](s *scanner) []T {
	if s.peek() == 'n' {
		s.literal("null")
		return nil
	}
	var out []T
	for s.open('['); s.more(']'); {
		if t := s.textOrNull(); t != "" {
			out = append(out, T(t))
		}
	}
	return out
}

// entityList decodes config/entity_registry/list: [row].
func entityList(raw []byte) ([]home.Entity, bool) {
	s := scanner{b: raw}
	var out []home.Entity
	for s.open('['); s.more(']'); {
		if e, ok := entityRow(&s); ok {
			out = append(out, e)
		}
	}
	return out, s.end()
}

// entityIDs reads only the ids of that list.
func entityIDs(raw []byte) ([]home.EntityID, bool) {
	s := scanner{b: raw}
	var out []home.EntityID
	for s.open('['); s.more(']'); {
		for s.open('{'); s.more('}'); {
			if string(s.key()) == "entity_id" {
				out = append(out, home.EntityID(s.text()))
			} else {
				s.skip()
			}
		}
	}
	return out, s.end()
}

// entityEntries decodes config/entity_registry/get_entries: {id: row or null}.
// Ids that are no longer registered come back as gone.
func entityEntries(raw []byte) (rows []home.Entity, gone []home.EntityID, ok bool) {
	s := scanner{b: raw}
	for s.open('{'); s.more('}'); {
		id := home.EntityID(s.key())
		if e, there := entityRow(&s); there {
			rows = append(rows, e)
		} else {
			gone = append(gone, id)
		}
	}
	return rows, gone, s.end()
}

// The rows below are short lists, for which encoding/json is good enough.

type deviceRow struct {
	ID           home.DeviceID  `json:"id"`
	Name         string         `json:"name"`
	NameByUser   string         `json:"name_by_user"`
	Manufacturer string         `json:"manufacturer"`
	Model        string         `json:"model"`
	Area         home.AreaID    `json:"area_id"`
	Parent       home.DeviceID  `json:"parent_device_id"`
	Via          home.DeviceID  `json:"via_device_id"`
	Labels       []home.LabelID `json:"labels"`
	DisabledBy   string         `json:"disabled_by"`
	EntryType    string         `json:"entry_type"`
}

type areaRow struct {
	ID      home.AreaID    `json:"area_id"`
	Name    string         `json:"name"`
	Aliases []string       `json:"aliases"`
	Floor   home.FloorID   `json:"floor_id"`
	Labels  []home.LabelID `json:"labels"`
}

type floorRow struct {
	ID      home.FloorID `json:"floor_id"`
	Name    string       `json:"name"`
	Aliases []string     `json:"aliases"`
	Level   *int         `json:"level"`
}

type labelRow struct {
	ID    home.LabelID `json:"label_id"`
	Name  string       `json:"name"`
	Color string       `json:"color"`
}

type splitRow struct {
	Into []home.DeviceID `json:"split_ids"`
}

type userRow struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	System bool   `json:"system_generated"`
}

type personRows struct {
	Storage []personRow `json:"storage"`
	Config  []personRow `json:"config"`
}

type personRow struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	User string `json:"user_id"`
}

func devices(rows []deviceRow) []home.Device {
	out := make([]home.Device, len(rows))
	for i, r := range rows {
		out[i] = home.Device(r)
	}
	return out
}

func areas(rows []areaRow) []home.Area {
	out := make([]home.Area, len(rows))
	for i, r := range rows {
		out[i] = home.Area(r)
	}
	return out
}

func floors(rows []floorRow) []home.Floor {
	out := make([]home.Floor, len(rows))
	for i, r := range rows {
		out[i] = home.Floor(r)
	}
	return out
}

func labels(rows []labelRow) []home.Label {
	out := make([]home.Label, len(rows))
	for i, r := range rows {
		out[i] = home.Label(r)
	}
	return out
}

func composites(rows map[home.DeviceID]splitRow) map[home.DeviceID][]home.DeviceID {
	out := make(map[home.DeviceID][]home.DeviceID, len(rows))
	for id, r := range rows {
		out[id] = r.Into
	}
	return out
}

// users joins accounts with persons. Who may not list the accounts still learns
// the ids and names of those who are persons. entity finds the person's entity
// by the person's own id.
func users(accounts []userRow, persons personRows, entity func(person string) home.EntityID) []home.User {
	all := append(append([]personRow(nil), persons.Storage...), persons.Config...)
	byUser := map[string]personRow{}
	for _, p := range all {
		if p.User != "" {
			byUser[p.User] = p
		}
	}
	out := make([]home.User, 0, len(accounts)+len(byUser))
	for _, a := range accounts {
		u := home.User{ID: a.ID, Name: a.Name, System: a.System}
		if p, ok := byUser[a.ID]; ok {
			u.Person = entity(p.ID)
			delete(byUser, a.ID)
		}
		out = append(out, u)
	}
	for id, p := range byUser {
		out = append(out, home.User{ID: id, Name: p.Name, Person: entity(p.ID)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out
}

type infoRow struct {
	Name       string            `json:"location_name"`
	Version    string            `json:"version"`
	Zone       string            `json:"time_zone"`
	State      string            `json:"state"`
	Language   string            `json:"language"`
	Currency   string            `json:"currency"`
	Country    string            `json:"country"`
	Units      map[string]string `json:"unit_system"`
	Components []string          `json:"components"`
}

func (r infoRow) info() home.Info {
	return home.Info{
		Name: r.Name, Version: r.Version, Zone: r.Zone, State: r.State, Language: r.Language,
		Currency: r.Currency, Country: r.Country, Units: r.Units, Components: len(r.Components),
	}
}

type serviceRow struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description"`
	Fields      map[string]serviceFieldRow `json:"fields"`
	Target      json.RawMessage            `json:"target"`
	Response    *struct {
		Optional bool `json:"optional"`
	} `json:"response"`
}

type serviceFieldRow struct {
	Required    bool                       `json:"required"`
	Description string                     `json:"description"`
	Example     json.RawMessage            `json:"example"`
	Selector    json.RawMessage            `json:"selector"`
	Fields      map[string]serviceFieldRow `json:"fields"` // a collapsed group of fields
}

// services flattens {domain: {service: description}}, ordered by name.
func services(rows map[string]map[string]serviceRow) []home.Service {
	var out []home.Service
	for domain, of := range rows {
		for name, r := range of {
			s := home.Service{Domain: domain, Name: name, Title: r.Name, Description: r.Description, Response: "none"}
			if t := string(r.Target); t != "" && t != "null" {
				s.Target = r.Target
			}
			if r.Response != nil {
				s.Response = "only"
				if r.Response.Optional {
					s.Response = "optional"
				}
			}
			s.Fields = serviceFields(nil, r.Fields)
			sort.Slice(s.Fields, func(i, j int) bool { return s.Fields[i].Name < s.Fields[j].Name })
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Domain != out[j].Domain {
			return out[i].Domain < out[j].Domain
		}
		return out[i].Name < out[j].Name
	})
	return out
}

func serviceFields(out []home.ServiceField, rows map[string]serviceFieldRow) []home.ServiceField {
	for name, f := range rows {
		if len(f.Fields) > 0 {
			out = serviceFields(out, f.Fields)
			continue
		}
		out = append(out, home.ServiceField{
			Name: name, Required: f.Required, Description: f.Description, Example: f.Example, Selector: f.Selector,
		})
	}
	return out
}
