package journal

import (
	"context"
	"encoding/json"

	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/store"
)

// ownCall is the record of one of our own calls.
type ownCall struct {
	r        home.CallRecord
	steps    json.RawMessage
	contexts []string
}

// stepLine is a step as it is kept: what was sent and what became of it.
type stepLine struct {
	Service string          `json:"service,omitempty"`
	Target  *home.Target    `json:"target,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Outcome home.Outcome    `json:"outcome,omitempty"`
	Leaves  []leafLine      `json:"leaves,omitempty"`
	Context string          `json:"context,omitempty"`
	Note    string          `json:"note,omitempty"`
}

// leafLine is one leaf's part of it.
type leafLine struct {
	Entity  home.EntityID `json:"entity_id"`
	Outcome home.Outcome  `json:"outcome"`
	Before  string        `json:"before,omitempty"`
	After   string        `json:"after,omitempty"`
}

// Record keeps one of our own calls. A write is on disk, fully synced, when it
// returns nil; a plain read is appended, so that looking never waits for the
// disk. When the disk refuses a write's record it waits in memory behind
// everything else, and the error, Internal, says so; when there is no room
// either the error says that the record is lost, it counts as
// journal.unrecorded, and a gap tells it.
func (j *Journal) Record(ctx context.Context, r home.CallRecord) error {
	row := j.ownRow(r)
	look := r.Class <= home.Read && len(r.Steps) == 0
	var cause error
	if !look {
		if cause = j.db.Commit(ctx, row); cause == nil {
			return nil
		}
	} else {
		row.kind = kindLook
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if (cause == nil || store.Later(cause)) && j.db.Append(row) {
		j.unmarked = true
		if look {
			return nil
		}
		return untold(cause, "the record of this call waits in memory until the database can be written: it would not survive a crash")
	}
	j.counters.unrecorded.Add(1)
	j.refuse(r.At, 1)
	return untold(cause, "this call could not be written into the journal")
}

// untold is the error for a record that is not on disk.
func untold(cause error, msg string) error {
	return (&home.Error{Code: home.Internal, Msg: msg, Err: cause}).WithHint("free disk space or make the data directory writable")
}

func (j *Journal) ownRow(r home.CallRecord) *event {
	own := &ownCall{r: r}
	own.r.Args = nil
	row := &event{j: j, at: r.At.UnixMilli(), kind: kindOwn, what: r.Tool, own: own, doc: bounded(secret.Star(r.Args))}
	var leaves []home.EntityID
	var lines []stepLine
	for _, s := range r.Steps {
		line, ids := stepOf(s)
		lines = append(lines, line)
		leaves = append(leaves, ids...)
		if id := s.Result.Context.ID; id != "" {
			own.contexts = append(own.contexts, id)
			if row.ctx.ID == "" {
				row.ctx = s.Result.Context
			}
		}
	}
	if len(lines) > 0 {
		if b, err := json.Marshal(lines); err == nil {
			own.steps = bounded(secret.Star(b))
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, id := range unique(leaves) {
		if i == mostTargets {
			break
		}
		e, ok := j.entities[id]
		if !ok {
			e = &entity{subject: newSubject(j.view(), id)}
		}
		row.targets = append(row.targets, e.subject)
	}
	row.n = int64(len(row.targets))
	return row
}

func stepOf(s home.StepRecord) (stepLine, []home.EntityID) {
	line := stepLine{Outcome: s.Result.Outcome, Context: s.Result.Context.ID, Note: home.Clip(s.Result.Note, 300)}
	ids := s.Leaves
	if c := s.Step.Call; c != nil {
		line.Service, line.Data = c.Name(), secret.Star(c.Data)
		if !c.Target.Empty() {
			line.Target = &c.Target
		}
		if len(ids) == 0 {
			ids = c.Target.Entities
		}
	}
	for i, l := range s.Result.Leaves {
		if i == 100 {
			break
		}
		line.Leaves = append(line.Leaves, leafLine{l.Entity, l.Outcome, l.Before, l.After})
	}
	return line, ids
}

func (o *ownCall) write(tx *store.Tx, event int64) error {
	r := &o.r
	_, err := tx.Exec(`INSERT INTO own (event, call, via, who, class, dry, outcome, code, message, took_us, bytes, steps)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		event, r.ID, r.Via, r.Who, int64(r.Class), r.DryRun, string(r.Outcome), string(r.Code), secret.Text(home.Clip(r.Message, 500)),
		r.Took.Microseconds(), r.Bytes, string(o.steps))
	if err != nil {
		return err
	}
	for _, id := range o.contexts {
		if _, err := tx.Exec("INSERT OR IGNORE INTO own_ctx (ctx, event) VALUES (?, ?)", packContext(id), event); err != nil {
			return err
		}
	}
	return nil
}
