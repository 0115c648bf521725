package journal

import (
	"bytes"
	"context"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// A start compares the house with the states the mirror saved last. Those may
// be older than what this journal stored before a crash, so a difference may be
// one it already tells. What follows finds these out; it only looks at entities
// not met in this run, and at changes from before it.

// stored is the newest row of an entity on disk.
type stored struct {
	at    int64
	value string
	flags int64
	doc   []byte
}

// where chooses the subject's row of the entity table, called en.
func (s *subject) where() (cond, arg string) {
	if s.rid != "" {
		return "en.rid = ? AND en.rid <> ''", s.rid // said twice so that the partial index serves
	}
	return "en.eid = ? AND en.rid = ''", string(s.id)
}

// newestBefore is the time of the newest change on disk, by the house's clock.
func (j *Journal) newestBefore(ctx context.Context) int64 {
	var ms int64
	// Without an answer every change counts as news: a row told twice is better
	// than one left out.
	err := j.db.Reader().QueryRowContext(ctx, `SELECT max(coalesce((SELECT max(at) FROM event), 0),
		coalesce((SELECT max(till) FROM event WHERE kind = 7 AND kind <> 1), 0))`).Scan(&ms)
	if err != nil {
		j.log.Warn("changes of before the start may be told twice", home.KeyError, err)
		return 0
	}
	return ms
}

// newest looks up e's newest state on disk, alone or within a bulk row.
func (j *Journal) newest(e *entity) (last stored, ok bool) {
	where, arg := e.subject.where()
	err := j.db.Reader().QueryRow(`SELECT at, new, flags, doc FROM (
		SELECT * FROM (SELECT ev.at AS at, coalesce(ev.new, '') AS new, ev.flags AS flags, (SELECT json FROM doc WHERE id = ev.doc) AS doc
			FROM entity en JOIN event ev ON ev.entity = en.id WHERE `+where+` AND ev.kind = 1 ORDER BY ev.at DESC, ev.id DESC LIMIT 1)
		UNION ALL
		SELECT * FROM (SELECT m.at, coalesce(m.new, ''), b.flags, NULL
			FROM entity en JOIN member m ON m.entity = en.id JOIN event b ON b.id = m.bulk WHERE `+where+` ORDER BY m.at DESC, m.id DESC LIMIT 1))
		ORDER BY at DESC LIMIT 1`, arg, arg).Scan(&last.at, &last.value, &last.flags, &last.doc)
	return last, err == nil
}

// news gives what of a caught-up change is not on disk: all of it, only the
// attributes that changed after the value did, or nil.
func (j *Journal) news(e *entity, c *home.Change) *home.Change {
	at := stateTime(c).UnixMilli()
	if at > j.before {
		return c
	}
	last, ok := j.newest(e)
	switch {
	case !ok, last.at < at, last.value != c.New.Value, last.flags&flagRemoved != 0:
		return c
	case c.Old == nil, last.at >= c.New.Updated.UnixMilli():
		return nil
	}
	rest, old := *c, *c.Old
	old.Value = c.New.Value
	if told(e.attrs, &old, c.New, last.doc) {
		return nil
	}
	rest.Old = &old
	return &rest
}

// told reports whether doc, the attributes of the newest row, holds all that
// differs between two states.
func told(names []string, old, now *home.State, doc []byte) bool {
	all := true
	mirror.EachMember(changed(old.Attrs, now.Attrs, names), func(k, v []byte) bool {
		all = bytes.Equal(member(doc, string(k)), v)
		return all
	})
	return all
}
