package mcpd

import (
	"net/netip"
	"sync"
	"time"
)

// The brake's measure: an address may present brakeTries wrong tokens and
// earns one more try each brakeRefill. At most brakeAddrs addresses are kept.
const (
	brakeTries  = 10
	brakeRefill = 6 * time.Second
	brakeAddrs  = 1024
)

// brake slows down addresses that present wrong tokens. A right token is
// never braked: tokens are too long to guess, and one stale client must not
// lock out its neighbours behind the same proxy.
type brake struct {
	mu    sync.Mutex
	addrs map[netip.Addr]tries
}

// tries is a leaky bucket: full says when it will be empty again.
type tries struct{ full time.Time }

// fail notes a wrong token from addr at now. It gives how long the address
// must wait before its next try is judged, zero while it may go on.
func (b *brake) fail(addr netip.Addr, now time.Time) time.Duration {
	addr = bucket(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	t, known := b.addrs[addr]
	if !known && len(b.addrs) >= brakeAddrs {
		b.forget(now)
	}
	if b.addrs == nil {
		b.addrs = map[netip.Addr]tries{}
	}
	if t.full.Before(now) {
		t.full = now
	}
	if wait := t.full.Add(brakeRefill).Sub(now) - brakeTries*brakeRefill; wait > 0 {
		return wait
	}
	t.full = t.full.Add(brakeRefill)
	b.addrs[addr] = t
	return 0
}

// forget drops addresses whose bucket is empty, and one more where none is.
func (b *brake) forget(now time.Time) {
	for a, t := range b.addrs {
		if t.full.Before(now) {
			delete(b.addrs, a)
		}
	}
	if len(b.addrs) < brakeAddrs {
		return
	}
	var oldest netip.Addr
	for a, t := range b.addrs {
		if !oldest.IsValid() || t.full.Before(b.addrs[oldest].full) {
			oldest = a
		}
	}
	delete(b.addrs, oldest)
}

// bucket is what counts as one address: an IPv6 customer owns a whole /64.
func bucket(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if a.Is6() && !a.IsLoopback() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
