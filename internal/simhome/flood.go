package simhome

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// Mix says what a flood is made of.
type Mix struct {
	Rate    int           // state changes per second
	For     time.Duration // how long
	OnOff   int           // of a hundred changes, how many are on/off rather than numbers; 0 means 10
	Calls   int           // of a thousand changes, how many are followed by a call_service event; 0: none
	Changes int           // stop after so many; 0: no limit
}

// Flood sends pre-rendered state changes at rate per second for d; it returns how many were sent.
func (h *House) Flood(ctx context.Context, rate int, d time.Duration) (sent int, err error) {
	return h.FloodMix(ctx, Mix{Rate: rate, For: d})
}

var errNoSensors = errors.New("no entity to flood: the house needs sensors")

// floodTick is how often a flood sends; each time a batch of what is due.
const floodTick = 5 * time.Millisecond

// FloodMix is Flood with a mix of the caller's choice. Only sensors with
// numbers and binary sensors without followers take part. Each change differs
// from what the entity showed before, has its own context and moment, and is
// in the house when it is sent. It returns how many changes were made; call_service
// events are not counted.
func (h *House) FloodMix(ctx context.Context, m Mix) (sent int, err error) {
	h.mu.Lock()
	order := h.floodOrder(m)
	h.mu.Unlock()
	if len(order) == 0 {
		return 0, errNoSensors
	}
	tick := time.NewTicker(floodTick)
	defer tick.Stop()
	for begun := time.Now(); ; {
		spent := time.Since(begun)
		over := spent >= m.For
		due := int(float64(m.Rate) * min(spent, m.For).Seconds())
		if m.Changes > 0 && due >= m.Changes {
			due, over = m.Changes, true
		}
		for sent < due {
			n := min(due-sent, maxJoined)
			h.sweep(n, func(i int) (string, string) {
				id := order[(sent+i)%len(order)]
				return id, drifted(h.states[id].value, sent+i)
			})
			if m.Calls > 0 {
				h.floodCalls((sent+n)*m.Calls/1000 - sent*m.Calls/1000)
			}
			sent += n
		}
		if over {
			return sent, nil
		}
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-tick.C:
		}
	}
}

// floodOrder is which entity changes when, repeated: numbers and flags mixed so
// that one comes again as late as possible. Only entities that trigger and
// follow nothing take part.
func (h *House) floodOrder(m Mix) []string {
	var numbers, flags []string
	for _, id := range h.order {
		_, err := strconv.ParseFloat(h.value(id), 64)
		switch {
		case h.computed[id] || len(h.triggeredBy[id])+len(h.groupsOf[id]) > 0:
		case domainOf(id) == "sensor" && err == nil:
			numbers = append(numbers, id)
		case domainOf(id) == "binary_sensor" && (h.value(id) == "on" || h.value(id) == "off"):
			flags = append(flags, id)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	share := m.OnOff
	if share == 0 {
		share = 10
	}
	var order []string
	for i := range max(len(numbers)*100/max(100-share, 1), 100) {
		if len(flags) > 0 && i*share/100 != (i+1)*share/100 {
			order = append(order, flags[i%len(flags)])
		} else {
			order = append(order, numbers[i%len(numbers)])
		}
	}
	return order
}

// drifted is another value than before: a little more or less, or the other of on and off.
func drifted(value string, n int) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return flip(value)
	}
	d := float64(n%37+1) / 100
	if n&1 == 0 && v > d {
		d = -d
	}
	return strconv.FormatFloat(v+d, 'f', 2, 64)
}

// floodCalls fires call_service events as an automation of the house would make them.
func (h *House) floodCalls(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for range n {
		h.now()
		h.fireJSON("call_service", h.newCause("", ownerID), map[string]any{"domain": "light", "service": "turn_on",
			"service_data": map[string]any{"entity_id": []string{"light.bed_light"}}})
	}
}

// Storm makes every entity unavailable and then available again with its
// former value while the link stands, as when a radio mesh dies. It returns
// how many state changes were sent.
func (h *House) Storm() (sent int) {
	h.mu.Lock()
	ids := slices.Clone(h.order)
	was := make([]string, len(ids))
	for i, id := range ids {
		was[i] = h.value(id)
	}
	h.mu.Unlock()
	for _, value := range []func(int) string{func(int) string { return "unavailable" }, func(i int) string { return was[i] }} {
		for from := 0; from < len(ids); from += maxJoined {
			sent += h.sweep(min(maxJoined, len(ids)-from), func(i int) (string, string) { return ids[from+i], value(from + i) })
		}
	}
	return sent
}

// sweep makes up to 256 changes at once and counts those that are any. Nothing
// reacts to them and the recorder does not keep them; their differences are
// rendered once and go out as one frame to whoever coalesces.
func (h *House) sweep(n int, next func(i int) (id, value string)) (changed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, ends := make([]byte, 0, n*180), make([]int, 0, n)
	var tells []*subscription // need more than the differences
	for _, s := range h.subs {
		if s.entities && s.only != nil || s.wants("state_changed") {
			tells = append(tells, s)
		}
	}
	for i := range n {
		id, value := next(i)
		old := h.states[id]
		if old == nil || old.value == value {
			continue
		}
		now := h.now()
		s := &state{id: id, value: value, attrs: old.attrs, raw: old.raw, changed: now, updated: now, reported: now, ctx: h.newCause("", "")}
		h.states[id] = s
		from := len(body)
		body = appendDiff(append(body, `{"type":"event","event":`...), old, s)
		ends = append(ends, len(body))
		for _, t := range tells {
			if t.entities && t.only[id] {
				t.conn.send(slices.Concat(body[from:], t.tail))
			}
		}
		h.fire("state_changed", s.ctx, func(b []byte) []byte { return appendChange(b, id, old, s) })
	}
	for _, s := range h.subs {
		if s.entities && s.only == nil && len(ends) > 0 {
			s.conn.sendBatch(body, ends, s.tail)
		}
	}
	return len(ends)
}

// sendBatch sends many messages that share a tail: as whole frames of at most
// 256 to whoever coalesces, one by one to everybody else.
func (c *conn) sendBatch(body []byte, ends []int, tail []byte) {
	c.mu.Lock()
	coalesce := c.coalesce
	c.mu.Unlock()
	from := 0
	if !coalesce {
		for _, end := range ends {
			c.send(slices.Concat(body[from:end], tail))
			from = end
		}
		return
	}
	frame := append(make([]byte, 0, len(body)+len(ends)*(len(tail)+1)+2), '[')
	for i, end := range ends {
		if i > 0 {
			frame = append(frame, ',')
		}
		frame = append(append(frame, body[from:end]...), tail...)
		from = end
	}
	c.push(outgoing{data: append(frame, ']'), whole: true})
}
