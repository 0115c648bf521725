package journal

import (
	"context"
	"strings"

	"hearth/internal/home"
)

// isCall reports whether an id is that of one of our own calls.
func isCall(id string) bool { return strings.HasPrefix(id, "call_") }

// ownCall finds the row of one of our own calls, nil when there is none or when
// it touched only what is out of sight. All that the call sent hangs under it,
// also what went out in several contexts.
func (w *walk) ownCall(ctx context.Context, id string) (*Row, error) {
	// From the newest on: the call that is asked about was made a moment ago.
	where, args := "e.id = (SELECT event FROM own WHERE call = ? ORDER BY event DESC LIMIT 1)", []any{id}
	if hidden := outOfSight(w.y.v, w.y.sc); len(hidden) > 0 {
		where += ` AND (NOT EXISTS (SELECT 1 FROM target t WHERE t.event = e.id) OR EXISTS (SELECT 1 FROM target t
			JOIN entity x ON x.id = t.entity WHERE t.event = e.id AND x.eid NOT IN (SELECT value FROM json_each(?))))`
		args = append(args, jsonList(hidden))
	}
	rows, err := w.j.rowsWhere(ctx, w.y, where, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	this := &rows[0]
	root := this.Context.ID
	if root == "" {
		return this, nil
	}
	all, err := w.j.rowsWhere(ctx, w.y, "e.id = ? OR e.ctx IN (SELECT ctx FROM own_ctx WHERE event = ?)", this.ID, this.ID)
	if err != nil {
		return nil, err
	}
	w.full(all)
	w.groups[root] = all
	contexts, err := w.j.contextsOf(ctx, this.ID)
	for _, c := range contexts {
		if c != root {
			w.parts = append(w.parts, c)
		}
	}
	return this, err
}

// contextsOf gives the contexts under which one of our own calls went out.
func (j *Journal) contextsOf(ctx context.Context, event int64) ([]string, error) {
	rows, err := j.db.Reader().QueryContext(ctx, "SELECT ctx FROM own_ctx WHERE event = ?", event)
	if err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var col any
		if err := rows.Scan(&col); err != nil {
			return nil, home.Wrap(home.Internal, err, "read the journal")
		}
		out = append(out, unpackContext(col))
	}
	if err := rows.Err(); err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	return out, nil
}
