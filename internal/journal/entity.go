package journal

import (
	"hearth/internal/home"
	"hearth/internal/mirror"
)

// subject is what the rows of one entity share. It never changes once made,
// except for row and gen, which belong to the store's writer.
type subject struct {
	id     home.EntityID
	rid    string // registry id, "" without a registry row
	domain string
	name   string

	row int64 // its id in the entity table, valid while gen is the dictionary's
	gen uint64
}

// entity is what the journal remembers of one entity while it follows the
// stream. It belongs to whoever holds Journal.mu.
type entity struct {
	subject *subject
	decided bool
	decision
	class, unit string

	seeded bool    // last was looked up or set
	has    bool    // last holds a number
	last   float64 // the last number kept

	ring uint64 // place in the ring of its newest state, 0 for none
}

// mostEntities bounds the memory for entities; beyond it everything is
// forgotten and learnt anew, which costs time, not truth.
const mostEntities = 200_000

// entity finds or makes the memory of id.
func (j *Journal) entity(v *mirror.View, id home.EntityID) *entity {
	if e, ok := j.entities[id]; ok {
		return e
	}
	if len(j.entities) >= mostEntities {
		clear(j.entities)
	}
	e := &entity{subject: newSubject(v, id)}
	j.entities[id] = e
	return e
}

func newSubject(v *mirror.View, id home.EntityID) *subject {
	s := &subject{id: id, domain: id.Domain()}
	if v != nil {
		if row := v.Row(id); row != nil {
			s.rid, s.name = row.RegistryID, row.Name
		}
	}
	return s
}

// decide asks the policy about e, once per entity and again when its registry
// row or unit changed.
func (j *Journal) decide(v *mirror.View, e *entity, now *home.State) {
	if e.decided {
		return
	}
	e.decided = true
	var row *home.Entity
	if v != nil {
		row = v.Row(e.subject.id)
	}
	e.class, e.unit = "", ""
	mirror.EachMember(now.Attrs, func(k, val []byte) bool {
		switch string(k) {
		case "device_class":
			e.class = text(val)
		case "unit_of_measurement":
			e.unit = text(val)
		}
		return true
	})
	if row != nil && row.Class != "" {
		e.class = row.Class
	}
	e.decision = j.policy.decide(traits{id: e.subject.id, class: e.class, unit: e.unit})
}

// reunit decides anew when an attribute change brought another unit: numbers
// in the old one must not be compared with it.
func (j *Journal) reunit(v *mirror.View, e *entity, now *home.State) {
	if e.subject.domain != "sensor" || text(member(now.Attrs, "unit_of_measurement")) == e.unit {
		return
	}
	e.decided, e.seeded, e.has = false, true, false
	j.decide(v, e, now)
}

// registryChanged forgets what was decided about the entities named (all when
// nil), and lets rows that were renamed keep their history.
func (j *Journal) registryChanged(v *mirror.View, c *home.Change) {
	if c.Registry != "entity" && c.Registry != "device" && c.Registry != "area" {
		return
	}
	renew := func(id home.EntityID, e *entity) {
		s := newSubject(v, id)
		if s.rid == e.subject.rid && s.name == e.subject.name {
			if c.Registry == "entity" {
				e.decided = false
			}
			return
		}
		e.subject, e.decided = s, false
		j.rows = append(j.rows, known{j, s})
	}
	if c.Entities == nil {
		for id, e := range j.entities {
			renew(id, e)
		}
		return
	}
	for _, id := range c.Entities {
		e, ok := j.entities[id]
		if ok {
			renew(id, e)
			continue
		}
		// A new id may be an old entity's: the row with its registry id learns it.
		if s := newSubject(v, id); s.rid != "" {
			j.entities[id] = &entity{subject: s}
			j.rows = append(j.rows, known{j, s})
		}
	}
}
