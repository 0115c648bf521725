package mirror

import (
	"context"
	"sync"
	"time"

	"hearth/internal/home"
)

// freshFor is how long fetched states, or the failure to fetch them, count.
const freshFor = 3 * time.Second

// firstWait is how long a reader waits for the first snapshot of all, and
// answerTime what is left of its own time to answer without one.
const (
	firstWait  = 10 * time.Second
	answerTime = time.Second
)

// fresher fetches states while the live map is not up: one fetch at a time,
// kept for three seconds.
type fresher struct {
	mu     sync.Mutex
	fetch  Fetch
	flight chan struct{} // closed when the fetch that is under way ends
	at     time.Time
	base   *View // what the fetched view was built on
	view   *View // nil when the fetch failed
}

// SetFetch sets what reads use while the live map is not up.
func (h *House) SetFetch(f Fetch) {
	h.fresh.mu.Lock()
	defer h.fresh.mu.Unlock()
	h.fresh.fetch = f
}

// Fresh is View while the live map is up. While it is not, it fetches all
// states (at most every three seconds, one fetch for all callers) and gives
// them with everything else as last known; Stale then tells when they were
// read. When that fails, too, it gives the last view as it is.
//
// While nothing was ever known it waits for the first snapshot: ten seconds,
// until shortly before ctx ends, or until the link says that it is down. The
// view is Empty when none came. States alone are never given then: without the
// registries nobody could tell what exists, how it is called and what is hidden.
func (h *House) Fresh(ctx context.Context) *View {
	for {
		v := h.View()
		if !v.loaded && !v.down {
			v = h.first(ctx)
		}
		if v.live || !v.loaded {
			return v
		}
		out, wait, run := h.fresh.look(v)
		switch {
		case run != nil:
			return h.fresh.run(ctx, v, run)
		case wait == nil:
			return out
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return v
		}
	}
}

// first waits for the first snapshot.
func (h *House) first(ctx context.Context) *View {
	wait := firstWait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)-answerTime)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	v, _ := h.Await(ctx, func(v *View) bool { return v.loaded || v.down })
	return v
}

// look gives the kept answer, or what to wait for, or the fetch to run.
func (f *fresher) look(v *View) (out *View, wait <-chan struct{}, run Fetch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.fetch == nil:
		return v, nil, nil
	case f.flight != nil:
		return nil, f.flight, nil
	case f.base == v && time.Since(f.at) < freshFor:
		if f.view == nil {
			return v, nil, nil
		}
		return f.view, nil, nil
	}
	f.flight = make(chan struct{})
	return nil, nil, f.fetch
}

func (f *fresher) run(ctx context.Context, v *View, fetch Fetch) *View {
	var out *View
	states, err := fetch(ctx, nil)
	if err == nil {
		out = v.withStates(states, time.Now().UTC())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.flight)
	f.flight = nil
	if err != nil && ctx.Err() != nil {
		return v // the caller gave up: that says nothing about the house
	}
	f.at, f.base, f.view = time.Now(), v, out
	if out == nil {
		return v
	}
	return out
}

// fetchedGen marks the nodes of fetched views. Nothing is ever built upon those.
const fetchedGen = ^uint64(0)

// withStates is v with its states replaced by what was read at a moment.
func (v *View) withStates(states []home.State, at time.Time) *View {
	out := *v
	out.since, out.fetched = at, true
	ed := v.cells.edit(fetchedGen)
	var diff edits
	seen := make(map[uint32]struct{}, len(states))
	for i := range states {
		s := states[i]
		s.Attrs = Strip(s.Attrs)
		slot := v.slots.number(s.ID)
		seen[slot] = struct{}{}
		old := ed.at(slot)
		row := &home.Entity{ID: s.ID}
		if old != nil {
			row = old.row
		}
		n := &cell{id: s.ID, state: &s, row: joined(row, &s, v.places, v.devs)}
		diff.move(slot, old, n)
		ed.set(slot, n)
	}
	v.cells.each(func(slot uint32, c *cell) {
		if _, ok := seen[slot]; ok || c.state == nil {
			return
		}
		var n *cell
		if c.row.RegistryID != "" {
			n = &cell{id: c.id, row: c.row}
		}
		diff.move(slot, c, n)
		ed.set(slot, n)
	})
	out.cells = ed.vec
	out.index = v.index.apply(&diff, v.slots.all(), fetchedGen)
	return &out
}

// Refetch reads one entity from Home Assistant now, past the mirror.
func (h *House) Refetch(ctx context.Context, id home.EntityID) (*home.State, error) {
	h.fresh.mu.Lock()
	fetch := h.fresh.fetch
	h.fresh.mu.Unlock()
	if fetch == nil {
		return nil, home.Errorf(home.Offline, "Home Assistant cannot be asked directly").WithHint("leave out fresh, or try again when hearth_status shows the link up")
	}
	states, err := fetch(ctx, []home.EntityID{id})
	if err != nil {
		return nil, home.Wrap(home.Offline, err, "read "+string(id)+" from Home Assistant")
	}
	for i := range states {
		if states[i].ID == id {
			s := states[i]
			s.Attrs = Strip(s.Attrs)
			return &s, nil
		}
	}
	return nil, home.Errorf(home.NotFound, "Home Assistant has no state for %q", home.Clip(string(id), 80)).WithHint("entity_search finds ids by name")
}
