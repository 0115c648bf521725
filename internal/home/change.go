package home

import (
	"encoding/json"
	"time"
)

// Patch is one entity's part of what a link reports: a full state, a
// difference, or a removal. Zero times and nil pointers mean "unchanged".
type Patch struct {
	ID      EntityID
	Full    bool            // replaces everything; Set holds all attributes
	Removed bool            // the entity is gone
	Value   *string         // the new value
	Set     json.RawMessage // attributes added or changed (JSON object)
	Unset   []string        // attributes removed
	Changed time.Time       // last_changed
	Updated time.Time       // last_updated
	Context *Context
	// KeepContext names the parts of the context that stay as they were; see ContextOver.
	KeepContext ContextPart
}

// ReportKind says what a Report carries.
type ReportKind uint8

// The kinds of report a link makes. Zero is invalid.
const (
	_              ReportKind = iota
	ReportLink                // the link went up or down: Up, Reason, Silent
	ReportSnapshot            // the whole house: Registries, Patches (all Full), Info, Services
	ReportStates              // Patches
	ReportEntities            // rows of the entity registry changed: Registries.Entities, RemovedEntities
	ReportRegistry            // whole lists replaced: those of Registries that are not nil
	ReportEvent               // Event
	ReportServices            // Services replaced
	ReportBodies              // Bodies fetched
	ReportInfo                // Info replaced
)

// OurStop is the Reason of a link that goes down because Hearth stops.
const OurStop = "stopping on our side"

// Report is what a link tells the mirror. The order of reports of one link is
// the order of its frames.
type Report struct {
	Kind            ReportKind
	Site            Site
	At              time.Time // when the frame was read
	Up              bool
	Reason          string // why the link went down
	Silent          bool   // it went silent, and was down for a while before anybody noticed
	Patches         []Patch
	Registries      *Registries
	RemovedEntities []EntityID
	Renamed         map[EntityID]EntityID // old id → new id
	Info            *Info
	Event           *Event
	Services        []Service
	Bodies          []Body
}

// Kind says what a Change is.
type Kind uint8

// The kinds of change. Zero is invalid.
const (
	_               Kind = iota
	StateChanged         // Old (nil when it is new) and New
	StateRemoved         // Old
	RegistryChanged      // Registry names which one; Entities those touched, nil for all
	Happened             // Event
	LinkUp
	LinkDown // Reason, Silent
	BodyChanged
)

// Event is something Home Assistant fired that is not a state change.
type Event struct {
	Type    string // call_service, automation_triggered, script_started, …
	Fired   time.Time
	Origin  string // LOCAL or REMOTE
	Context Context
	Data    json.RawMessage
}

// Change is one thing that happened, in the one order all watchers share.
// Consecutive changes have consecutive Seq.
type Change struct {
	Seq      uint64
	Kind     Kind
	Site     Site
	At       time.Time // when Hearth saw it
	Entity   EntityID
	Old, New *State
	CaughtUp bool // found by comparing after a reconnect, not seen live
	Registry string
	Entities []EntityID
	Event    *Event
	Reason   string
	Silent   bool
}
