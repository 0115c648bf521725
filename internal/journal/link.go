package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// The reasons of gaps that Hearth itself is the cause of.
const (
	reasonStopped = "Hearth was stopped"
	reasonCrashed = "Hearth ended without warning (crash, kill or power cut)"
	reasonWaiting = "not connected to Home Assistant yet"
	reasonBehind  = "the journal could not keep up"
)

// detection is how long a dead link may go unnoticed: a ping every 30 s and
// 5 s for its answer.
const detection = 35 * time.Second

// span is a row of the coverage table.
type span struct {
	since int64
	id    int64
}

// startRow looks at how the last run ended, closes what it left open, and
// begins this one.
type startRow struct {
	j       *Journal
	now     int64
	lived   lived  // what the last run's alive file says
	stopped *event // the gap since the last run; written only when there was one
	waiting *event // the gap until the link is up
}

// Write is the row's part of a store transaction.
func (s startRow) Write(tx *store.Tx) error {
	var alive, clean int64
	err := tx.QueryRow("SELECT alive, clean FROM mark WHERE id = 1").Scan(&alive, &clean)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err == nil {
		if clean == 0 {
			if alive, err = s.lastWord(tx, alive); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("UPDATE coverage SET open = 0, till = max(till, ?) WHERE open = 1", alive); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE event SET till = max(at, ?) WHERE kind = 6 AND kind <> 1 AND till IS NULL", alive); err != nil {
			return err
		}
		s.stopped.at, s.stopped.till, s.stopped.what = min(alive, s.now), s.now, reasonStopped
		if clean == 0 {
			s.stopped.what = reasonCrashed
		}
		if err := s.stopped.Write(tx); err != nil {
			return err
		}
	}
	if err := s.waiting.Write(tx); err != nil {
		return err
	}
	was := s.j.durable.Swap(s.now)
	tx.OnRollback(func() { s.j.durable.Store(was) })
	_, err = tx.Exec(`INSERT INTO mark (id, alive, clean) VALUES (1, ?, 0)
		ON CONFLICT (id) DO UPDATE SET alive = max(alive, excluded.alive), clean = 0`, s.now)
	return err
}

// markAge is how old the mark of a live journal may be: a minute, what a flush
// may take, and some.
const markAge = 70 * time.Second

// lastWord is up to when a run that ended without warning kept everything: the
// latest of its mark, its alive file, and the newest row, for rows are written
// in the order in which things happened. A row that is later than the mark can
// be has the time of a house whose clock is wrong.
func (s startRow) lastWord(tx *store.Tx, mark int64) (int64, error) {
	var row int64
	err := tx.QueryRow("SELECT at FROM event WHERE kind <= 4 ORDER BY id DESC LIMIT 1").Scan(&row)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	word := mark
	if row <= min(mark+markAge.Milliseconds(), s.now) {
		word = max(word, row)
	}
	if s.lived.base <= mark { // else the file is about a newer copy of this database
		word = max(word, s.lived.till)
	}
	return min(word, s.now), nil
}

// markRow says up to when everything that happened is on disk: it is written
// after all of it.
type markRow struct {
	j     *Journal
	alive int64
	span  *span // the open coverage, nil without one
	clean bool
}

// Write is the row's part of a store transaction.
func (m markRow) Write(tx *store.Tx) error {
	if m.span != nil {
		if err := m.span.extend(tx, m.alive, !m.clean); err != nil {
			return err
		}
	}
	was := m.j.durable.Swap(m.alive)
	tx.OnRollback(func() { m.j.durable.Store(was) })
	_, err := tx.Exec("UPDATE mark SET alive = ?, clean = ? WHERE id = 1", m.alive, m.clean)
	return err
}

