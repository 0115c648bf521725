package simhome

import (
	"slices"
	"strconv"
)

// subscription is one subscribe_events or subscribe_entities of a connection.
type subscription struct {
	conn     *conn
	id       int
	tail     []byte // `,"id":N}`
	entities bool   // subscribe_entities
	event    string // event type, "" for all
	only     map[string]bool
}

func (s *subscription) wants(kind string) bool {
	return !s.entities && (s.event == "" || s.event == kind)
}

func (h *House) subscribe(s *subscription) {
	s.tail = append(strconv.AppendInt([]byte(`,"id":`), int64(s.id), 10), '}')
	h.subs = append(h.subs, s)
}

// unsubscribe ends a subscription of c (all of them for id 0) and reports whether there was one.
func (h *House) unsubscribe(c *conn, id int) bool {
	before := len(h.subs)
	h.subs = slices.DeleteFunc(h.subs, func(s *subscription) bool {
		return s.conn == c && (id == 0 || s.id == id)
	})
	return len(h.subs) < before
}

// fire tells subscribers of an event; data is JSON and only made when somebody listens.
func (h *House) fire(kind string, ctx cause, data func([]byte) []byte) {
	var body []byte
	for _, s := range h.subs {
		if !s.wants(kind) {
			continue
		}
		if body == nil {
			body = h.eventJSON(kind, ctx, data)
		}
		s.conn.send(slices.Concat(body, s.tail))
	}
}

// eventJSON is an event message without its id.
func (h *House) eventJSON(kind string, ctx cause, data func([]byte) []byte) []byte {
	b := append([]byte(nil), `{"type":"event","event":{"event_type":`...)
	b = append(appendString(b, kind), `,"data":`...)
	b = append(data(b), `,"origin":"LOCAL","time_fired":"`...)
	b = append(appendISO(b, h.last), `","context":`...)
	return append(ctx.appendJSON(b), '}')
}

// fireJSON is fire with a value as data.
func (h *House) fireJSON(kind string, ctx cause, data any) {
	h.fire(kind, ctx, func(b []byte) []byte { return append(b, mustJSON(data)...) })
}

// write makes id show value and attrs: nothing happens when it shows both
// already. Then everything reacts that follows the entity.
func (h *House) write(id, value string, attrs map[string]any, ctx cause) {
	old := h.states[id]
	now := h.now()
	s := &state{id: id, value: value, attrs: attrs, changed: now, updated: now, reported: now, ctx: ctx}
	if old != nil {
		if old.value == value {
			s.changed = old.changed
			if sameAttrs(old.attrs, attrs) {
				again := *old
				again.reported = now
				h.states[id] = &again
				return
			}
		}
	} else {
		h.order = append(h.order, id)
	}
	h.states[id] = s
	h.announce(id, old, s)
	h.react(old, s)
}

// unwrite removes a state.
func (h *House) unwrite(id string, ctx cause) {
	old := h.states[id]
	if old == nil {
		return
	}
	delete(h.states, id)
	h.order = slices.DeleteFunc(h.order, func(x string) bool { return x == id })
	h.now()
	gone := *old
	gone.ctx = ctx
	h.announceRemoval(&gone)
}

// announce tells subscribers and the recorder of a change.
func (h *House) announce(id string, old, s *state) {
	h.past.keep(s)
	var diff []byte
	for _, sub := range h.subs {
		if !sub.entities || sub.only != nil && !sub.only[id] {
			continue
		}
		if diff == nil {
			diff = append(appendDiff([]byte(`{"type":"event","event":`), old, s), ""...)
		}
		sub.conn.send(slices.Concat(diff, sub.tail))
	}
	h.fire("state_changed", s.ctx, func(b []byte) []byte { return appendChange(b, id, old, s) })
}

func (h *House) announceRemoval(old *state) {
	diff := appendDiff([]byte(`{"type":"event","event":`), old, nil)
	for _, sub := range h.subs {
		if sub.entities && (sub.only == nil || sub.only[old.id]) {
			sub.conn.send(slices.Concat(diff, sub.tail))
		}
	}
	h.fire("state_changed", old.ctx, func(b []byte) []byte { return appendChange(b, old.id, old, nil) })
}

// appendChange is the data of a state_changed event.
func appendChange(b []byte, id string, old, s *state) []byte {
	b = append(b, `{"entity_id":`...)
	b = append(appendString(b, id), `,"old_state":`...)
	for i, x := range []*state{old, s} {
		if i == 1 {
			b = append(b, `,"new_state":`...)
		}
		if x == nil {
			b = append(b, "null"...)
		} else {
			b = x.appendFull(b)
		}
	}
	return append(b, '}')
}

// show makes an entity show something with the context it holds, or a fresh
// one when that is older than Home Assistant keeps it.
func (h *House) show(id, value string, attrs map[string]any) {
	held, ok := h.held[id]
	if ok && h.last.Sub(held.at) > keepContext {
		delete(h.held, id)
		ok = false
	}
	if !ok {
		held.cause = h.newCause("", "")
	}
	h.write(id, value, attrs, held.cause)
}

// hold gives an entity the context of a call.
func (h *House) hold(id string, ctx cause) {
	h.held[id] = heldCause{cause: ctx, at: h.now()}
}
