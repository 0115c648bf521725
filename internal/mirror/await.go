package mirror

import (
	"context"
	"sync"
	"sync/atomic"
)

// broadcast wakes everyone who waits for a newer view. When nobody waits it
// costs one atomic read.
type broadcast struct {
	waiting atomic.Int32
	mu      sync.Mutex
	ch      chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{ch: make(chan struct{})} }

func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *broadcast) wake() {
	if b.waiting.Load() == 0 {
		return
	}
	b.mu.Lock()
	close(b.ch)
	b.ch = make(chan struct{})
	b.mu.Unlock()
}

// Await blocks until ok(view) holds for some view at or after now, or ctx
// ends. It gives the last view looked at and whether ok held for it. ok is
// called on the caller's goroutine, once per look; views that came and went in
// between may be skipped.
func (h *House) Await(ctx context.Context, ok func(*View) bool) (*View, bool) {
	return h.await(ctx, h.newer, ok)
}

// AwaitRegistry blocks until View().Registry() differs from seen, or ctx ends.
// State changes do not wake it, so following the registries costs nothing while
// only states change.
func (h *House) AwaitRegistry(ctx context.Context, seen uint64) (*View, bool) {
	return h.await(ctx, h.other, func(v *View) bool { return v.registry != seen })
}

func (h *House) await(ctx context.Context, tell *broadcast, ok func(*View) bool) (*View, bool) {
	v := h.View()
	if ok(v) {
		return v, true
	}
	tell.waiting.Add(1)
	defer tell.waiting.Add(-1)
	for {
		// Take the channel before looking: a view published after the look closes it.
		newer := tell.next()
		if n := h.View(); n != v {
			v = n
			if ok(v) {
				return v, true
			}
		}
		select {
		case <-newer:
		case <-ctx.Done():
			return v, false
		}
	}
}
