package mirror

import (
	"context"
	"io"
	"slices"
	"sync"

	"hearth/internal/home"
)

// Mode says how a watcher is served. The zero Mode is invalid.
type Mode uint8

// The modes of watching.
const (
	_ Mode = iota
	// Durable has a queue of 65,536 changes. If it fills, the oldest go and
	// Next says how many, so that a gap opens at the right place.
	Durable
	// Live is cut when it is slower than 1,024 changes: everything queued but
	// the newest goes, and lost > 0 means: read the View anew.
	Live
	// Derived gets the latest per entity and per registry: one change from the
	// state last seen to the newest one. Events are not for it.
	Derived
)

const (
	durableMost = 65_536
	liveMost    = 1_024
)

// Watch is one watcher's end of the stream.
type Watch struct {
	house *House
	name  string
	mode  Mode
	from  uint64

	mu     sync.Mutex
	wake   chan struct{} // holds one token while there may be something to read
	queue  []home.Change // queue[head:] waits
	head   int
	lost   uint64
	latest map[string]int // Derived: key → place in queue
	dead   int            // Derived: places whose change was overtaken
	closed bool
}

// Watch starts watching the changes after the current view; Close it. name is
// for logs and tests. An invalid mode panics.
func (h *House) Watch(name string, m Mode) *Watch {
	if m != Durable && m != Live && m != Derived {
		panic("mirror: watch " + name + " without a mode")
	}
	w := &Watch{house: h, name: name, mode: m, wake: make(chan struct{}, 1)}
	if m == Derived {
		w.latest = map[string]int{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.from = h.now.Load().seq
	h.watchers = append(h.watchers, w)
	return w
}

// Name is what the watcher was called.
func (w *Watch) Name() string { return w.name }

// From is the sequence number the watch starts after: the changes it gets are
// those a view of that number does not hold.
func (w *Watch) From() uint64 { return w.from }

// Waiting is how many changes wait to be read, and the oldest one's change (a
// zero Change when none waits).
func (w *Watch) Waiting() (n int, oldest home.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := w.head; i < len(w.queue); i++ {
		if w.queue[i].Kind != 0 {
			return len(w.queue) - w.head - w.dead, w.queue[i]
		}
	}
	return 0, home.Change{}
}

// push queues changes. It never blocks: the house holds its lock.
func (w *Watch) push(cs []home.Change) {
	if len(cs) == 0 {
		return
	}
	w.mu.Lock()
	switch w.mode {
	case Derived:
		for i := range cs {
			w.overtake(cs[i])
		}
	case Live:
		w.compact(len(cs))
		w.queue = append(w.queue, cs...)
		if n := len(w.queue) - w.head; n > liveMost {
			w.lost += uint64(n - 1)
			w.queue, w.head = slices.Clone(w.queue[len(w.queue)-1:]), 0
		}
	default:
		w.durable(cs)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watch) durable(cs []home.Change) {
	if over := len(cs) - durableMost; over > 0 {
		w.lost += uint64(over)
		cs = cs[over:]
	}
	if over := len(w.queue) - w.head + len(cs) - durableMost; over > 0 {
		clear(w.queue[w.head : w.head+over])
		w.head += over
		w.lost += uint64(over)
	}
	w.compact(len(cs))
	w.queue = append(w.queue, cs...)
}

// compact moves the waiting changes to the front rather than let the slice
// grow behind a long read part.
func (w *Watch) compact(more int) {
	if w.head == 0 || len(w.queue)+more <= cap(w.queue) || w.head < len(w.queue)/2 {
		return
	}
	n := copy(w.queue, w.queue[w.head:])
	clear(w.queue[n:])
	w.queue, w.head = w.queue[:n], 0
}

// overtake lets a newer change replace the waiting one about the same thing.
func (w *Watch) overtake(c home.Change) {
	key := derivedKey(&c)
	if key == "" {
		return
	}
	if at, ok := w.latest[key]; ok {
		was := w.queue[at]
		w.queue[at] = home.Change{}
		w.dead++
		c.CaughtUp = c.CaughtUp && was.CaughtUp
		switch c.Kind {
		case home.StateChanged, home.StateRemoved:
			c.Old = was.Old
		case home.RegistryChanged:
			c.Entities = union(was.Entities, c.Entities)
		}
	}
	if waste := w.head + w.dead; waste > 256 && waste > len(w.queue)/2 {
		w.sweep()
	}
	w.latest[key] = len(w.queue)
	w.queue = append(w.queue, c)
}

// sweep drops the places that were read or overtaken.
func (w *Watch) sweep() {
	kept := make([]home.Change, 0, len(w.queue)-w.head-w.dead+1)
	for i := w.head; i < len(w.queue); i++ {
		if c := w.queue[i]; c.Kind != 0 {
			w.latest[derivedKey(&c)] = len(kept)
			kept = append(kept, c)
		}
	}
	w.queue, w.head, w.dead = kept, 0, 0
}

func derivedKey(c *home.Change) string {
	switch c.Kind {
	case home.StateChanged, home.StateRemoved:
		return string(c.Entity)
	case home.BodyChanged:
		return "body " + string(c.Entity)
	case home.RegistryChanged:
		return "registry " + c.Registry
	case home.LinkUp, home.LinkDown:
		return "link"
	}
	return ""
}

func union(a, b []home.EntityID) []home.EntityID {
	if a == nil || b == nil || len(a)+len(b) > mostNamed {
		return nil
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// Next blocks for the next changes, at least one and at most max (256 when max
// is not positive), in order. lost is how many were dropped before these. The
// error is ctx's, or io.EOF after Close once everything was read.
func (w *Watch) Next(ctx context.Context, max int) (cs []home.Change, lost uint64, err error) {
	if max <= 0 {
		max = 256
	}
	for {
		cs, lost, closed := w.take(max)
		if len(cs) > 0 {
			return cs, lost, nil
		}
		if closed {
			return nil, 0, io.EOF
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

func (w *Watch) take(max int) (cs []home.Change, lost uint64, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.head < len(w.queue) && len(cs) < max {
		c := w.queue[w.head]
		w.queue[w.head] = home.Change{}
		w.head++
		if c.Kind == 0 {
			w.dead--
			continue
		}
		if w.mode == Derived {
			delete(w.latest, derivedKey(&c))
		}
		if cs == nil {
			cs = make([]home.Change, 0, min(max, len(w.queue)-w.head+1))
		}
		cs = append(cs, c)
	}
	if w.head == len(w.queue) {
		w.queue, w.head = w.queue[:0], 0
		if cap(w.queue) > 4*liveMost {
			w.queue = nil // a burst's memory goes back
		}
	} else {
		select { // more waits: leave a token for the next call
		case w.wake <- struct{}{}:
		default:
		}
	}
	if len(cs) > 0 {
		lost, w.lost = w.lost, 0
	}
	return cs, lost, w.closed
}

// Close ends the watch: no more changes are queued, and Next gives io.EOF once
// the waiting ones were read. It may be called twice.
func (w *Watch) Close() {
	w.house.mu.Lock()
	w.house.watchers = slices.DeleteFunc(w.house.watchers, func(x *Watch) bool { return x == w })
	w.house.mu.Unlock()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
