package journal

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// eyes are through whose scope, and with which clock, rows are shown.
type eyes struct {
	v   *mirror.View
	sc  home.Scope
	loc *time.Location
}

func (y eyes) sees(id home.EntityID) bool {
	if y.v == nil {
		return y.sc.Sees(nil)
	}
	return y.sc.Sees(y.v.Row(id))
}

// name is the entity's name as the house shows it now, else as the journal knew it.
func (y eyes) name(id home.EntityID, stored string) string {
	if y.v != nil {
		if row := y.v.Row(id); row != nil && row.Name != "" {
			return row.Name
		}
	}
	return stored
}

// user is a user's display name: the person's, else the account's, else what
// the journal knew, else the id.
func (y eyes) user(uid, stored string) string {
	if uid == "" {
		return ""
	}
	if y.v != nil {
		if u := y.v.User(uid); u != nil {
			if row := y.v.Row(u.Person); u.Person != "" && row != nil && row.Name != "" {
				return row.Name
			}
			if u.Name != "" {
				return u.Name
			}
		}
	}
	if stored != "" {
		return stored
	}
	return uid
}

const (
	showTargets = 50   // targets shown per row
	mostRead    = 2000 // rows read at once for a tree
)

const selectRows = `SELECT e.id, e.at, e.kind, coalesce(n.eid, ''), coalesce(n.name, ''), coalesce(e.old, ''), coalesce(e.new, ''),
	coalesce(d.json, ''), coalesce(r.json, ''), e.ctx, e.parent, coalesce(p.uid, ''), coalesce(p.name, ''), coalesce(c.eid, ''),
	coalesce(e.what, ''), coalesce(e.till, 0), coalesce(e.n, 0), e.flags,
	coalesce(o.call, ''), coalesce(o.who, ''), coalesce(o.outcome, ''), coalesce(o.code, ''), coalesce(o.message, ''), coalesce(o.dry, 0)
	FROM event e LEFT JOIN entity n ON n.id = e.entity LEFT JOIN entity c ON c.id = e.cause
	LEFT JOIN doc d ON d.id = e.doc LEFT JOIN doc r ON r.id = e.raw
	LEFT JOIN person p ON p.id = e.person LEFT JOIN own o ON o.event = e.id
	WHERE `

