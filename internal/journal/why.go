package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/internal/home"
)

// WhyQuery asks for the causes and effects of one thing.
type WhyQuery struct {
	Entity    home.EntityID
	At        time.Time // zero: its last change
	Since     time.Time // with At: the last change from Since until before At
	Context   string    // or a context id, or the id of one of our own calls, instead of an entity
	Direction string    // causes, effects, both (default)
	Depth     int       // 1–10, default 5
	Now       time.Time
	Location  *time.Location
}

// The roles of a Node, seen from what was asked about.
const (
	RoleCause   = "cause"
	RoleThis    = "this"
	RoleEffect  = "effect"
	RoleSibling = "sibling"
)

// Node is one thing in the tree of causes, root first.
type Node struct {
	Role     string  `json:"role"` // cause, this, effect, sibling
	Row      Row     `json:"row"`
	Actor    string  `json:"actor,omitempty"` // person, automation, script or integration, by name
	Children []*Node `json:"children,omitempty"`

	parent *Node
}

// Why is the answer.
type Why struct {
	Summary   string   `json:"summary"` // one sentence
	Root      *Node    `json:"root,omitempty"`
	Depth     int      `json:"depth"` // walked
	Truncated bool     `json:"truncated,omitempty"`
	Coverage  Coverage `json:"coverage"` // of the time around it: the holes stand here only
	Notes     []string `json:"notes,omitempty"`
}

const (
	defaultDepth = 5
	mostDepth    = 10
	mostNodes    = 200             // in an answer
	mostChildren = 40              // under one node
	mostContexts = 200             // walked
	roundMost    = 2 * time.Minute // by which people round a time
)

// Why walks the contexts: up to what started it, down to what followed. An
// entity nothing is known of gives an answer without a tree that says so.
// Errors are Invalid with a hint, NotFound for an entity or context out of
// sight or never heard of, Internal when the database fails.
func (j *Journal) Why(ctx context.Context, sc home.Scope, q WhyQuery) (Why, error) {
	if err := q.normalise(j.location()); err != nil {
		return Why{}, err
	}
	behind, err := j.catchUp(ctx)
	if ctx.Err() != nil {
		return Why{}, home.Wrap(home.Timeout, ctx.Err(), "wait for the journal")
	}
	if err != nil {
		j.log.Warn("an answer misses the newest rows", home.KeyError, err)
	}
	y := eyes{j.view(), sc, q.Location}
	if sc.Zero() || (q.Entity != "" && !y.sees(q.Entity)) {
		return Why{}, notHeard(q)
	}
	w := &walk{j: j, y: y, q: q, groups: map[string][]Row{}}
	this, err := w.start(ctx)
	if err != nil {
		return Why{}, err
	}
	if q.ahead(this) {
		return Why{}, home.Errorf(home.Invalid, "the time asked about lies in the future").WithHint("it is %s now", home.FormatTime(q.Now, q.Location))
	}
	var out Why
	if this == nil {
		return j.nothing(ctx, q, behind)
	}
	if out.Root, err = w.tree(ctx, this); err != nil {
		return Why{}, err
	}
	out.Depth, out.Truncated = w.depth, w.truncated
	out.Summary = w.summary()
	first, last := w.window()
	// What set something off happens shortly before it: a hole there matters too.
	if out.Coverage, err = j.coverage(ctx, first.Add(-2*time.Second), last.Add(time.Second), behind); err != nil {
		return Why{}, err
	}
	out.Coverage.localise(q.Location)
	out.Notes = w.notes
	return out, nil
}

