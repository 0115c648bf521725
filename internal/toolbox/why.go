package toolbox

import (
	"context"
	"encoding/json"

	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/tool"
)

type whyIn struct {
	Entity    string `json:"entity_id,omitempty" jsonschema:"The entity that changed: id or unmistakable name"`
	At        string `json:"at,omitempty" jsonschema:"About when: ISO time, 2h (ago), NOW-30m, today 7:00, monday 14:00; a range word (yesterday, last night) means its last change in it; default its last change"`
	Context   string `json:"context_id,omitempty" jsonschema:"A context id from another answer, or the call of a receipt, instead of an entity"`
	Direction string `json:"direction,omitempty" jsonschema:"causes, effects or both" default:"both" enum:"causes,effects,both"`
	Depth     int    `json:"depth,omitempty" jsonschema:"How many contexts to follow up and down: one is a call or run with all it did, and may take several levels of the tree" default:"5" min:"1" max:"10"`
}

type whyOut struct {
	Summary   string     `json:"summary" jsonschema:"the answer in one sentence"`
	Tree      []nodeLine `json:"tree" jsonschema:"root cause first; level says how deep a line stands under the one before with a smaller level"`
	Depth     int        `json:"depth" jsonschema:"contexts followed, not levels of the tree"`
	Truncated bool       `json:"truncated,omitempty" jsonschema:"true when the tree goes on"`
	Coverage  coverage   `json:"coverage" jsonschema:"how complete the journal is around it"`
	Notes     []string   `json:"notes,omitempty" jsonschema:"what could not be known"`
}

// nodeLine is one line of the tree of causes, without the parts of a row that a
// tree does not need.
type nodeLine struct {
	Level     int             `json:"level" jsonschema:"0 is the root cause"`
	Role      string          `json:"role" jsonschema:"cause, this, effect or sibling"`
	At        string          `json:"at" jsonschema:"when"`
	Kind      string          `json:"kind" jsonschema:"state, automation, script, service or hearth"`
	Actor     string          `json:"actor,omitempty" jsonschema:"person, automation, script or integration behind it"`
	Entity    home.EntityID   `json:"entity_id,omitempty" jsonschema:"entity"`
	Name      string          `json:"name,omitempty" jsonschema:"its name"`
	Old       string          `json:"old,omitempty" jsonschema:"state before"`
	New       string          `json:"new,omitempty" jsonschema:"state after"`
	What      string          `json:"what,omitempty" jsonschema:"service, trigger or tool"`
	Attrs     json.RawMessage `json:"attrs,omitempty" jsonschema:"attributes that changed and matter"`
	Outcome   string          `json:"outcome,omitempty" jsonschema:"what became of Hearth's own call"`
	Call      string          `json:"call,omitempty" jsonschema:"id of Hearth's own call"`
	ContextID string          `json:"context_id,omitempty" jsonschema:"its context"`
}

// whyLines is how many lines a tree shows.
const whyLines = 80

// Len and Cut let the door shorten the answer.
func (o whyOut) Len() int { return len(o.Tree) }

// Cut leaves off the end of the tree, which lies furthest from the root.
func (o whyOut) Cut(keep int) (any, bool) {
	o.Tree, o.Truncated = o.Tree[:min(keep, len(o.Tree))], true
	return o, true
}

func (b *Box) journalWhy(ctx context.Context, c tool.Caller, in whyIn) (whyOut, error) {
	if (in.Entity == "") == (in.Context == "") {
		return whyOut{}, home.Errorf(home.Invalid, "give either entity_id or context_id").WithHint(`for example {"entity_id":"light.kitchen_lights"}`)
	}
	v, err := b.see(ctx, c)
	if err != nil {
		return whyOut{}, err
	}
	if b.Journal == nil {
		return whyOut{}, noJournal()
	}
	q := journal.WhyQuery{Context: in.Context, Direction: in.Direction, Depth: in.Depth, Now: b.now(), Location: v.Location()}
	if in.Entity != "" {
		if q.Entity, err = v.past(in.Entity); err != nil {
			return whyOut{}, err
		}
	}
	if in.At != "" {
		from, to, err := v.clock().When(in.At)
		if err != nil {
			return whyOut{}, err
		}
		if q.At = from; !to.IsZero() {
			q.Since, q.At = from, to
		}
	}
	w, err := b.Journal.Why(ctx, v.sc, q)
	if q.Entity != "" && (home.CodeOf(err) == home.NotFound || err == nil && w.Root == nil) {
		if unmet := v.unmet(ctx, q.Entity); unmet != nil {
			return whyOut{}, unmet
		}
	}
	if err != nil {
		return whyOut{}, err
	}
	out := whyOut{
		Summary: home.Clip(clean(w.Summary), 500), Tree: []nodeLine{}, Depth: w.Depth, Truncated: w.Truncated, Coverage: covered(w.Coverage, v.Location()),
	}
	for _, n := range w.Notes {
		if len(out.Notes) < 5 {
			out.Notes = append(out.Notes, home.Clip(clean(n), 200))
		}
	}
	v.lines(&out, w.Root, 0)
	return out, nil
}

// lines writes the tree from its root down, each branch in whole before the next.
func (v sight) lines(out *whyOut, n *journal.Node, level int) {
	if n == nil {
		return
	}
	if len(out.Tree) == whyLines {
		out.Truncated = true
		return
	}
	r := n.Row
	line := nodeLine{
		Level: level, Role: n.Role, At: v.at(r.At), Kind: string(r.Kind), Actor: name(n.Actor), Entity: r.Entity, Name: name(r.Name),
		Old: home.Clip(clean(r.Old), 80), New: home.Clip(clean(r.New), 80), What: home.Clip(clean(r.What), 160), Outcome: r.Outcome, Call: r.Call, ContextID: r.Context.ID,
	}
	if attrs := present(r); len(attrs) > 2 && len(attrs) <= 300 {
		line.Attrs = attrs
	}
	out.Tree = append(out.Tree, line)
	for _, c := range n.Children {
		v.lines(out, c, level+1)
	}
}
