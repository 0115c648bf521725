package journal

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

// take writes down what of cs is worth it. v may be newer than cs, and nil in
// tests. The caller holds j.mu.
func (j *Journal) take(cs []home.Change, v *mirror.View) {
	j.rows = j.rows[:0]
	var n tally
	for i := range cs {
		c := &cs[i]
		switch c.Kind {
		case home.StateChanged:
			n.seen++
			if j.state(v, c) {
				n.kept++
			} else {
				n.filtered++
			}
		case home.StateRemoved:
			n.seen++
			if j.removed(v, c) {
				n.kept++
			} else {
				n.filtered++
			}
		case home.Happened:
			n.seen++
			if c.Event != nil && j.happened(v, c) {
				n.kept++
			} else {
				n.filtered++
				j.counters.otherEvents.Add(1)
			}
		case home.RegistryChanged:
			j.registryChanged(v, c)
			if c.Registry == "user" {
				j.userNames(v)
			}
		case home.LinkUp:
			j.linkUp(c.At)
		case home.LinkDown:
			j.linkDown(c)
		}
		if c.Kind == home.StateChanged || c.Kind == home.Happened {
			j.lastSeen = c.At
		}
	}
	if len(cs) > 0 {
		j.lastAt = cs[len(cs)-1].At
		j.seq = cs[len(cs)-1].Seq
	}
	j.append(n)
}

// tally is what one take counted.
type tally struct{ seen, kept, filtered int64 }

// append hands the collected rows to the store. What the store does not take
// is counted as lost and leaves a gap.
func (j *Journal) append(n tally) {
	j.counters.seen.Add(n.seen)
	j.counters.filtered.Add(n.filtered)
	if len(j.rows) == 0 && (j.refused == nil || j.db.Waiting() > 0) {
		return
	}
	rows := j.rows
	if j.refused != nil {
		// The store had no room: first the gap, closed now, then the rest.
		till := max(j.lastAt.UnixMilli(), j.refused.at+1)
		rows = append([]store.Row{endRow{e: j.refused, till: till, n: j.refusedN}}, rows...)
	}
	if j.db.Append(rows...) {
		j.counters.kept.Add(n.kept)
		if j.refused != nil {
			j.refused, j.refusedN = nil, 0
			j.told++
		}
		if j.handed != j.told {
			j.handed, j.handedAt = j.told, time.Now()
		}
		j.unmarked = true
		clear(j.rows)
		return
	}
	j.counters.lost.Add(n.kept)
	j.refuse(j.lastAt, n.kept)
	clear(j.rows)
}

// refuse begins, or goes on with, the gap for what the store had no room for.
func (j *Journal) refuse(at time.Time, n int64) {
	if j.refused == nil {
		j.told++
		j.refused = &event{j: j, at: at.UnixMilli(), kind: kindGap, what: "the database took nothing and the queue was full"}
	}
	j.refusedN += n
}

// state decides about one state change and reports whether it was kept.
func (j *Journal) state(v *mirror.View, c *home.Change) bool {
	now := c.New
	if now == nil {
		return false
	}
	e := j.entity(v, c.Entity)
	met := e.ring != 0
	j.remember(e, now)
	j.decide(v, e, now)
	if c.CaughtUp && !met {
		if c = j.news(e, c); c == nil {
			j.counters.known.Add(1)
			return false
		}
	}
	if c.Old == nil {
		if e.verdict == Drop {
			e.count()
			return false
		}
		e.keepNumber(now.Value)
		j.wave(waveFirst, e, c, flagFirst)
		return true
	}
	sameAttrs := bytes.Equal(c.Old.Attrs, now.Attrs)
	if !sameAttrs {
		j.reunit(v, e, now)
	}
	if which, ok := waveOf(c.Old, now); ok {
		if which == waveUp {
			e.keepNumber(now.Value)
		}
		j.wave(which, e, c, 0)
		return true
	}
	var attrs []byte
	if !sameAttrs {
		attrs = changed(c.Old.Attrs, now.Attrs, e.attrs)
	}
	moved := c.Old.Value != now.Value
	if moved && !j.worth(e, c.Old.Value, now.Value) {
		if attrs == nil {
			e.count()
			return false
		}
	} else if !moved && attrs == nil {
		j.counters.attributes.Add(1)
		return false
	}
	row := j.stateRow(e, c, 0)
	row.doc = attrs
	j.rows = append(j.rows, row)
	return true
}

// worth decides about a new value that is no change of availability.
func (j *Journal) worth(e *entity, old, now string) bool {
	switch e.verdict {
	case Drop:
		return false
	case Deadband:
		x, ok := number(now)
		if !ok {
			return true
		}
		if _, was := number(old); !was {
			e.last, e.has, e.seeded = x, true, true
			return true
		}
		if !e.seeded {
			j.seed(e)
		}
		if e.has && !e.passes(e.last, x) {
			return false
		}
		e.last, e.has = x, true
	}
	return true
}

// count counts a change the entity's rule left out.
func (e *entity) count() {
	if e.filtered != nil {
		e.filtered.Add(1)
	}
}