// load reads rows by their sequence, in the order of ids; negative ones are
// members of bulk rows.
func (j *Journal) load(ctx context.Context, ids []int64, y eyes) ([]Row, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var events, singles []int64
	for _, id := range ids {
		if id < 0 {
			singles = append(singles, -id)
		} else {
			events = append(events, id)
		}
	}
	found := make(map[int64]Row, len(ids))
	if len(events) > 0 {
		rows, err := j.rowsWhere(ctx, y, "e.id IN (SELECT value FROM json_each(?))", numberList(events))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			found[r.ID] = r
		}
	}
	if len(singles) > 0 {
		if err := j.membersInto(ctx, found, singles, y); err != nil {
			return nil, err
		}
	}
	out := make([]Row, 0, len(ids))
	for _, id := range ids {
		if r, ok := found[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// rowsWhere reads the rows of the event table that fit a condition on "e",
// oldest first, as y sees them. Rows about entities out of sight are left out.
func (j *Journal) rowsWhere(ctx context.Context, y eyes, where string, args ...any) ([]Row, error) {
	rows, err := j.db.Reader().QueryContext(ctx, selectRows+where+" ORDER BY e.at, e.id LIMIT ?", append(slices.Clone(args), mostRead)...)
	if err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	defer rows.Close()
	var out []Row
	var calls []int64
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.id, &l.at, &l.kind, &l.eid, &l.name, &l.old, &l.now, &l.doc, &l.raw, &l.ctx, &l.parent, &l.uid, &l.user,
			&l.cause, &l.what, &l.till, &l.n, &l.flags, &l.call, &l.who, &l.outcome, &l.code, &l.message, &l.dry); err != nil {
			return nil, home.Wrap(home.Internal, err, "read the journal")
		}
		if l.eid != "" && !y.sees(home.EntityID(l.eid)) {
			continue
		}
		out = append(out, l.row(y))
		if l.kind == kindCall || l.kind == kindOwn || l.kind == kindLook {
			calls = append(calls, l.id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	rows.Close() // the next query needs the connection
	if len(calls) == 0 {
		return out, nil
	}
	return j.withTargets(ctx, out, calls, y)
}

// line is a row as the database gives it.
type line struct {
	id, at, kind, till, n, flags      int64
	eid, name, old, now, doc, raw     string
	ctx, parent                       any
	uid, user, cause, what            string
	call, who, outcome, code, message string
	dry                               bool
}

func (l *line) row(y eyes) Row {
	r := Row{
		Kind: kindName(l.kind), ID: l.id, At: y.time(l.at), Entity: home.EntityID(l.eid), Old: l.old, New: l.now, What: l.what,
		Context: home.Context{ID: unpackContext(l.ctx), Parent: unpackContext(l.parent), User: l.uid},
		User:    y.user(l.uid, l.user), CaughtUp: l.flags&flagCaughtUp != 0, First: l.flags&flagFirst != 0, Removed: l.flags&flagRemoved != 0,
	}
	if l.eid != "" {
		r.Name = y.name(r.Entity, l.name)
	}
	if l.till != 0 {
		r.Until = y.time(l.till)
	}
	switch l.kind {
	case kindState:
		r.Attrs = rawJSON(l.doc)
	case kindRun:
		if l.cause != "" && !y.sees(home.EntityID(l.cause)) {
			r.What = "an entity out of sight"
		} else {
			r.Trigger = home.EntityID(l.cause)
		}
	case kindCall:
		r.Data, r.Target = rawJSON(l.doc), rawJSON(l.raw)
	case kindOwn, kindLook:
		r.Data, r.User, r.Call, r.Message = rawJSON(l.doc), l.who, l.call, l.message
		r.Outcome = l.outcome
		if r.Outcome == "" {
			r.Outcome = l.code
		}
		if l.dry && r.Outcome == "" {
			r.Outcome = "dry_run"
		}
	default:
		r.Count = int(l.n)
	}
	return r
}

func (y eyes) time(ms int64) time.Time {
	t := time.UnixMilli(ms).UTC()
	if y.loc != nil {
		return t.In(y.loc)
	}
	return t
}

func rawJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

// withTargets adds the targets within sight. A call that touched only what is
// out of sight is left out, and where a part is, its raw target goes.
func (j *Journal) withTargets(ctx context.Context, out []Row, calls []int64, y eyes) ([]Row, error) {
	rows, err := j.db.Reader().QueryContext(ctx, `SELECT t.event, n.eid FROM target t JOIN entity n ON n.id = t.entity
		WHERE t.event IN (SELECT value FROM json_each(?)) ORDER BY t.event, n.eid`, numberList(calls))
	if err != nil {
		return nil, home.Wrap(home.Internal, err, "read the targets of calls")
	}
	defer rows.Close()
	type targets struct {
		seen   []home.EntityID
		n, hid int
	}
	by := map[int64]*targets{}
	for rows.Next() {
		var event int64
		var eid home.EntityID
		if err := rows.Scan(&event, &eid); err != nil {
			return nil, home.Wrap(home.Internal, err, "read the targets of calls")
		}
		t := by[event]
		if t == nil {
			t = &targets{}
			by[event] = t
		}
		switch {
		case !y.sees(eid):
			t.hid++
		default:
			if t.n++; t.n <= showTargets {
				t.seen = append(t.seen, eid)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, home.Wrap(home.Internal, err, "read the targets of calls")
	}
	kept := out[:0]
	for _, r := range out {
		if t := by[r.ID]; t != nil && (r.Kind == KindCall || r.Kind == KindOwn) {
			if t.n == 0 && t.hid > 0 {
				continue
			}
			if r.Targets = t.seen; t.n > showTargets {
				r.Count = t.n
			}
			if t.hid > 0 {
				r.Target, r.Data = nil, nil
			}
		}
		kept = append(kept, r)
	}
	return kept, nil
}

// membersInto reads members of bulk rows as state rows with negative sequence.
func (j *Journal) membersInto(ctx context.Context, into map[int64]Row, ids []int64, y eyes) error {
	rows, err := j.db.Reader().QueryContext(ctx, `SELECT m.id, m.at, n.eid, n.name, coalesce(m.old, ''), coalesce(m.new, ''), b.flags, coalesce(b.what, '')
		FROM member m JOIN entity n ON n.id = m.entity LEFT JOIN event b ON b.id = m.bulk
		WHERE m.id IN (SELECT value FROM json_each(?))`, numberList(ids))
	if err != nil {
		return home.Wrap(home.Internal, err, "read the members of a bulk row")
	}
	defer rows.Close()
	for rows.Next() {
		l := line{kind: kindState}
		if err := rows.Scan(&l.id, &l.at, &l.eid, &l.name, &l.old, &l.now, &l.flags, &l.what); err != nil {
			return home.Wrap(home.Internal, err, "read the members of a bulk row")
		}
		if !y.sees(home.EntityID(l.eid)) {
			continue
		}
		r := l.row(y)
		r.ID, r.What = -l.id, "together with many others that "+l.what
		into[r.ID] = r
	}
	return home.Wrap(home.Internal, rows.Err(), "read the members of a bulk row")
}

func numberList(ids []int64) string {
	b, err := json.Marshal(ids)
	if err != nil {
		return "[]" // numbers always marshal
	}
	return string(b)
}
