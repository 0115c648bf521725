package home

import (
	"encoding/json"
	"time"
)

// Context is Home Assistant's thread of cause: the id of what happened, the id
// of what caused it, and the user at the root. Any part may be empty.
type Context struct {
	ID     string `json:"id,omitempty"`
	Parent string `json:"parent_id,omitempty"`
	User   string `json:"user_id,omitempty"`
}

// State is what an entity shows at one moment. Attrs is a JSON object with
// secrets and coordinates already stripped. Times are UTC with microseconds,
// as Home Assistant keeps them. A State is never changed once handed out.
type State struct {
	ID      EntityID
	Value   string          // "on", "21.5", "unavailable"
	Attrs   json.RawMessage // JSON object; "{}" when empty
	Changed time.Time       // last_changed: the value changed
	Updated time.Time       // last_updated: the value or an attribute changed
	Context Context
}

// The two values every domain shares for "no real state".
const (
	Unavailable = "unavailable"
	Unknown     = "unknown"
)

// Available reports whether the state is neither unavailable nor unknown.
func (s *State) Available() bool {
	return s != nil && s.Value != Unavailable && s.Value != Unknown
}

// Entity is one row of the entity registry, or a bare stand-in for an entity
// that has a state but no row (RegistryID is then ""). The fields after the
// blank line are computed by the mirror's joins.
type Entity struct {
	ID           EntityID
	RegistryID   string // the row's own id, stable across renames; "" without a row
	UniqueID     string
	Platform     string // the integration, such as "hue"
	Device       DeviceID
	OwnArea      AreaID // the area set on the entity itself
	Labels       []LabelID
	Aliases      []string
	OwnName      string // the name a person gave
	OriginalName string // the name the integration gave
	HasEntity    bool   // has_entity_name: the name is relative to the device's
	Category     string // "", "config", "diagnostic"
	HiddenBy     string // "", "user", "integration"
	DisabledBy   string // "", "user", "integration", "device", "config_entry"
	Class        string // device_class the person set; "" means the integration's
	OrigClass    string // device_class the integration gave
	Options      json.RawMessage

	Name  string  // as Home Assistant's own pages show it
	Area  AreaID  // own, else the device's, else the parent device's
	Floor FloorID // the area's
}

// Hidden reports whether Home Assistant hides the entity from people.
func (e *Entity) Hidden() bool { return e.HiddenBy != "" }

// Device is one row of the device registry.
type Device struct {
	ID           DeviceID
	Name         string // as the integration named it
	NameByUser   string
	Manufacturer string
	Model        string
	Area         AreaID
	Parent       DeviceID // parent_device_id: the device this one is part of
	Via          DeviceID // via_device_id: the hub it is reached through
	Labels       []LabelID
	DisabledBy   string
	EntryType    string // "service" for what is no physical device
}

// DisplayName is the person's name for the device, else the integration's.
func (d *Device) DisplayName() string {
	if d.NameByUser != "" {
		return d.NameByUser
	}
	return d.Name
}

// Area, Floor and Label are rows of their registries.
type (
	// Area is a room or a part of the house.
	Area struct {
		ID      AreaID
		Name    string
		Aliases []string
		Floor   FloorID
		Labels  []LabelID
	}
	// Floor groups areas; Level orders floors (nil when unset).
	Floor struct {
		ID      FloorID
		Name    string
		Aliases []string
		Level   *int
	}
	// Label is a mark people put on things.
	Label struct {
		ID    LabelID
		Name  string
		Color string
	}
	// User is a Home Assistant account; Person is the person entity linked to it.
	User struct {
		ID     string
		Name   string
		System bool
		Person EntityID
	}
)

// Registries is everything the registries hold at one moment.
type Registries struct {
	Entities []Entity
	Devices  []Device
	// Composites maps a composite device to the devices it was split into.
	Composites map[DeviceID][]DeviceID
	Areas      []Area
	Floors     []Floor
	Labels     []Label
	Users      []User
}

// Info is what Home Assistant says of itself (get_config), without coordinates.
type Info struct {
	Name       string
	Version    string
	Zone       string // IANA time zone
	State      string // RUNNING, STARTING, …
	Language   string
	Currency   string
	Country    string
	Units      map[string]string // unit_system: temperature "°C", length "km", …
	Components int
}

// Service is one callable service as get_services describes it.
type Service struct {
	Domain      string
	Name        string
	Title       string
	Description string
	Fields      []ServiceField
	Target      json.RawMessage // selector of targets, nil when it takes none
	Response    string          // "none", "optional", "only"
}

// ServiceField is one field of a service's data.
type ServiceField struct {
	Name        string
	Required    bool
	Description string
	Example     json.RawMessage
	Selector    json.RawMessage
}

// Body is the stored text of an automation, script or scene as JSON, or the
// reason why it could not be read.
type Body struct {
	Entity  EntityID
	Config  json.RawMessage
	Fetched time.Time
	Missing string // why Config is nil: NoID, NoRights or NoText; "" where it is not
	// Old says that the text may have changed since Fetched and is being read
	// again. In a report it stands alone: what is known of the body is kept, and
	// doubted from then on.
	Old bool
}

// The reasons why a Body has no text, as they stand in a sentence.
const (
	NoID     = "Home Assistant keeps no id for it (it is written in YAML, or an integration made it)"
	NoRights = "the token is not an administrator's"
	NoText   = "Home Assistant does not find its text"
)
