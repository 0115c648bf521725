package hass

import (
	"encoding/json"
	"math"
	"time"

	"hearth/internal/home"
)

// decoder turns the events of subscribe_entities into patches. It belongs to
// one goroutine; what it hands out is never touched again.
type decoder struct {
	ids      map[string]home.EntityID // ids seen, so that a difference needs no new string
	patches  []home.Patch             // collected since the last take
	values   []string                 // chunk that Patch.Value points into
	contexts []home.Context           // chunk that Patch.Context points into
}

func newDecoder() *decoder { return &decoder{ids: map[string]home.EntityID{}} }

// take gives the patches collected so far and starts anew.
func (d *decoder) take() []home.Patch {
	if len(d.patches) == 0 {
		return nil
	}
	out := make([]home.Patch, len(d.patches))
	copy(out, d.patches)
	clear(d.patches)
	if cap(d.patches) > 4096 { // a snapshot passed through
		d.patches = nil
	}
	d.patches = d.patches[:0]
	return out
}

// entities decodes one event: {"a": {id: state}, "c": {id: difference}, "r": [id]}.
// It reports false, and collects nothing, when the event is broken.
func (d *decoder) entities(event []byte) bool {
	before := len(d.patches)
	s := scanner{b: event}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "a":
			for s.open('{'); s.more('}'); {
				d.full(&s, d.id(s.key()))
			}
		case "c":
			for s.open('{'); s.more('}'); {
				d.difference(&s, d.id(s.key()))
			}
		case "r":
			for s.open('['); s.more(']'); {
				id := home.EntityID(s.text())
				delete(d.ids, string(id))
				d.patches = append(d.patches, home.Patch{ID: id, Removed: true})
			}
		default:
			s.skip()
		}
	}
	if s.end() {
		return true
	}
	d.patches = d.patches[:before]
	return false
}

func (d *decoder) id(b []byte) home.EntityID {
	id, ok := d.ids[string(b)]
	if !ok {
		id = home.EntityID(b)
		d.ids[string(id)] = id
	}
	return id
}

// full decodes a whole state. Home Assistant leaves lu out where it equals lc,
// and writes a context that is only an id as a string.
func (d *decoder) full(s *scanner, id home.EntityID) {
	p := home.Patch{ID: id, Full: true}
	d.fields(s, &p)
	p.KeepContext = 0
	if p.Context == nil {
		p.Context = d.context(home.Context{})
	}
	if p.Updated.IsZero() {
		p.Updated = p.Changed
	}
	if p.Value == nil {
		s.fail()
	}
	if p.Set == nil {
		p.Set = json.RawMessage("{}")
	}
	d.patches = append(d.patches, p)
}

// difference decodes {"+": fields that changed, "-": {"a": attributes that went}}.
// A new lc without lu means that both are new and equal.
func (d *decoder) difference(s *scanner, id home.EntityID) {
	p := home.Patch{ID: id}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "+":
			d.fields(s, &p)
			if p.Updated.IsZero() {
				p.Updated = p.Changed
			}
		case "-":
			p.Unset = gone(s)
		default:
			s.skip()
		}
	}
	d.patches = append(d.patches, p)
}

// gone decodes the attributes that a difference removes.
func gone(s *scanner) (names []string) {
	for s.open('{'); s.more('}'); {
		if string(s.key()) != "a" {
			s.skip()
			continue
		}
		names = nil
		for s.open('['); s.more(']'); {
			names = append(names, s.text())
		}
	}
	return names
}

// fields decodes the members s, a, c, lc and lu into p.
func (d *decoder) fields(s *scanner, p *home.Patch) {
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "s":
			p.Value = d.value(s.text())
		case "a":
			if s.peek() != '{' {
				s.fail()
				return
			}
			p.Set = append(json.RawMessage(nil), s.raw()...)
		case "c":
			d.contextOf(s, p)
		case "lc":
			p.Changed = stamp(s.number())
		case "lu":
			p.Updated = stamp(s.number())
		default:
			s.skip()
		}
	}
}

// contextOf decodes a context: its id alone, or the members that differ.
func (d *decoder) contextOf(s *scanner, p *home.Patch) {
	p.KeepContext = home.ContextID | home.ContextParent | home.ContextUser
	var c home.Context
	if s.peek() == '"' {
		c.ID = s.text()
		p.KeepContext &^= home.ContextID
		p.Context = d.context(c)
		return
	}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "id":
			c.ID = s.textOrNull()
			p.KeepContext &^= home.ContextID
		case "parent_id":
			c.Parent = s.textOrNull()
			p.KeepContext &^= home.ContextParent
		case "user_id":
			c.User = s.textOrNull()
			p.KeepContext &^= home.ContextUser
		default:
			s.skip()
		}
	}
	p.Context = d.context(c)
}

const chunk = 64

// value gives v an address, many to one allocation.
func (d *decoder) value(v string) *string {
	if len(d.values) == cap(d.values) {
		d.values = make([]string, 0, chunk)
	}
	d.values = append(d.values, v)
	return &d.values[len(d.values)-1]
}

func (d *decoder) context(c home.Context) *home.Context {
	if len(d.contexts) == cap(d.contexts) {
		d.contexts = make([]home.Context, 0, chunk)
	}
	d.contexts = append(d.contexts, c)
	return &d.contexts[len(d.contexts)-1]
}

// stamp turns float seconds into a time with microseconds, rounded as Python's
// datetime.fromtimestamp does (half to even), so that it equals the text that
// get_states shows.
func stamp(seconds float64) time.Time {
	whole, part := math.Modf(seconds)
	micro := math.RoundToEven(part * 1e6)
	return time.Unix(int64(whole), int64(micro)*1000).UTC()
}
