package simhome

import (
	"context"
	"io"
	"maps"
	"net"
	"time"

	"github.com/coder/websocket"
)

// Fault names what goes wrong.
type Fault string

// The faults. Drop, Malformed, Oversized and Restart happen once; the others last until Heal.
const (
	Drop        Fault = "drop"      // close every socket now
	Stall       Fault = "stall"     // stop reading and writing
	HalfOpen    Fault = "half_open" // accept, never answer; open sockets fall silent
	Malformed   Fault = "malformed" // one frame of broken JSON
	Oversized   Fault = "oversized" // one frame over 64 MiB
	Reordered   Fault = "reordered" // results out of order
	Slow        Fault = "slow"      // 500 ms before each answer
	AuthInvalid Fault = "auth_invalid"
	Restart     Fault = "restart"     // all unavailable, down for two seconds, up again
	NoAnswer    Fault = "no_answer"   // service calls are carried out and never answered
	CutOnCall   Fault = "cut_on_call" // the socket closes right after a service call came in
	Refuse      Fault = "refuse"      // new connections are closed at once
)

const (
	slowAnswer  = 500 * time.Millisecond
	hugeFrame   = 64<<20 + 1
	restartTime = 2 * time.Second
)

// faults are those that last, guarded by the house's lock.
type faults struct {
	reordered, slow, authInvalid, noAnswer, cutOnCall, refuse bool
	halfOpen                                                  bool
	gate                                                      chan struct{} // closed by Heal; nil while nothing stalls
}

// Inject makes a fault happen now (or for the next connections until Heal).
func (h *House) Inject(f Fault) {
	h.mu.Lock()
	switch f {
	case Stall, HalfOpen:
		h.faults.halfOpen = f == HalfOpen
		if h.faults.gate == nil {
			h.faults.gate = make(chan struct{})
		}
	case Malformed:
		h.toAll(outgoing{data: []byte(`{"id":1,"type":"event","event":{"c":{"light.bed`), whole: true})
	case Oversized:
		h.toAll(outgoing{huge: true})
	case Reordered:
		h.faults.reordered = true
	case Slow:
		h.faults.slow = true
	case AuthInvalid:
		h.faults.authInvalid = true
	case NoAnswer:
		h.faults.noAnswer = true
	case CutOnCall:
		h.faults.cutOnCall = true
	case Refuse:
		h.faults.refuse = true
	case Restart:
		h.restart()
	}
	h.mu.Unlock()
	if f == Drop || f == Restart {
		h.dropAll(string(f))
	}
}

// Heal ends lasting faults. Connections that were half open are closed.
func (h *House) Heal() {
	h.mu.Lock()
	half := h.faults.halfOpen
	if h.faults.gate != nil {
		close(h.faults.gate)
	}
	h.faults = faults{}
	h.mu.Unlock()
	if half {
		h.dropAll("half open")
	}
}

func (h *House) toAll(o outgoing) {
	for c := range h.conns {
		c.push(o)
	}
}

// blocked waits while the house stalls; it fails when ctx ends or a half-open house heals.
func (h *House) blocked(ctx context.Context) error {
	h.mu.Lock()
	gate, half := h.faults.gate, h.faults.halfOpen
	h.mu.Unlock()
	if gate == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-gate:
		if half {
			return io.ErrClosedPipe
		}
		return nil
	}
}

// writeHuge writes one frame no client should take.
func writeHuge(ctx context.Context, ws *websocket.Conn) error {
	w, err := ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	chunk := make([]byte, 1<<16)
	for i := range chunk {
		chunk[i] = ' '
	}
	for n := 0; n < hugeFrame; n += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
	return w.Close()
}

// restart is what a restart looks like from outside: everything unavailable,
// no answer for a while, then the same house with fresh times and contexts.
func (h *House) restart() {
	before := maps.Clone(h.states)
	h.quiet = true
	defer func() { h.quiet = false }()
	for _, id := range h.order {
		s := h.states[id]
		h.write(id, "unavailable", map[string]any{"friendly_name": s.attrs["friendly_name"], "restored": true}, h.newCause("", ""))
	}
	h.ticks, h.agenda = nil, nil
	h.held = map[string]heldCause{}
	for _, m := range h.runs {
		m.running = nil
	}
	for _, m := range h.minds {
		m.goal = nil
	}
	h.faults.refuse = true
	snapshot := make([]*state, 0, len(before))
	for _, id := range h.order {
		snapshot = append(snapshot, before[id])
	}
	h.after(restartTime, func() {
		h.quiet = true // nothing is triggered by a start
		for _, s := range snapshot {
			h.write(s.id, s.value, s.attrs, h.newCause("", ""))
		}
		h.quiet = false
		h.faults.refuse = false
		if h.o.Life {
			h.planLife()
		}
	})
}

// guard wraps a listener so that HalfOpen and Refuse work before HTTP does.
func (h *House) guard(l net.Listener) net.Listener { return &guarded{Listener: l, h: h} }

type guarded struct {
	net.Listener
	h *House
}

// Accept hands out connections except those a fault keeps or closes.
func (g *guarded) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.h.mu.Lock()
		refuse, half, gate := g.h.faults.refuse, g.h.faults.halfOpen, g.h.faults.gate
		g.h.mu.Unlock()
		switch {
		case refuse:
			c.Close()
		case half:
			go func() { // ends when the house heals
				<-gate
				c.Close()
			}()
		default:
			return c, nil
		}
	}
}
