package journal

import (
	"hearth/internal/store"
)

// dictionary knows the row ids of entities, persons and JSON texts, so that a
// row costs one insert. It belongs to the store's writer. A rollback makes it
// forget everything: ids given in that transaction are void.
type dictionary struct {
	gen      uint64
	loaded   bool
	tx       uint64 // number of the transaction that has the rollback hook
	entities map[string]entry
	persons  map[string]int64
	docs     map[int64]struct{}
}

// entry is a row of the entity table.
type entry struct {
	id        int64
	eid, name string
}

const mostDocs = 16_384

func (d *dictionary) forget() {
	d.gen++
	d.loaded = false
	d.entities, d.persons, d.docs = nil, nil, nil
}

// ready loads the dictionary when it is not. Entities are keyed by registry id,
// those without by "e:" and their entity id.
func (d *dictionary) ready(tx *store.Tx) error {
	if d.tx != tx.Number() {
		d.tx = tx.Number()
		tx.OnRollback(d.forget)
	}
	if d.loaded {
		return nil
	}
	d.gen++
	d.entities, d.persons, d.docs = map[string]entry{}, map[string]int64{}, map[int64]struct{}{}
	rows, err := tx.Query("SELECT id, rid, eid, name FROM entity ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e entry
		var rid string
		if err := rows.Scan(&e.id, &rid, &e.eid, &e.name); err != nil {
			return err
		}
		d.entities[key(rid, e.eid)] = e
	}
	d.loaded = rows.Err() == nil
	return rows.Err()
}

func key(rid, eid string) string {
	if rid != "" {
		return rid
	}
	return "e:" + eid
}

// entity gives the row id of s: by registry id, else by adopting the row that
// carried its entity id before it had a registry row, else a new one.
func (d *dictionary) entity(tx *store.Tx, s *subject) (int64, error) {
	if d.loaded && s.gen == d.gen {
		return s.row, nil
	}
	if err := d.ready(tx); err != nil {
		return 0, err
	}
	if s.gen == d.gen {
		return s.row, nil
	}
	id := string(s.id)
	e, ok := d.entities[key(s.rid, id)]
	if !ok && s.rid != "" {
		if e, ok = d.entities[key("", id)]; ok {
			if _, err := tx.Exec("UPDATE entity SET rid = ? WHERE id = ?", s.rid, e.id); err != nil {
				return 0, err
			}
			delete(d.entities, key("", id))
		}
	}
	switch {
	case !ok:
		r, err := tx.Exec("INSERT INTO entity (rid, eid, domain, name) VALUES (?, ?, ?, ?)", s.rid, id, s.domain, s.name)
		if err != nil {
			return 0, err
		}
		if e.id, err = r.LastInsertId(); err != nil {
			return 0, err
		}
		e.eid, e.name = id, s.name
	case e.eid != id || (s.name != "" && e.name != s.name):
		e.eid = id
		if s.name != "" {
			e.name = s.name
		}
		if _, err := tx.Exec("UPDATE entity SET eid = ?, domain = ?, name = ? WHERE id = ?", id, s.domain, e.name, e.id); err != nil {
			return 0, err
		}
	}
	d.entities[key(s.rid, id)] = e
	s.row, s.gen = e.id, d.gen
	return e.id, nil
}

// person gives the row id of a user, nil for none.
func (d *dictionary) person(tx *store.Tx, uid, name string) (any, error) {
	if uid == "" {
		return nil, nil
	}
	if err := d.ready(tx); err != nil {
		return nil, err
	}
	if id, ok := d.persons[uid]; ok {
		return id, nil
	}
	var id int64
	err := tx.QueryRow(`INSERT INTO person (uid, name) VALUES (?, ?)
		ON CONFLICT (uid) DO UPDATE SET name = CASE WHEN excluded.name <> '' THEN excluded.name ELSE name END RETURNING id`, uid, name).Scan(&id)
	if err != nil {
		return nil, err
	}
	if len(d.persons) > 1000 {
		clear(d.persons)
	}
	d.persons[uid] = id
	return id, nil
}

// doc keeps a JSON text once and gives its id, nil for none.
func (d *dictionary) doc(tx *store.Tx, json []byte) (any, error) {
	if len(json) == 0 {
		return nil, nil
	}
	if err := d.ready(tx); err != nil {
		return nil, err
	}
	id := docID(json)
	if _, ok := d.docs[id]; ok {
		return id, nil
	}
	if _, err := tx.Exec("INSERT OR IGNORE INTO doc (id, json) VALUES (?, ?)", id, string(json)); err != nil {
		return nil, err
	}
	if len(d.docs) >= mostDocs {
		clear(d.docs)
	}
	d.docs[id] = struct{}{}
	return id, nil
}