func (q *WhyQuery) normalise(loc *time.Location) error {
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	if q.Location == nil {
		q.Location = loc
	}
	if q.Direction == "" {
		q.Direction = "both"
	}
	if q.Depth == 0 {
		q.Depth = defaultDepth
	}
	switch {
	case q.Direction != "both" && q.Direction != "causes" && q.Direction != "effects":
		return home.Errorf(home.Invalid, "there is no direction %q", home.Clip(q.Direction, 40)).WithHint("use causes, effects or both")
	case q.Depth < 1 || q.Depth > mostDepth:
		return home.Errorf(home.Invalid, "the depth %d is not between 1 and %d", q.Depth, mostDepth).WithHint("leave it out for %d", defaultDepth)
	case (q.Entity == "") == (q.Context == ""):
		return home.Errorf(home.Invalid, "give either an entity or a context id").WithHint("an entity with or without a time, or the context id of a journal row")
	}
	return nil
}

// ahead reports whether the question begins in the future and no row, of a
// house whose clock is ahead, lies there.
func (q *WhyQuery) ahead(this *Row) bool {
	begin := q.At
	if !q.Since.IsZero() {
		begin = q.Since
	}
	return q.Entity != "" && begin.After(q.Now.Add(roundMost)) && (this == nil || !this.At.After(q.Now))
}

func notHeard(q WhyQuery) error {
	if isCall(q.Context) {
		return home.Errorf(home.NotFound, "no call %q is recorded", home.Clip(q.Context, 60)).
			WithHint("journal_query with kinds hearth lists Hearth's own calls; or ask by entity and time")
	}
	if q.Context != "" {
		return home.Errorf(home.NotFound, "nothing is recorded under the context %q", home.Clip(q.Context, 60)).
			WithHint("context ids stand in journal_query rows; or ask by entity and time")
	}
	return home.Errorf(home.NotFound, "nothing is recorded about %q", home.Clip(string(q.Entity), 80)).WithHint("entity_search finds ids by name")
}

// nothing says truthfully that there is no row.
func (j *Journal) nothing(ctx context.Context, q WhyQuery, behind time.Time) (Why, error) {
	if q.Context != "" {
		return Why{}, notHeard(q)
	}
	at := q.At
	if at.IsZero() {
		at = q.Now
	}
	from := at.Add(-defaultWindow)
	if !q.Since.IsZero() {
		from = q.Since
	}
	c, err := j.coverage(ctx, from, at, behind)
	if err != nil {
		return Why{}, err
	}
	c.localise(q.Location)
	name := eyes{v: j.view()}.name(q.Entity, string(q.Entity))
	out := Why{Coverage: c}
	if !q.Since.IsZero() {
		out.Summary = fmt.Sprintf("The journal holds no change of %s (%s) from %s to %s", name, q.Entity, clock(from.In(q.Location), q.Now), clock(c.To, q.Now))
		if !c.Complete {
			out.Summary += ", and it is not complete for that time, so there may have been one"
		}
		out.Summary += "."
		return out, nil
	}
	out.Summary = fmt.Sprintf("The journal holds no change of %s (%s) up to %s", name, q.Entity, clock(at.In(q.Location), q.Now))
	if c.Complete {
		out.Summary += "; it was complete for the 24 hours before."
	} else {
		out.Summary += ", and it is not complete for that time, so there may have been one."
	}
	return out, nil
}

// walk gathers the rows of all contexts that hang together.
type walk struct {
	j *Journal
	y eyes
	q WhyQuery

	groups    map[string][]Row // rows by context
	children  map[string][]string
	this      *Node
	depth     int
	truncated bool
	notes     []string
	parts     []string // further contexts of our own call that is asked about
}

// start finds the row that is asked about, nil when there is none.
func (w *walk) start(ctx context.Context) (*Row, error) {
	if isCall(w.q.Context) {
		return w.ownCall(ctx, w.q.Context)
	}
	if w.q.Context != "" {
		rows, err := w.context(ctx, w.q.Context)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return &rows[head(rows)], nil
	}
	if !w.q.Since.IsZero() {
		row, err := w.nearest(ctx, w.q.At.Add(-time.Millisecond), true)
		if err != nil || row == nil || row.At.Before(w.q.Since) {
			return nil, err
		}
		return row, nil
	}
	at := w.q.At
	if at.IsZero() {
		at = w.q.Now.Add(aheadMost)
	}
	before, err := w.nearest(ctx, at, true)
	if err != nil {
		return nil, err
	}
	if w.q.At.IsZero() || (before != nil && at.Sub(before.At) < roundMost) {
		return before, nil
	}
	// People round: "at 7 it went on" may mean 7:01.
	after, err := w.nearest(ctx, at, false)
	if err != nil || after == nil || after.At.Sub(at) > roundMost {
		return before, err
	}
	return after, nil
}

