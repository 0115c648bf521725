package journal

import (
	"slices"
	"time"

	"hearth/internal/home"
)

// ringSize is how many of the newest states of the whole house are kept in
// memory: the tail that Home Assistant's recorder has not committed yet, and
// the contexts a run may have been caused by.
const ringSize = 4096

const recentSize = 1024

// ring holds the newest states, chained per entity.
type ring struct {
	at   [ringSize]ringSlot
	next uint64 // number of the next slot, from 1
}

type ringSlot struct {
	state *home.State
	prev  uint64 // number of the entity's slot before, 0 for none
}

func (r *ring) add(s *home.State, prev uint64) uint64 {
	if r.next == 0 {
		r.next = 1
	}
	n := r.next
	r.at[n%ringSize] = ringSlot{s, prev}
	r.next++
	return n
}

// holds reports whether slot n was not overwritten.
func (r *ring) holds(n uint64) bool { return n > 0 && n < r.next && r.next-n <= ringSize }

// eachRecent walks the newest states backwards.
func (r *ring) eachRecent(f func(*home.State)) {
	for n := r.next - 1; r.next > 0 && r.holds(n) && r.next-n <= recentSize; n-- {
		f(r.at[n%ringSize].state)
	}
}

func (j *Journal) remember(e *entity, s *home.State) { e.ring = j.ring.add(s, e.ring) }

// Ring gives the live tail of one entity's states not older than from, oldest
// first, whether or not the policy kept them. It reaches back as far as the
// memory for the whole house does; an empty answer says nothing about the past.
func (j *Journal) Ring(id home.EntityID, from time.Time) []home.State {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.entities[id]
	if !ok {
		return nil
	}
	var out []home.State
	for n := e.ring; j.ring.holds(n); {
		slot := &j.ring.at[n%ringSize]
		if slot.state.Updated.Before(from) {
			break
		}
		out = append(out, *slot.state)
		n = slot.prev
	}
	slices.Reverse(out)
	return out
}
