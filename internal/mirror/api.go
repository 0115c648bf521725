// Package mirror holds the newest state and tells everyone what changed, in one order.
package mirror

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// Config is the mirror's part of the configuration.
type Config struct {
	Site home.Site
	Save time.Duration // how often live states are saved to the store; 0 means 60 s
}

// Fetch reads states (all when ids is nil) from Home Assistant directly; daemon sets it.
type Fetch func(ctx context.Context, ids []home.EntityID) ([]home.State, error)

// House is what readers hold.
type House struct{}

// Writer applies reports; only daemon holds it.
type Writer struct{}

// New makes an empty house and its one writer. Load fills it from the store.
func New(c Config, db *store.DB, log *slog.Logger, h *health.Registry) (*House, *Writer) {
	panic("skeleton")
}

// Load fills the house from the store, marked stale.
func (w *Writer) Load(ctx context.Context) error { panic("skeleton") }

// Apply takes one report. It never blocks on disk. Safe from several goroutines.
func (w *Writer) Apply(r home.Report) { panic("skeleton") }

// Run saves states and registries to the store now and then, until ctx ends.
func (w *Writer) Run(ctx context.Context) error { panic("skeleton") }

// SetFetch sets what reads use while the live map is not up.
func (h *House) SetFetch(f Fetch) { panic("skeleton") }

// View is the newest view. Never nil; never goes backwards.
func (h *House) View() *View { panic("skeleton") }

// Fresh is View, but while there is no live map it fetches (3 s cache) and says so in Stale.
func (h *House) Fresh(ctx context.Context) *View { panic("skeleton") }

// Refetch reads one entity from Home Assistant now.
func (h *House) Refetch(ctx context.Context, id home.EntityID) (*home.State, error) {
	panic("skeleton")
}

// Await blocks until ok(view) holds for some view at or after now, or ctx ends; it reports the last view looked at.
func (h *House) Await(ctx context.Context, ok func(*View) bool) (*View, bool) { panic("skeleton") }

// Mode says how a watcher is served.
type Mode uint8

// The modes of watching.
const (
	_       Mode = iota
	Durable      // queue of 65,536; if it fills, Lost tells and a gap opens
	Live         // cut with a resync mark when slow
	Derived      // the latest per entity
)

// Watch is one watcher's end of the stream.
type Watch struct{}

// Watch starts watching changes after the current view; Close it.
func (h *House) Watch(name string, m Mode) *Watch { panic("skeleton") }

// Next blocks for the next changes (at least one, at most max), in order. lost
// is how many were dropped before these. io.EOF after Close.
func (w *Watch) Next(ctx context.Context, max int) (cs []home.Change, lost uint64, err error) {
	panic("skeleton")
}

// Close ends the watch.
func (w *Watch) Close() { panic("skeleton") }

// View is the house at one sequence number. It never changes.
type View struct{}

// Seq is the sequence number: the view holds every change up to it.
func (v *View) Seq() uint64 { panic("skeleton") }

// Stale says since when the live map is missing; ok is false while it is live.
func (v *View) Stale() (since time.Time, ok bool) { panic("skeleton") }

// Empty reports whether nothing was ever loaded.
func (v *View) Empty() bool { panic("skeleton") }

// Info is what Home Assistant says of itself; Location its time zone (UTC when unknown).
func (v *View) Info() home.Info { panic("skeleton") }

// Location is the home's time zone.
func (v *View) Location() *time.Location { panic("skeleton") }

// Entity gives state and joined row of id: the row is never nil when ok (a stand-in without a registry row); state is nil for a registered entity without state.
func (v *View) Entity(sc home.Scope, id home.EntityID) (e *home.Entity, s *home.State, ok bool) {
	panic("skeleton")
}

// State is the state of id without scope: for the house's own work.
func (v *View) State(id home.EntityID) *home.State { panic("skeleton") }

// Row is the joined row of id without scope, nil when unknown.
func (v *View) Row(id home.EntityID) *home.Entity { panic("skeleton") }

// Filter chooses entities; all set fields must fit.
type Filter struct {
	Domain string
	Area   home.AreaID
	Floor  home.FloorID
	Label  home.LabelID
	Device home.DeviceID
	State  string
}

// Entities yields what fits, ordered by id, using the narrowest index.
func (v *View) Entities(sc home.Scope, f Filter) iter.Seq2[*home.Entity, *home.State] {
	panic("skeleton")
}

// Count is how many entities have a state or a row within sight.
func (v *View) Count(sc home.Scope) int { panic("skeleton") }

// Areas, Floors, Labels, Devices, Users and Services are ordered by name (services by id).
func (v *View) Areas() []home.Area       { panic("skeleton") }
func (v *View) Floors() []home.Floor     { panic("skeleton") }
func (v *View) Labels() []home.Label     { panic("skeleton") }
func (v *View) Devices() []home.Device   { panic("skeleton") }
func (v *View) Users() []home.User       { panic("skeleton") }
func (v *View) Services() []home.Service { panic("skeleton") }

// Area, Floor, Label, Device, User and Service find one row by id, nil when unknown.
func (v *View) Area(id home.AreaID) *home.Area             { panic("skeleton") }
func (v *View) Floor(id home.FloorID) *home.Floor          { panic("skeleton") }
func (v *View) Label(id home.LabelID) *home.Label          { panic("skeleton") }
func (v *View) Device(id home.DeviceID) *home.Device       { panic("skeleton") }
func (v *View) User(id string) *home.User                  { panic("skeleton") }
func (v *View) Service(domain, name string) *home.Service  { panic("skeleton") }
func (v *View) Body(id home.EntityID) (home.Body, bool)    { panic("skeleton") }
func (v *View) DeviceArea(id home.DeviceID) home.AreaID    { panic("skeleton") }
func (v *View) EntityByRegistryID(rid string) *home.Entity { panic("skeleton") }
func (v *View) Bodies() (have, want int)                   { panic("skeleton") }

// FindArea, FindFloor and FindLabel find by id, name or alias, folded; several hits give all.
func (v *View) FindArea(s string) []home.Area   { panic("skeleton") }
func (v *View) FindFloor(s string) []home.Floor { panic("skeleton") }
func (v *View) FindLabel(s string) []home.Label { panic("skeleton") }

// Resolution is what a target really is.
type Resolution struct {
	Entities []home.EntityID // referenced, sorted
	Devices  []home.DeviceID
	Areas    []home.AreaID
	Missing  struct { // named but unknown
		Entities []home.EntityID
		Devices  []home.DeviceID
		Areas    []home.AreaID
		Floors   []home.FloorID
		Labels   []home.LabelID
	}
}

// Resolve is extract_from_target: expand says whether group entities become their members.
func (v *View) Resolve(t home.Target, expand bool) Resolution { panic("skeleton") }

// Members are the entities of a group-like entity (attribute entity_id), nil when it is none.
func (v *View) Members(id home.EntityID) []home.EntityID { panic("skeleton") }

// Strip removes what must never leave the mirror from an attribute object: access tokens, entity pictures, coordinates, codes.
func Strip(attrs json.RawMessage) json.RawMessage { panic("skeleton") }