// nearest is the entity's row nearest to at on one side: one of its own, or its
// part in a bulk row.
func (w *walk) nearest(ctx context.Context, at time.Time, before bool) (*Row, error) {
	side, desc := "at > ?", ""
	if before {
		side, desc = "at <= ?", " DESC"
	}
	rows, err := w.j.rowsWhere(ctx, w.y, `e.id = (SELECT id FROM event WHERE entity IN (SELECT id FROM entity WHERE eid = ?)
		AND kind IN (1, 2, 3) AND `+side+` ORDER BY at`+desc+`, id`+desc+` LIMIT 1)`, string(w.q.Entity), at.UnixMilli())
	if err != nil {
		return nil, err
	}
	var id int64
	err = w.j.db.Reader().QueryRowContext(ctx, `SELECT id FROM member WHERE entity IN (SELECT id FROM entity WHERE eid = ?)
		AND `+side+` ORDER BY at`+desc+`, id`+desc+` LIMIT 1`, string(w.q.Entity), at.UnixMilli()).Scan(&id)
	if err == nil {
		members, err := w.j.load(ctx, []int64{-id}, w.y)
		if err != nil {
			return nil, err
		}
		rows = append(rows, members...)
	} else if !errors.Is(err, sql.ErrNoRows) {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	switch {
	case len(rows) == 0:
		return nil, nil
	case len(rows) == 2 && rows[1].At.After(rows[0].At) == before:
		return &rows[1], nil
	}
	return &rows[0], nil
}

// bulk is the tree of one entity's part in a bulk row.
func (w *walk) bulk(ctx context.Context, this *Row) (*Node, error) {
	w.this = &Node{Role: RoleThis, Row: *this}
	rows, err := w.j.rowsWhere(ctx, w.y, "e.id = (SELECT bulk FROM member WHERE id = ?)", -this.ID)
	if err != nil || len(rows) == 0 {
		return w.this, err
	}
	w.note("it was one of many at once: such a storm is kept without contexts, so its cause is not recorded")
	root := &Node{Role: RoleCause, Row: rows[0]}
	attach(root, w.this)
	if w.q.Direction == "effects" {
		return w.this, nil
	}
	return root, nil
}

// context reads the rows of one context, once.
func (w *walk) context(ctx context.Context, id string) ([]Row, error) {
	if rows, ok := w.groups[id]; ok {
		return rows, nil
	}
	if len(w.groups) >= mostContexts {
		w.truncated = true
		return nil, nil
	}
	key := packContext(id)
	rows, err := w.j.rowsWhere(ctx, w.y, "e.ctx = ? OR e.id IN (SELECT event FROM own_ctx WHERE ctx = ?)", key, key)
	if err != nil {
		return nil, err
	}
	w.full(rows)
	w.groups[id] = rows
	return rows, nil
}

// full says so when a read came to its limit.
func (w *walk) full(rows []Row) {
	if len(rows) >= mostRead {
		w.truncated = true
		w.note(fmt.Sprintf("more than %d rows share a context; the later ones were not looked at", mostRead))
	}
}

// tree builds the tree around this.
func (w *walk) tree(ctx context.Context, this *Row) (*Node, error) {
	w.children = map[string][]string{}
	root := this.Context.ID
	if this.ID < 0 {
		return w.bulk(ctx, this)
	}
	if root == "" {
		w.this = &Node{Role: RoleThis, Row: *this, Actor: w.actor(this, nil)}
		w.note(w.contextless(this))
		return w.this, nil
	}
	if _, err := w.context(ctx, root); err != nil {
		return nil, err
	}
	up, err := w.up(ctx, root)
	if err != nil {
		return nil, err
	}
	w.depth = len(up)
	if len(up) > 0 {
		root = up[len(up)-1]
	}
	if w.q.Direction != "causes" {
		if err := w.down(ctx, root, len(up)+w.q.Depth); err != nil {
			return nil, err
		}
	} else {
		w.chain(this.Context.ID, up)
	}
	top := w.grow(root, map[string]bool{})
	w.this = find(top, this.ID)
	if w.this == nil { // hidden behind a limit
		w.this = &Node{Row: *this, Actor: w.actor(this, nil)}
	}
	top = w.roles(top)
	w.loops()
	return w.prune(top), nil
}

func (w *walk) contextless(r *Row) string {
	if r.Kind == KindOwn {
		return "this call of Hearth is tied to nothing in the house: it only read, sent nothing, or its effect was not seen"
	}
	if r.CaughtUp {
		return "this was found by comparing when Hearth connected: when exactly it happened and why is not known"
	}
	return "this change carries no context, so nothing ties it to a cause"
}

func (w *walk) note(s string) {
	if s != "" && !slices.Contains(w.notes, s) {
		w.notes = append(w.notes, s)
	}
}

// up gives the ancestors' contexts, nearest first, as far as rows are known.
func (w *walk) up(ctx context.Context, id string) ([]string, error) {
	var out []string
	seen := map[string]bool{id: true}
	for range w.q.Depth {
		parent := ""
		for _, r := range w.groups[id] {
			if r.Context.Parent != "" && r.Context.ID == id {
				parent = r.Context.Parent
				break
			}
		}
		if parent == "" {
			return out, nil
		}
		if seen[parent] {
			w.note("the contexts form a circle; the walk stopped there")
			return out, nil
		}
		seen[parent] = true
		rows, err := w.context(ctx, parent)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			w.note("what started it is not in the journal: it was left out by the capture policy, lies in a hole or is out of sight")
			return out, nil
		}
		out = append(out, parent)
		id = parent
	}
	for _, r := range w.groups[id] {
		if r.Context.Parent != "" {
			w.truncated = true
			w.note(fmt.Sprintf("there are more causes beyond depth %d", w.q.Depth))
			break
		}
	}
	return out, nil
}