// extend moves the end of a coverage row; the first time it makes the row.
func (s *span) extend(tx *store.Tx, till int64, open bool) error {
	till = max(till, s.since)
	if s.id != 0 {
		_, err := tx.Exec("UPDATE coverage SET till = ?, open = ? WHERE id = ?", till, open, s.id)
		return err
	}
	r, err := tx.Exec("INSERT INTO coverage (since, till, open) VALUES (?, ?, ?)", s.since, till, open)
	if err != nil {
		return err
	}
	tx.OnRollback(func() { s.id = 0 })
	s.id, err = r.LastInsertId()
	return err
}

// spanRow closes a coverage row.
type spanRow struct {
	span *span
	till int64
	open bool
}

// Write is the row's part of a store transaction.
func (r spanRow) Write(tx *store.Tx) error { return r.span.extend(tx, r.till, r.open) }

// linkUp ends the gap and begins coverage.
func (j *Journal) linkUp(at time.Time) {
	j.told++
	ms := at.UnixMilli()
	if j.gap != nil {
		j.rows = append(j.rows, endRow{e: j.gap, till: max(ms, j.gap.at)})
		j.gap = nil
	}
	if j.span == nil {
		j.span = &span{since: ms}
		j.rows = append(j.rows, spanRow{j.span, ms, true})
	}
}

// linkDown ends coverage and begins a gap. A link that went silent was blind
// before anybody noticed: then the gap begins with the last thing seen.
func (j *Journal) linkDown(c *home.Change) {
	j.told++
	at, reason := c.At, c.Reason
	if reason == "" {
		reason = "no reason given"
	}
	what := "no link to Home Assistant: " + reason
	from := at
	if c.Silent && j.lastSeen.Before(at) {
		from = at.Add(-detection)
		if j.lastSeen.After(from) {
			from = j.lastSeen
		}
	}
	if j.span != nil {
		ms := max(from.UnixMilli(), j.span.since)
		j.rows = append(j.rows, spanRow{j.span, ms, false})
		j.span = nil
		j.gap = &event{j: j, at: ms, kind: kindGap, what: what}
		j.rows = append(j.rows, j.gap)
		return
	}
	if j.gap == nil {
		j.gap = &event{j: j, at: from.UnixMilli(), kind: kindGap, what: what}
		j.rows = append(j.rows, j.gap)
	}
}

// missed records changes that the stream dropped because the journal was too
// slow: the gap reaches from the last one taken to the next one.
func (j *Journal) missed(n uint64, next time.Time) {
	j.told++
	j.counters.missed.Add(int64(n))
	j.h.Light(health.StoreBehind, fmt.Sprintf("%d changes were dropped before %s", n, next.UTC().Format(time.RFC3339)))
	from := j.lastAt
	if from.IsZero() || from.After(next) {
		from = next
	}
	j.rows = append(j.rows[:0], &event{j: j, at: from.UnixMilli(), till: next.UnixMilli(), kind: kindGap, n: int64(n),
		what: fmt.Sprintf("%s: %d changes were not taken", reasonBehind, n)})
	j.append(tally{})
}

// mark says on disk how far the journal has come. An idle house is marked once
// a minute, so that idleness does not wear the disk.
func (j *Journal) mark(now time.Time) {
	if !j.unmarked && now.Sub(j.marked) < time.Minute {
		return
	}
	if j.db.Append(markRow{j: j, alive: j.upTo(now).UnixMilli(), span: j.span}) {
		j.marked, j.unmarked = now, false
	}
}

// upTo is the time up to which everything that happened was taken.
func (j *Journal) upTo(now time.Time) time.Time {
	if j.house == nil || j.seq >= j.house.View().Seq() {
		return now
	}
	return later(j.lastAt, j.started)
}

// live says in the alive file up to when everything is written.
func (j *Journal) live(now time.Time) {
	if j.alive == nil {
		return
	}
	till := j.upTo(now)
	if d := j.db.Durable(); d.Before(till) {
		till = d
	}
	if till.IsZero() {
		return
	}
	if !j.alive.say(lived{till.UnixMilli(), j.durable.Load()}) {
		j.log.Warn("the alive file was taken away: after a crash the gap may begin up to a minute early")
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
