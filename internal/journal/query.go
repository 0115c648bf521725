package journal

import (
	"context"
	"encoding/json"
	"time"

	"hearth/internal/home"
)

// RowKind says what a row is.
type RowKind string

// The kinds of row.
const (
	KindState  RowKind = "state"
	KindRun    RowKind = "automation"
	KindScript RowKind = "script"
	KindCall   RowKind = "service"
	KindOwn    RowKind = "hearth" // our own calls; those that only read when this kind, a user or a text is asked for
	KindGap    RowKind = "gap"
	KindBulk   RowKind = "bulk" // many entities at once became unavailable or came back
)

// Kinds lists the kinds of row in the order the database numbers them.
func Kinds() []RowKind {
	return []RowKind{KindState, KindRun, KindScript, KindCall, KindOwn, KindGap, KindBulk}
}

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
	User       string // user id or name; for own calls who called
	Automation home.EntityID
	Trigger    home.EntityID
	Text       string    // words in service data, names, messages
	Context    string    // a context id, or the id of one of our own calls
	From, To   time.Time // zero: 24 h until now
	Limit      int       // 0 means 50; at most 500
	Cursor     string
	GroupBy    string // "", kind, entity, domain, state, user, automation, hour, day
	Location   *time.Location
	Now        time.Time
}