// chain links only the way from the root to this.
func (w *walk) chain(this string, up []string) {
	at := this
	for _, parent := range up {
		w.children[parent] = []string{at}
		at = parent
	}
}

// down walks to the contexts that were caused, level by level.
func (w *walk) down(ctx context.Context, root string, depth int) error {
	level := append([]string{root}, w.parts...)
	seen := map[string]bool{root: true}
	for n := 0; len(level) > 0; n++ {
		keys := make([]any, len(level))
		for i, id := range level {
			keys[i] = packContext(id)
		}
		rows, err := w.j.rowsWhere(ctx, w.y, "e.parent IN ("+marks(len(keys))+")", keys...)
		if err != nil {
			return err
		}
		w.full(rows)
		if n >= depth {
			if len(rows) > 0 {
				w.truncated = true
				w.note(fmt.Sprintf("there are more effects beyond depth %d", w.q.Depth))
			}
			return nil
		}
		var next []string
		for _, r := range rows {
			id := r.Context.ID
			if id == "" || seen[id] {
				continue
			}
			seen[id] = true
			if _, err := w.context(ctx, id); err != nil {
				return err
			}
			if len(w.groups[id]) > 0 {
				under := r.Context.Parent
				if slices.Contains(w.parts, under) {
					under = root
				}
				w.children[under] = append(w.children[under], id)
				next = append(next, id)
			}
		}
		if len(next) > 0 {
			w.depth = max(w.depth, n+1)
		}
		level = next
	}
	return nil
}

func marks(n int) string {
	b := make([]byte, 0, 2*n)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '?')
	}
	return string(b)
}
