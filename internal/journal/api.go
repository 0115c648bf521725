// Package journal writes down what happened and answers what, when and why.
package journal

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

// Config is the journal's part of the configuration.
type Config struct {
	Rules []Rule // extra capture rules, before the defaults
}

// Rule is one line of the capture policy.
type Rule struct{}

// Journal is the house's memory of events.
type Journal struct{}

// New makes a journal; Run feeds it.
func New(c Config, db *store.DB, house *mirror.House, log *slog.Logger, h *health.Registry) *Journal {
	panic("skeleton")
}

// Run follows the durable stream until ctx ends.
func (j *Journal) Run(ctx context.Context) error { panic("skeleton") }

// Record keeps one of our own calls, committed before it returns.
func (j *Journal) Record(ctx context.Context, r home.CallRecord) error { panic("skeleton") }

// RowKind says what a row is: state, run, script, call, own, gap, note.
type RowKind string

// The kinds of row.
const (
	KindState  RowKind = "state"
	KindRun    RowKind = "automation"
	KindScript RowKind = "script"
	KindCall   RowKind = "service"
	KindOwn    RowKind = "hearth"
	KindGap    RowKind = "gap"
	KindBulk   RowKind = "bulk" // many entities at once became unavailable or came back
)

// Query chooses rows; all set fields must fit.
type Query struct {
	Kinds      []RowKind
	Entities   []home.EntityID
	Pattern    string // glob on entity id: light.*
	Domain     string
	Area       home.AreaID
	Floor      home.FloorID
	Label      home.LabelID
	State      string // new state
	OldState   string
	User       string // user id or name
	Automation home.EntityID
	Trigger    home.EntityID
	Text       string // words in service data, names, messages
	Context    string
	From, To   time.Time // zero: 24 h until now
	Limit      int       // 0 means 50; at most 500
	Cursor     string
	GroupBy    string // "", kind, entity, domain, state, user, automation, hour, day
	Location   *time.Location
	Now        time.Time
}

// Row is one thing that happened.
type Row struct {
	Kind     RowKind         `json:"kind"`
	ID       int64           `json:"id"`
	At       time.Time       `json:"at"`
	Entity   home.EntityID   `json:"entity_id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Old      string          `json:"old,omitempty"`
	New      string          `json:"new,omitempty"`
	Attrs    json.RawMessage `json:"attrs,omitempty"` // changed attributes that matter
	What     string          `json:"what,omitempty"`  // domain.service, trigger text, tool, reason
	Targets  []home.EntityID `json:"targets,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Trigger  home.EntityID   `json:"trigger,omitempty"`
	Context  home.Context    `json:"context,omitzero"`
	User     string          `json:"user,omitempty"` // display name
	Outcome  string          `json:"outcome,omitempty"`
	Until    time.Time       `json:"until,omitzero"` // gap end
	Count    int             `json:"count,omitempty"`
	CaughtUp bool            `json:"caught_up,omitempty"`
}

// Group is one line of a grouped answer.
type Group struct {
	Key   string    `json:"key"`
	Name  string    `json:"name,omitempty"`
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Coverage says how complete the journal is in a window.
type Coverage struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Complete bool      `json:"complete"`
	Gaps     []Gap     `json:"gaps,omitempty"`
}

// Gap is a hole in the journal; To is zero while it is open.
type Gap struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to,omitzero"`
	Reason string    `json:"reason"`
}

// Page is an answer to a Query.
type Page struct {
	Rows      []Row    `json:"rows,omitempty"`
	Groups    []Group  `json:"groups,omitempty"`
	Total     int      `json:"total"` // rows that fit in the window
	Truncated bool     `json:"truncated"`
	Next      string   `json:"next,omitempty"`
	Coverage  Coverage `json:"coverage"`
}

// Query answers from disk and from what is not on disk yet, newest first.
func (j *Journal) Query(ctx context.Context, sc home.Scope, q Query) (Page, error) { panic("skeleton") }

// Coverage says how complete the journal is between two times.
func (j *Journal) Coverage(ctx context.Context, from, to time.Time) (Coverage, error) {
	panic("skeleton")
}

// WhyQuery asks for the causes and effects of one thing.
type WhyQuery struct {
	Entity    home.EntityID
	At        time.Time // zero: its last change
	Context   string    // or a context id instead of an entity
	Direction string    // causes, effects, both (default)
	Depth     int       // 1–10, default 5
	Now       time.Time
	Location  *time.Location
}

// Node is one thing in the tree of causes, root first.
type Node struct {
	Role     string  `json:"role"` // cause, this, effect, sibling
	Row      Row     `json:"row"`
	Actor    string  `json:"actor,omitempty"` // person, automation, script or integration, by name
	Children []*Node `json:"children,omitempty"`
}

// Why is the answer.
type Why struct {
	Summary   string   `json:"summary"` // one sentence
	Root      *Node    `json:"root,omitempty"`
	Depth     int      `json:"depth"` // walked
	Truncated bool     `json:"truncated,omitempty"`
	Coverage  Coverage `json:"coverage"`
	Notes     []string `json:"notes,omitempty"`
}

// Why walks the contexts.
func (j *Journal) Why(ctx context.Context, sc home.Scope, q WhyQuery) (Why, error) { panic("skeleton") }

// Ring gives the live tail of one entity's states not older than from (for history_get).
func (j *Journal) Ring(id home.EntityID, from time.Time) []home.State { panic("skeleton") }

// Lag is how far the journal is behind the mirror: changes waiting and the age of the oldest.
func (j *Journal) Lag() (waiting int, age time.Duration) { panic("skeleton") }