// keepNumber makes a value that was kept for another reason the one later
// values are compared with.
func (e *entity) keepNumber(s string) {
	if x, ok := number(s); ok && e.verdict == Deadband {
		e.last, e.has, e.seeded = x, true, true
	}
}

// number parses a state cheaply: words are refused at their first letter.
func number(s string) (float64, bool) {
	if s == "" || (s[0] > '9' || s[0] < '0') && s[0] != '-' && s[0] != '+' && s[0] != '.' {
		return 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil
}

func (j *Journal) stateRow(e *entity, c *home.Change, flags int64) *event {
	row := &event{j: j, kind: kindState, subject: e.subject, flags: flags, at: c.At.UnixMilli()}
	if c.CaughtUp {
		row.flags |= flagCaughtUp
	}
	if c.Old != nil {
		row.old = c.Old.Value
	}
	if c.New != nil {
		row.now, row.ctx, row.at = c.New.Value, c.New.Context, stateTime(c).UnixMilli()
	}
	return row
}

// stateTime is when the change happened by the house's clock: last_changed for
// a new value, last_updated for new attributes.
func stateTime(c *home.Change) time.Time {
	t := c.New.Updated
	if (c.Old == nil || c.Old.Value != c.New.Value) && !c.New.Changed.IsZero() {
		t = c.New.Changed
	}
	if t.IsZero() {
		return c.At
	}
	return t
}

func (j *Journal) wave(which int, e *entity, c *home.Change, flags int64) {
	j.waves[which].add(j, which, j.stateRow(e, c, flags), c.At)
}

// removed keeps that an entity is gone, once.
func (j *Journal) removed(v *mirror.View, c *home.Change) bool {
	e := j.entity(v, c.Entity)
	delete(j.entities, c.Entity)
	if c.CaughtUp && e.ring == 0 {
		if last, ok := j.newest(e); ok && last.flags&flagRemoved != 0 {
			j.counters.known.Add(1)
			return false
		}
	}
	j.wave(waveGone, e, c, flagRemoved)
	return true
}

// happened keeps runs and calls.
func (j *Journal) happened(v *mirror.View, c *home.Change) bool {
	var row *event
	switch c.Event.Type {
	case "automation_triggered":
		row = j.run(v, c.Event, kindRun)
	case "script_started":
		row = j.run(v, c.Event, kindScript)
	case "call_service":
		row = j.call(v, c.Event)
	}
	if row == nil {
		return false
	}
	row.j, row.ctx, row.at = j, c.Event.Context, c.At.UnixMilli()
	if !c.Event.Fired.IsZero() {
		row.at = c.Event.Fired.UnixMilli()
	}
	if c.CaughtUp {
		row.flags |= flagCaughtUp
	}
	j.rows = append(j.rows, row)
	return true
}

// run makes the row of an automation's or a script's start.
func (j *Journal) run(v *mirror.View, ev *home.Event, kind int64) *event {
	var id, name, source string
	mirror.EachMember(ev.Data, func(k, val []byte) bool {
		switch string(k) {
		case "entity_id":
			id = text(val)
		case "name":
			name = text(val)
		case "source":
			source = text(val)
		}
		return true
	})
	if id == "" {
		return nil
	}
	e := j.entity(v, home.EntityID(id))
	if e.subject.name == "" && name != "" {
		was := e.subject
		e.subject = &subject{id: was.id, rid: was.rid, domain: was.domain, name: name}
	}
	row := &event{kind: kind, subject: e.subject, what: source}
	if kind == kindRun {
		t := triggerEntity(source)
		if t == "" {
			t = j.triggerByContext(v, home.EntityID(id), ev.Context.Parent)
		}
		if t != "" {
			row.cause = j.entity(v, t).subject
		}
	}
	return row
}

// triggerByContext finds what set off a run whose description does not say: the
// entity that changed under the run's parent context. When several did, the one
// the automation's body names; when that does not decide either, none.
func (j *Journal) triggerByContext(v *mirror.View, automation home.EntityID, parent string) home.EntityID {
	if parent == "" {
		return ""
	}
	var found []home.EntityID
	j.ring.eachRecent(func(s *home.State) {
		if s.Context.ID == parent {
			for _, f := range found {
				if f == s.ID {
					return
				}
			}
			found = append(found, s.ID)
		}
	})
	if len(found) == 1 {
		return found[0]
	}
	var named []home.EntityID
	if v != nil && len(found) > 1 {
		if body, ok := v.Body(automation); ok {
			for _, f := range found {
				if strings.Contains(string(body.Config), `"`+string(f)+`"`) {
					named = append(named, f)
				}
			}
		}
	}
	if len(named) == 1 {
		return named[0]
	}
	return ""
}

// userNames keeps the names of the house's users.
func (j *Journal) userNames(v *mirror.View) {
	if v == nil {
		return
	}
	for _, u := range v.Users() {
		if u.ID != "" && u.Name != "" {
			j.rows = append(j.rows, userName{u.ID, u.Name})
		}
	}
}
