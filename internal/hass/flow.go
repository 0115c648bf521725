package hass

import (
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/home"
)

// flow carries reports to the sink in the order of the frames, one at a time.
// While a snapshot is being made it holds them back: differences that came
// before the full state are then dropped, since the full state contains them;
// everything else follows the snapshot.
type flow struct {
	sink     func(home.Report)
	released atomic.Bool // a snapshot went out; no lock, since the sink may ask for it
	decoder  *decoder    // the reader's
	count    counters
	at       time.Time // when the frame in hand was read; the reader's

	mu      sync.Mutex // held while the sink works
	holding bool
	held    []home.Report
	fullID  int64             // the subscription whose next event is the full state
	full    chan []home.Patch // takes that state
	live    int64             // the subscription that gives the states
}

// begin starts a frame.
func (f *flow) begin(at time.Time) { f.at = at }

// states takes an event of the states and reports whether it could be decoded.
// Entities that came or went are shown to the keeper.
func (f *flow) states(id int64, event []byte, k *keeper) bool {
	before := len(f.decoder.patches)
	if !f.decoder.entities(event) {
		return false
	}
	f.mu.Lock()
	isFull := id == f.fullID && f.full != nil
	f.mu.Unlock()
	for i := before; i < len(f.decoder.patches); i++ {
		if p := &f.decoder.patches[i]; p.Full || p.Removed || remade(p) {
			k.appeared(p, isFull)
		}
	}
	if isFull {
		f.becomeFull(before)
	}
	return true
}

// becomeFull hands the patches from index on over as the full state, and drops
// the differences held before it.
func (f *flow) becomeFull(index int) {
	patches := append([]home.Patch(nil), f.decoder.patches[index:]...)
	f.decoder.patches = f.decoder.patches[:0]
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.held[:0]
	for _, r := range f.held {
		if r.Kind != home.ReportStates {
			kept = append(kept, r)
		}
	}
	f.held = kept
	f.full <- patches
	f.full, f.fullID = nil, 0
}

// flush reports the differences of the frame so far.
func (f *flow) flush() {
	if patches := f.decoder.take(); patches != nil {
		f.count.differences.Add(int64(len(patches)))
		f.emit(home.Report{Kind: home.ReportStates, At: f.at, Patches: patches})
	}
}

// event reports an event after the differences that stood before it.
func (f *flow) event(e *home.Event) {
	f.flush()
	f.count.events.Add(1)
	f.emit(home.Report{Kind: home.ReportEvent, At: f.at, Event: e})
}

// emit gives a report to the sink, or holds it.
func (f *flow) emit(r home.Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holding {
		f.held = append(f.held, r)
		return
	}
	f.sink(r)
}

// hold starts holding reports back.
func (f *flow) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holding = true
}

// expect says which subscription's first event is the full state, and gives the
// place where it will come.
func (f *flow) expect(id int64) <-chan []home.Patch {
	full := make(chan []home.Patch, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.fullID = full, id
	return full
}

// release gives the sink first the reports given here, then what was held.
func (f *flow) release(first ...home.Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range first {
		f.sink(r)
	}
	f.released.Store(true) // whoever waited for the snapshot may write now, whatever else is held
	for i, r := range f.held {
		f.sink(r)
		f.held[i] = home.Report{}
	}
	f.held, f.holding = nil, false
}

// begun reports whether a snapshot ever went out.
func (f *flow) begun() bool { return f.released.Load() }

// abandon is called when the session is over: what happened during a snapshot
// that never came is still reported, differences to a state nobody has are not.
func (f *flow) abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.held {
		if r.Kind == home.ReportEvent {
			f.sink(r)
		}
	}
	f.held = nil
}
