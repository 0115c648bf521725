package simhome

import (
	"context"
	"fmt"
	"math"
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

// floodTick is how often a flood sends; each time a batch of what is due.
const floodTick = 5 * time.Millisecond

// FloodMix is Flood with a mix of the caller's choice. Only sensors with
// numbers and binary sensors without followers take part. Each change differs
// from what the entity showed before, has its own context and moment, and is
// in the house afterwards. It returns how many changes were made; call_service
// events are not counted.
func (h *House) FloodMix(ctx context.Context, m Mix) (sent int, err error) {
	h.mu.Lock()
	h.settleFlood()
	f := h.newFlood(m)
	if f == nil {
		h.mu.Unlock()
		return 0, fmt.Errorf("no entity to flood: the house needs sensors")
	}
	h.flood = f
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.settleFlood()
		h.flood = nil
		h.mu.Unlock()
	}()
	tick := time.NewTicker(floodTick)
	defer tick.Stop()
	begun := time.Now()
	for {
		spent := time.Since(begun)
		over := spent >= m.For
		due := int(float64(m.Rate) * min(spent, m.For).Seconds())
		if m.Changes > 0 && due >= m.Changes {
			due, over = m.Changes, true
		}
		for sent < due {
			n := min(due-sent, maxJoined)
			h.mu.Lock()
			h.floodBatch(f, n, sent)
			h.mu.Unlock()
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

// flood is a running flood.
type flood struct {
	items []floodItem
	order []int // which item comes when, repeated
	mix   Mix
	dirty []int // items whose last value is not in the house yet
	ctx   [26]byte
	n     uint64 // contexts made
}

// floodItem is one entity that takes part: the rendered head of its
// difference, and what it showed last.
type floodItem struct {
	id     string
	before []byte // {"type":"event","event":{"c":{"<id>":{"+":{"s":"
	number bool
	cents  int64 // the value in hundredths
	on     bool
	at     time.Time
	ctx    [26]byte
	dirty  bool
	caused bool // its last context had a parent or a user
}

// newFlood renders everything that does not change.
func (h *House) newFlood(m Mix) *flood {
	f := &flood{mix: m}
	copy(f.ctx[:], h.newCause("", "").ID)
	var numbers, flags []int
	for _, id := range h.order {
		s := h.states[id]
		it := floodItem{id: id, on: s.value == "on", caused: s.ctx.Parent != "" || s.ctx.User != ""}
		it.before = appendString([]byte(`{"type":"event","event":{"c":{`), id)
		it.before = append(it.before, `:{"+":{"s":"`...)
		v, err := strconv.ParseFloat(s.value, 64)
		switch {
		case h.computed[id]:
			continue
		case domainOf(id) == "sensor" && err == nil:
			it.number, it.cents = true, int64(math.Round(v*100))
			numbers = append(numbers, len(f.items))
		case domainOf(id) == "binary_sensor" && (s.value == "on" || s.value == "off") && len(h.triggeredBy[id])+len(h.groupsOf[id]) == 0:
			flags = append(flags, len(f.items))
		default:
			continue
		}
		f.items = append(f.items, it)
	}
	if len(numbers) == 0 {
		return nil
	}
	if f.mix.OnOff == 0 {
		f.mix.OnOff = 10
	}
	f.order = h.floodOrder(numbers, flags, f.mix.OnOff)
	return f
}

// floodOrder mixes numbers and flags so that an entity comes again as late as possible.
func (h *House) floodOrder(numbers, flags []int, share int) []int {
	h.rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	h.rng.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	n := max(len(numbers)*100/max(100-share, 1), 100)
	order := make([]int, 0, n)
	for i := range n {
		if len(flags) > 0 && i*share/100 != (i+1)*share/100 {
			order = append(order, flags[len(order)%len(flags)])
		} else {
			order = append(order, numbers[len(order)%len(numbers)])
		}
	}
	return order
}

// floodBatch makes the n changes after the first from and sends them, in one
// frame to whoever coalesces.
func (h *House) floodBatch(f *flood, n, from int) {
	var fast []*subscription
	slow := false
	for _, s := range h.subs {
		if s.entities && s.only == nil {
			fast = append(fast, s)
		} else if s.entities || s.wants("state_changed") {
			slow = true
		}
	}
	if slow {
		for i := range n {
			h.floodSlow(f, &f.items[f.order[(from+i)%len(f.order)]])
		}
		return
	}
	body := make([]byte, 0, n*180)
	ends := make([]int, 0, n)
	for i := range n {
		k := f.order[(from+i)%len(f.order)]
		body = h.floodChange(body, f, k)
		ends = append(ends, len(body))
	}
	for _, s := range fast {
		s.conn.sendBatch(body, ends, s.tail)
	}
	if c := f.mix.Calls; c > 0 {
		for range (from+n)*c/1000 - from*c/1000 {
			h.floodCall()
		}
	}
}

// step moves an item to its next value.
func (it *floodItem) step(n uint64) {
	if !it.number {
		it.on = !it.on
		return
	}
	d := int64(n%37) + 1
	if n&1 == 0 && it.cents > d || it.cents > 100_000 {
		d = -d
	}
	it.cents += d
}

func (it *floodItem) appendValue(b []byte) []byte {
	switch {
	case !it.number && it.on:
		return append(b, "on"...)
	case !it.number:
		return append(b, "off"...)
	}
	c := it.cents
	if c < 0 {
		b, c = append(b, '-'), -c
	}
	b = strconv.AppendInt(b, c/100, 10)
	return append(b, '.', byte('0'+c/10%10), byte('0'+c%10))
}

// nextCause writes the next context id over the last one: its tail counts.
func (f *flood) nextCause() {
	f.n++
	for i, v := 25, f.n; i >= 18; i-- {
		f.ctx[i] = crockford[v&31]
		v >>= 5
	}
}

// floodChange appends one difference without its id.
func (h *House) floodChange(b []byte, f *flood, k int) []byte {
	it := &f.items[k]
	f.nextCause()
	it.step(f.n)
	it.at, it.ctx = h.now(), f.ctx
	if !it.dirty {
		it.dirty = true
		f.dirty = append(f.dirty, k)
	}
	b = it.appendValue(append(b, it.before...))
	b = strconv.AppendInt(append(b, `","lc":`...), it.at.Unix(), 10)
	b = append(b, '.')
	us := it.at.Nanosecond() / 1000
	for d := 100_000; d > 0; d /= 10 {
		b = append(b, byte('0'+us/d%10))
	}
	if it.caused {
		it.caused = false
		b = append(append(b, `,"c":{"parent_id":null,"user_id":null,"id":"`...), it.ctx[:]...)
		return append(b, `"}}}}}`...)
	}
	b = append(append(b, `,"c":"`...), it.ctx[:]...)
	return append(b, `"}}}}`...)
}

// floodSlow makes one change the ordinary way, for subscribers that need all of it.
func (h *House) floodSlow(f *flood, it *floodItem) {
	f.nextCause()
	it.step(f.n)
	it.caused = false
	h.write(it.id, string(it.appendValue(nil)), h.attrs(it.id), cause{ID: string(f.ctx[:])})
}

func (h *House) floodCall() {
	h.fireJSON("call_service", h.newCause("", ownerID), map[string]any{"domain": "light", "service": "turn_on",
		"service_data": map[string]any{"entity_id": []string{"light.bed_light"}}})
}

// settleFlood puts the last values of a running flood into the house.
func (h *House) settleFlood() {
	f := h.flood
	if f == nil || len(f.dirty) == 0 {
		return
	}
	for _, k := range f.dirty {
		it := &f.items[k]
		it.dirty = false
		old := h.states[it.id]
		if old == nil {
			continue
		}
		at := it.at.Truncate(time.Microsecond)
		h.states[it.id] = &state{id: it.id, value: string(it.appendValue(nil)), attrs: old.attrs, raw: old.raw,
			changed: at, updated: at, reported: at, ctx: cause{ID: string(it.ctx[:])}}
	}
	f.dirty = f.dirty[:0]
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

// Storm makes every entity unavailable and then available again with its
// former value while the link stands, as when a radio mesh dies. It returns
// how many state changes were sent.
func (h *House) Storm() int {
	h.mu.Lock()
	h.settleFlood()
	ids := slices.Clone(h.order)
	was := make([]string, len(ids))
	for i, id := range ids {
		was[i] = h.states[id].value
	}
	h.mu.Unlock()
	return h.sweep(ids, func(int) string { return "unavailable" }) + h.sweep(ids, func(i int) string { return was[i] })
}

// sweep gives each entity a new value, 256 at a time, and counts what changed.
func (h *House) sweep(ids []string, value func(int) string) (n int) {
	for from := 0; from < len(ids); from += maxJoined {
		h.mu.Lock()
		var body []byte
		var ends []int
		for i := from; i < min(from+maxJoined, len(ids)); i++ {
			old := h.states[ids[i]]
			if old == nil || old.value == value(i) {
				continue
			}
			now := h.now()
			s := &state{id: old.id, value: value(i), attrs: old.attrs, raw: old.raw, changed: now, updated: now, reported: now, ctx: h.newCause("", "")}
			h.states[s.id] = s
			body = appendDiff(append(body, `{"type":"event","event":`...), old, s)
			ends = append(ends, len(body))
			h.fire("state_changed", s.ctx, func(b []byte) []byte { return appendChange(b, s.id, old, s) })
		}
		for _, s := range h.subs {
			if s.entities && s.only == nil && len(ends) > 0 {
				s.conn.sendBatch(body, ends, s.tail)
			}
		}
		n += len(ends)
		h.mu.Unlock()
	}
	return n
}
