package journal

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"hearth/internal/home"
)

const quarter = 15 * 60 * 1000 // milliseconds; the offset of every zone is a multiple

// groupSQL gives the key and name of a group as SQL over "hits h", and joins.
func groupSQL(by string) (key, name, join string) {
	switch by {
	case "kind":
		return "h.kind", "''", ""
	case "entity":
		return "n.eid", "max(n.name)", "JOIN entity n ON n.id = h.entity"
	case "domain":
		return "n.domain", "''", "JOIN entity n ON n.id = h.entity"
	case "state":
		return "h.new", "''", ""
	case "user":
		return "coalesce(p.uid, o.who)", "max(coalesce(p.name, ''))", "LEFT JOIN person p ON p.id = h.person LEFT JOIN own o ON o.event = h.id"
	case "automation":
		return "n.eid", "max(n.name)", "JOIN event r ON r.ctx = h.ctx AND r.kind = 2 JOIN entity n ON n.id = r.entity"
	}
	return "h.at / " + strconv.Itoa(quarter), "''", "" // hour and day are put together from quarters in local time
}

// groups counts rows per key.
func (j *Journal) groups(ctx context.Context, b *statement, q *Query) ([]Group, bool, error) {
	key, name, join := groupSQL(q.GroupBy)
	timed := q.GroupBy == "hour" || q.GroupBy == "day"
	query, args := b.sql("SELECT "+key+" AS k, "+name+", count(*), min(h.at), max(h.at) FROM hits h "+join+
		" WHERE k IS NOT NULL GROUP BY k ORDER BY count(*) DESC, k LIMIT ?", groupRows(q, timed)+1)
	rows, err := j.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, false, home.Wrap(home.Internal, err, "group the journal's rows")
	}
	defer rows.Close()
	var out []Group
	var first, last int64
	for rows.Next() {
		var g Group
		var kind, at int64
		dest := []any{&g.Key, &g.Name, &g.Count, &first, &last}
		if q.GroupBy == "kind" {
			dest[0] = &kind
		} else if timed {
			dest[0] = &at
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, false, home.Wrap(home.Internal, err, "group the journal's rows")
		}
		g.First, g.Last = b.eyes.time(first), b.eyes.time(last)
		switch {
		case q.GroupBy == "kind":
			g.Key = string(kindName(kind))
		case timed:
			g.Key = period(time.UnixMilli(at*quarter).In(q.Location), q.GroupBy)
		case q.GroupBy == "user":
			g.Name = b.eyes.user(g.Key, g.Name)
		case q.GroupBy == "entity" || q.GroupBy == "automation":
			g.Name = b.eyes.name(home.EntityID(g.Key), g.Name)
		}
		out = append(out, g)
	}
	if err := rows.Err(); err != nil {
		return nil, false, home.Wrap(home.Internal, err, "group the journal's rows")
	}
	cut := len(out) > groupRows(q, timed)
	if timed {
		out = merge(out)
	}
	if len(out) > q.Limit {
		out, cut = out[:q.Limit], true
	}
	return out, cut, nil
}

// groupRows is how many groups are read: of quarters enough for ten years.
func groupRows(q *Query, timed bool) int {
	if timed {
		return 400_000
	}
	return q.Limit
}

// period is the local hour or day a time lies in, RFC 3339 with the home's
// offset for hours, the date for days.
func period(t time.Time, by string) string {
	if by == "day" {
		return t.Format(time.DateOnly)
	}
	return t.Add(-time.Duration(t.Minute()) * time.Minute).Format("2006-01-02T15:04Z07:00")
}

// merge puts the quarters of one hour or day together, newest first.
func merge(in []Group) []Group {
	at := map[string]int{}
	var out []Group
	for _, g := range in {
		i, ok := at[g.Key]
		if !ok {
			at[g.Key] = len(out)
			out = append(out, g)
			continue
		}
		o := &out[i]
		o.Count += g.Count
		if g.First.Before(o.First) {
			o.First = g.First
		}
		if g.Last.After(o.Last) {
			o.Last = g.Last
		}
	}
	slices.SortFunc(out, func(a, b Group) int { return cmp.Or(b.First.Compare(a.First), cmp.Compare(a.Key, b.Key)) })
	return out
}