// Row is one thing that happened. Attrs, Data and Target are JSON objects with
// secrets starred. Targets are at most 50; Count says how many there are.
type Row struct {
	Kind     RowKind         `json:"kind"`
	ID       int64           `json:"id"` // the journal's sequence; negative for a member of a bulk row
	At       time.Time       `json:"at"`
	Entity   home.EntityID   `json:"entity_id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Old      string          `json:"old,omitempty"`
	New      string          `json:"new,omitempty"`
	Attrs    json.RawMessage `json:"attrs,omitempty"` // changed attributes that matter
	What     string          `json:"what,omitempty"`  // domain.service, trigger text, tool, reason
	Targets  []home.EntityID `json:"targets,omitempty"`
	Target   json.RawMessage `json:"target,omitempty"` // as it was given
	Data     json.RawMessage `json:"data,omitempty"`
	Trigger  home.EntityID   `json:"trigger,omitempty"`
	Context  home.Context    `json:"context,omitzero"`
	User     string          `json:"user,omitempty"` // display name
	Outcome  string          `json:"outcome,omitempty"`
	Message  string          `json:"message,omitempty"`   // why an own call failed
	Call     string          `json:"call,omitempty"`      // the id of an own call
	Until    time.Time       `json:"until,omitzero"`      // end of a gap or bulk
	Count    int             `json:"count,omitempty"`     // targets, members, changes
	CaughtUp bool            `json:"caught_up,omitempty"` // found after a reconnect, not seen live
	First    bool            `json:"first,omitempty"`     // it had no state before
	Removed  bool            `json:"removed,omitempty"`   // the entity went
}

// Group is one line of a grouped answer.
type Group struct {
	Key   string    `json:"key"`
	Name  string    `json:"name,omitempty"`
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Page is an answer to a Query.
type Page struct {
	Rows      []Row    `json:"rows,omitempty"`
	Groups    []Group  `json:"groups,omitempty"`
	Total     int      `json:"total"`              // rows that fit in the window
	AtLeast   bool     `json:"at_least,omitempty"` // counting stopped at Total
	Truncated bool     `json:"truncated"`
	Next      string   `json:"next,omitempty"`
	Coverage  Coverage `json:"coverage"`
}

const (
	defaultLimit  = 50
	mostRows      = 500
	mostCounted   = 500_000
	defaultWindow = 24 * time.Hour
	aheadMost     = 24 * time.Hour // by which the house's clock may be ahead: until now means until the newest row
)

// Query answers from disk, after writing what was not there yet, newest first
// (groups: most rows first, hours and days newest first). Errors are Invalid
// with a hint for a faulty query or cursor, Internal when the database fails.
func (j *Journal) Query(ctx context.Context, sc home.Scope, q Query) (Page, error) {
	if err := q.normalise(time.Now(), j.location()); err != nil {
		return Page{}, err
	}
	after, err := q.resume()
	if err != nil {
		return Page{}, err
	}
	behind, err := j.catchUp(ctx)
	if ctx.Err() != nil {
		return Page{}, home.Wrap(home.Timeout, ctx.Err(), "wait for the journal")
	}
	if err != nil {
		j.log.Warn("an answer misses the newest rows", home.KeyError, err)
	}
	var page Page
	if page.Coverage, err = j.coverage(ctx, q.From, q.To, behind); err != nil {
		return Page{}, err
	}
	page.Coverage.localise(q.Location)
	if sc.Zero() {
		return page, nil
	}
	b := j.build(sc, &q)
	if page.Total, page.AtLeast, err = j.count(ctx, b); err != nil {
		return Page{}, err
	}
	if q.GroupBy != "" {
		page.Groups, page.Truncated, err = j.groups(ctx, b, &q)
		return page, err
	}
	page.Rows, err = j.page(ctx, b, &q, after)
	if err != nil {
		return Page{}, err
	}
	if len(page.Rows) > q.Limit {
		page.Rows = page.Rows[:q.Limit]
		page.Truncated = true
		last := page.Rows[q.Limit-1]
		page.Next = q.cursor(last.At.UnixMilli(), last.ID)
	}
	return page, nil
}

func (j *Journal) location() *time.Location {
	if v := j.view(); v != nil {
		return v.Location()
	}
	return time.UTC
}

// normalise sets the defaults and refuses what makes no sense.
func (q *Query) normalise(now time.Time, loc *time.Location) error {
	if q.Now.IsZero() {
		q.Now = now
	}
	if q.Location == nil {
		q.Location = loc
	}
	switch {
	case q.Limit == 0:
		q.Limit = defaultLimit
	case q.Limit < 0 || q.Limit > mostRows:
		return home.Errorf(home.Invalid, "the limit %d is not between 1 and %d", q.Limit, mostRows).WithHint("ask for fewer rows and follow the cursor")
	}
	for _, k := range q.Kinds {
		if kindNumber(k) == 0 {
			return home.Errorf(home.Invalid, "there is no kind of row %q", home.Clip(string(k), 40)).
				WithHint("use state, automation, script, service, hearth, gap or bulk")
		}
	}
	switch q.GroupBy {
	case "", "kind", "entity", "domain", "state", "user", "automation", "hour", "day":
	default:
		return home.Errorf(home.Invalid, "cannot group by %q", home.Clip(q.GroupBy, 40)).
			WithHint("group by kind, entity, domain, state, user, automation, hour or day")
	}
	if q.GroupBy != "" && q.Cursor != "" {
		return home.Errorf(home.Invalid, "groups have no further pages").WithHint("leave the cursor out, or narrow the window")
	}
	return nil
}

// window fills in the ends that were left out.
func (q *Query) window() error {
	if q.To.IsZero() {
		q.To = q.Now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-defaultWindow)
	}
	if q.From.After(q.To) {
		return home.Errorf(home.Invalid, "the window begins at %s, after its end %s", q.From.Format(time.RFC3339), q.To.Format(time.RFC3339)).
			WithHint("exchange the two times")
	}
	return nil
}

func (c *Coverage) localise(loc *time.Location) {
	if loc == nil {
		return
	}
	c.From, c.To = c.From.In(loc), c.To.In(loc)
	for i := range c.Gaps {
		g := &c.Gaps[i]
		g.From = g.From.In(loc)
		if !g.To.IsZero() {
			g.To = g.To.In(loc)
		}
	}
}

func kindNumber(k RowKind) int64 {
	for i, x := range Kinds() {
		if x == k {
			return int64(i + 1)
		}
	}
	return 0
}

func kindName(n int64) RowKind {
	if n == kindLook {
		return KindOwn
	}
	if n >= 1 && int(n) <= len(Kinds()) {
		return Kinds()[n-1]
	}
	return ""
}
