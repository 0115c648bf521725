package journal

import (
	"hearth/internal/home"
	"hearth/internal/store"
)

// The kinds of row as the event table numbers them.
const (
	kindState int64 = iota + 1
	kindRun
	kindScript
	kindCall
	kindOwn
	kindGap
	kindBulk
	kindLook // an own call that only read: kept, but told only when its kind, a user or a text is asked for
)

// Marks of a row.
const (
	flagCaughtUp = 1 // found by comparing after a reconnect
	flagRemoved  = 2 // the entity is gone
	flagFirst    = 4 // the entity had no state before
)

// event is one row of the event table on its way to the disk.
type event struct {
	j       *Journal
	at      int64
	kind    int64
	subject *subject
	old     string
	now     string
	doc     []byte
	raw     []byte
	ctx     home.Context
	cause   *subject
	what    string
	n       int64
	till    int64 // 0: none
	flags   int64
	targets []*subject
	own     *ownCall

	id int64 // given by Write; 0 until it is written
}

const insertEvent = `INSERT INTO event (at, kind, entity, old, new, doc, raw, ctx, parent, person, cause, what, till, n, flags)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// insertState is the short form for the rows that make up nearly everything.
const insertState = `INSERT INTO event (at, kind, entity, old, new, doc, ctx, parent, person, flags)
	VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?)`

// Write is the row's part of a store transaction.
func (e *event) Write(tx *store.Tx) error {
	e.id = 0
	d := &e.j.dict
	var entity, cause any
	if e.subject != nil {
		id, err := d.entity(tx, e.subject)
		if err != nil {
			return err
		}
		entity = id
	}
	if e.cause != nil {
		id, err := d.entity(tx, e.cause)
		if err != nil {
			return err
		}
		cause = id
	}
	doc, err := d.doc(tx, e.doc)
	if err != nil {
		return err
	}
	person, err := d.person(tx, e.ctx.User, "")
	if err != nil {
		return err
	}
	ctx, parent := packContext(e.ctx.ID), packContext(e.ctx.Parent)
	if e.kind == kindState {
		r, err := tx.Exec(insertState, e.at, entity, null(e.old), null(e.now), doc, ctx, parent, person, e.flags)
		if err != nil {
			return err
		}
		e.id, err = r.LastInsertId()
		return err
	}
	raw, err := d.doc(tx, e.raw)
	if err != nil {
		return err
	}
	r, err := tx.Exec(insertEvent, e.at, e.kind, entity, null(e.old), null(e.now), doc, raw, ctx, parent, person, cause,
		null(e.what), zeroNull(e.till), zeroNull(e.n), e.flags)
	if err != nil {
		return err
	}
	if e.id, err = r.LastInsertId(); err != nil {
		return err
	}
	return e.children(tx)
}

// children writes what hangs on a call: its resolved targets and, for our own,
// its record.
func (e *event) children(tx *store.Tx) error {
	for _, t := range e.targets {
		id, err := e.j.dict.entity(tx, t)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT OR IGNORE INTO target (entity, at, event) VALUES (?, ?, ?)", id, e.at, e.id); err != nil {
			return err
		}
	}
	if e.own != nil {
		return e.own.write(tx, e.id)
	}
	return nil
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func zeroNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// known lets the entity table learn an entity's present id and name.
type known struct {
	j *Journal
	s *subject
}

// Write is the row's part of a store transaction.
func (k known) Write(tx *store.Tx) error {
	_, err := k.j.dict.entity(tx, k.s)
	return err
}

// userName lets the person table learn a user's name, for when the house no
// longer knows it.
type userName struct {
	id, name string
}

// Write is the row's part of a store transaction.
func (u userName) Write(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO person (uid, name) VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET name = excluded.name`, u.id, u.name)
	return err
}

// ensure writes e when no transaction has kept it yet. A rollback makes it
// unwritten again.
func (e *event) ensure(tx *store.Tx) error {
	if e.id != 0 {
		return nil
	}
	tx.OnRollback(func() { e.id = 0 })
	return e.Write(tx)
}

// endRow closes or extends a gap or bulk row.
type endRow struct {
	e    *event
	till int64 // 0 leaves it open
	n    int64
}

// Write is the row's part of a store transaction.
func (r endRow) Write(tx *store.Tx) error {
	if err := r.e.ensure(tx); err != nil {
		return err
	}
	if r.e.kind == kindGap && r.n == 0 && r.till != 0 && r.till <= r.e.at {
		_, err := tx.Exec("DELETE FROM event WHERE id = ?", r.e.id) // it ended as it began: no hole
		return err
	}
	_, err := tx.Exec("UPDATE event SET till = ?, n = ? WHERE id = ?", zeroNull(r.till), zeroNull(r.n), r.e.id)
	return err
}

// foldRow begins a bulk row out of rows that were written one by one.
type foldRow struct {
	bulk    *event
	singles []*event
}

// Write is the row's part of a store transaction.
func (r foldRow) Write(tx *store.Tx) error {
	if err := r.bulk.ensure(tx); err != nil {
		return err
	}
	for _, s := range r.singles {
		if s.id != 0 {
			if _, err := tx.Exec("DELETE FROM event WHERE id = ?", s.id); err != nil {
				return err
			}
		}
		if err := (memberRow{r.bulk, s.subject, s.at, s.old, s.now}).Write(tx); err != nil {
			return err
		}
	}
	return nil
}

// memberRow is one entity's change within a bulk row.
type memberRow struct {
	bulk     *event
	subject  *subject
	at       int64
	old, now string
}

// Write is the row's part of a store transaction.
func (m memberRow) Write(tx *store.Tx) error {
	if err := m.bulk.ensure(tx); err != nil {
		return err
	}
	id, err := m.bulk.j.dict.entity(tx, m.subject)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO member (bulk, entity, at, old, new) VALUES (?, ?, ?, ?, ?)", m.bulk.id, id, m.at, null(m.old), null(m.now))
	return err
}
