package journal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

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

// Coverage says how complete the journal is between two times, in UTC. What
// lies in the future is not counted as missing. It waits for the disk only when
// something about links or gaps is not written, or the database is in trouble.
func (j *Journal) Coverage(ctx context.Context, from, to time.Time) (Coverage, error) {
	var behind time.Time
	if !j.settled(ctx) {
		behind, _ = j.catchUp(ctx)
	}
	return j.coverage(ctx, from, to, behind)
}

// settled reports whether what the database says of links and gaps is all there
// is to say.
func (j *Journal) settled(ctx context.Context) bool {
	if _, lit := j.h.Has(health.StoreFull); lit {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if j.taken(ctx) != nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begun && j.refused == nil && j.handed == j.told && j.db.Durable().After(j.handedAt)
}

// stretch is a time between two milliseconds.
type stretch struct {
	from, to int64
	reason   string
	open     bool
}

// coverage is complete where the link was up and no gap says otherwise. behind
// is set when the newest rows could not be written.
func (j *Journal) coverage(ctx context.Context, from, to, behind time.Time) (Coverage, error) {
	now := time.Now()
	if to.After(now) {
		to = now
	}
	c := Coverage{From: from, To: to, Complete: true}
	if !from.Before(to) {
		return c, nil
	}
	lo, hi := from.UnixMilli(), to.UnixMilli()
	gaps, err := j.stretches(ctx, `SELECT at, till, coalesce(what, '') FROM event
		WHERE kind = 6 AND kind <> 1 AND at <= ? AND (till IS NULL OR till >= ?) ORDER BY at`, hi, lo)
	if err != nil {
		return c, err
	}
	spans, err := j.stretches(ctx, `SELECT since, CASE open WHEN 1 THEN NULL ELSE till END, '' FROM coverage
		WHERE (open = 1 OR till >= ?) AND since <= ? ORDER BY since`, lo, hi)
	if err != nil {
		return c, err
	}
	var first int64
	err = j.db.Reader().QueryRowContext(ctx, "SELECT coalesce(min(since), 0) FROM coverage").Scan(&first)
	if err != nil {
		return c, home.Wrap(home.Internal, err, "read the journal's coverage")
	}
	if !behind.IsZero() {
		gaps = append(gaps, stretch{from: behind.UnixMilli(), to: hi, reason: "kept in memory until the database can be written; not in this answer", open: true})
	}
	gaps = append(gaps, uncovered(lo, hi, spans, gaps, first)...)
	slices.SortFunc(gaps, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, g := range gaps {
		gap := Gap{From: time.UnixMilli(max(g.from, lo)).UTC(), Reason: g.reason}
		if !g.open {
			if g.to <= g.from || g.to <= lo {
				continue // closed at once, or it only touches the window
			}
			gap.To = time.UnixMilli(min(g.to, hi)).UTC()
		}
		c.Gaps = append(c.Gaps, gap)
	}
	c.Complete = len(c.Gaps) == 0
	return c, nil
}

// uncovered gives the parts of the window that neither coverage nor a gap
// speaks for.
func uncovered(lo, hi int64, spans, gaps []stretch, first int64) []stretch {
	known := slices.Concat(spans, gaps)
	slices.SortFunc(known, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	var out []stretch
	at := lo
	add := func(to int64) {
		if to-at < 1 {
			return
		}
		reason := "nothing is known of this time"
		if first == 0 || to <= first {
			reason = "before the journal began"
		}
		out = append(out, stretch{from: at, to: to, reason: reason})
	}
	for _, k := range known {
		if k.from > at {
			add(min(k.from, hi))
		}
		if k.open {
			return out
		}
		at = max(at, k.to)
	}
	if at < hi {
		add(hi)
	}
	return out
}

func (j *Journal) stretches(ctx context.Context, query string, args ...any) ([]stretch, error) {
	rows, err := j.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal's coverage")
	}
	defer rows.Close()
	var out []stretch
	for rows.Next() {
		var s stretch
		var to *int64
		if err := rows.Scan(&s.from, &to, &s.reason); err != nil {
			return nil, home.Wrap(home.Internal, err, "read the journal's coverage")
		}
		if s.open = to == nil; !s.open {
			s.to = *to
		}
		out = append(out, s)
	}
	return out, home.Wrap(home.Internal, rows.Err(), "read the journal's coverage")
}

// view is the house's newest view, nil without a house.
func (j *Journal) view() *mirror.View {
	if j.house == nil {
		return nil
	}
	return j.house.View()
}
