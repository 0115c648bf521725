package mirror

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// Config is the mirror's part of the configuration.
type Config struct {
	// Site is the system that is mirrored; changes carry it.
	Site home.Site
	// Save is how often live states are saved to the store; 0 means 60 s.
	Save time.Duration
}

// Fetch reads states (all when ids is nil) from Home Assistant directly. It
// stands in while the live map is not up; daemon sets it.
type Fetch func(ctx context.Context, ids []home.EntityID) ([]home.State, error)

// House is what readers hold.
type House struct {
	now   atomic.Pointer[View]
	newer *broadcast // every view
	other *broadcast // views whose registries, names or entities differ

	mu       sync.Mutex // orders Watch against the writer
	watchers []*Watch

	fresh fresher
}

// Writer applies reports; only daemon holds it.
type Writer struct {
	house  *House
	c      Config
	db     *store.DB
	log    *slog.Logger
	health *health.Registry

	mu    sync.Mutex // one report at a time
	gen   uint64
	slots *names[home.EntityID]
	rids  *registryIDs
	words interner
	merge merger
	step  step // reused: one report at a time

	saved savedMarks
}

// New makes an empty house and its one writer. Load fills it from the store; a
// nil db keeps nothing. Nothing runs until Run is called.
func New(c Config, db *store.DB, log *slog.Logger, h *health.Registry) (*House, *Writer) {
	if c.Save <= 0 {
		c.Save = time.Minute
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if h == nil {
		h = new(health.Registry)
	}
	house := &House{newer: newBroadcast(), other: newBroadcast()}
	slots, rids := &names[home.EntityID]{}, &registryIDs{}
	house.now.Store(emptyView(slots, rids))
	w := &Writer{house: house, c: c, db: db, log: log, health: h, slots: slots, rids: rids}
	return house, w
}

// View is the newest view. It is never nil and never goes backwards.
func (h *House) View() *View { return h.now.Load() }

// publish makes v the newest view and hands its changes on. The writer holds
// its lock, so views and changes come in one order.
func (h *House) publish(v *View, cs []home.Change) {
	h.mu.Lock()
	before := h.now.Swap(v)
	for _, w := range h.watchers {
		w.push(cs)
	}
	h.mu.Unlock()
	h.newer.wake()
	if before.registry != v.registry {
		h.other.wake()
	}
}

// registryIDs finds entities by the id of their registry row, which survives
// renames. Like names it only grows; a view checks what it finds.
type registryIDs struct {
	mu     sync.RWMutex
	newest map[string]uint32   // the place a row was last seen at
	before map[string][]uint32 // earlier places of renamed rows
}

// find gives the places where views may have the row.
func (r *registryIDs) find(rid string) (newest uint32, before []uint32, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	newest, ok = r.newest[rid]
	return newest, r.before[rid], ok
}

func (r *registryIDs) add(rid string, slot uint32) {
	was, before, ok := r.find(rid)
	if ok && was == slot {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest == nil {
		r.newest, r.before = map[string]uint32{}, map[string][]uint32{}
	}
	r.newest[rid] = slot
	if ok && !slices.Contains(before, was) {
		// A fresh slice, since readers may hold the old one.
		r.before[rid] = append(slices.Clone(before), was)
	}
}

// interner keeps one copy of words that thousands of entities share.
type interner struct {
	words   map[string]string
	objects map[string]json.RawMessage
}

// object interns a JSON object: most rows have the same few options.
func (n *interner) object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if o, ok := n.objects[string(raw)]; ok {
		return o
	}
	o := bytes.Clone(raw)
	if len(n.objects) < mostWords && len(raw) < 512 {
		if n.objects == nil {
			n.objects = map[string]json.RawMessage{}
		}
		n.objects[string(o)] = o
	}
	return o
}

const mostWords = 20_000

func (n *interner) word(s string) string {
	if s == "" || len(s) > 64 {
		return s
	}
	if w, ok := n.words[s]; ok {
		return w
	}
	if len(n.words) >= mostWords {
		return s
	}
	if n.words == nil {
		n.words = map[string]string{}
	}
	n.words[s] = s
	return s
}

// value interns values that are words; numbers and texts are mostly unique.
func (n *interner) value(s string) string {
	if s == "" || len(s) > 24 || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return n.word(s)
}
