package hands

import (
	"slices"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// watched is a step's leaves and what each should show.
type watched struct {
	before *mirror.View
	leaves []*leaf
}

// leaf is one entity being watched.
type leaf struct {
	want   home.Expect
	looks  bool // there is something to see
	name   string
	before *home.State // nil: none
	was    bool        // it showed exactly what is wanted before anything was sent
	off    float64     // how far it was from that, where the tolerance covers it
	partly bool        // it showed what can be seen of it, but more was asked
}

// watch puts together what the tool expects and what the judge found to be
// touched, the tool's first.
func watch(v *mirror.View, s home.Step, ids []home.EntityID) *watched {
	w := &watched{before: v}
	seen := map[home.EntityID]bool{}
	for _, e := range s.Expect {
		if !seen[e.Entity] {
			seen[e.Entity] = true
			w.add(v, e)
		}
	}
	for _, id := range ids {
		if !seen[id] && !carries(v, id, seen) {
			seen[id] = true
			w.add(v, inherited(v, s.Expect, id))
		}
	}
	return w
}

func (w *watched) add(v *mirror.View, e home.Expect) {
	l := &leaf{want: e, before: v.State(e.Entity)}
	l.looks = !e.Blind && !e.Assumed && len(e.States)+len(e.Moving)+len(e.Attrs) > 0
	if row := v.Row(e.Entity); row != nil {
		l.name = row.Name
	}
	showed := l.looks && l.before != nil && shows(l.before, e)
	if showed {
		l.off = distance(l.before, e)
	}
	l.was = showed && !e.Loose && l.off == 0 && (len(e.Unseen) == 0 || l.proved())
	l.partly = showed && !l.was && (e.Loose || len(e.Unseen) > 0)
	w.leaves = append(w.leaves, l)
}

// carries reports whether id is a group whose members are watched: then it is
// no leaf of its own.
func carries(v *mirror.View, id home.EntityID, seen map[home.EntityID]bool) bool {
	return slices.ContainsFunc(v.Members(id), func(m home.EntityID) bool { return seen[m] })
}

// inherited is what a member of a group should show: the group's own state, but
// not its attributes, which members may not have. Without such a group there is
// nothing to compare with.
func inherited(v *mirror.View, es []home.Expect, id home.EntityID) home.Expect {
	for _, e := range es {
		if !e.Blind && !e.Assumed && len(e.States) > 0 && e.Entity.Domain() == id.Domain() && holds(v, e.Entity, id, 0) {
			return home.Expect{Entity: id, States: e.States, Moving: e.Moving, Within: e.Within, Loose: e.Loose || len(e.Attrs) > 0, Unseen: e.Unseen}
		}
	}
	return home.Expect{Entity: id}
}

// holds reports whether id is a member of group, at any depth up to eight.
func holds(v *mirror.View, group, id home.EntityID, depth int) bool {
	if depth > 8 {
		return false
	}
	members := v.Members(group)
	if slices.Contains(members, id) {
		return true
	}
	return slices.ContainsFunc(members, func(m home.EntityID) bool { return holds(v, m, id, depth+1) })
}

// satisfied reports whether every leaf shows what is wanted already, in a live
// view: a stale one proves nothing.
func (w *watched) satisfied() bool {
	if _, stale := w.before.Stale(); stale || len(w.leaves) == 0 {
		return false
	}
	return !slices.ContainsFunc(w.leaves, func(l *leaf) bool { return !l.was })
}

// reached reports whether a state is what is wanted. The tolerance is for
// devices that round; a leaf that was within it beforehand must have come
// nearer, or a command that did nothing would look done.
func (l *leaf) reached(s *home.State) bool {
	if !shows(s, l.want) {
		return false
	}
	if l.was || l.partly || l.off == 0 {
		return true
	}
	return distance(s, l.want) < l.off
}

// settled reports whether there is nothing more to wait for.
func (w *watched) settled(v *mirror.View) bool {
	for _, l := range w.leaves {
		if !l.looks {
			continue
		}
		s := v.State(l.want.Entity)
		if s == nil && l.before == nil || l.idle(s) {
			continue // it cannot be reached: waiting does not help
		}
		if s == nil || !l.arrived(s) && !moves(s, l.want) && !l.troubled(s) {
			return false
		}
	}
	return true
}

// arrived reports whether a state is what is wanted and nothing more is to come:
// what the rest of it looks like shows in the first state that is new.
func (l *leaf) arrived(s *home.State) bool {
	return l.reached(s) && (l.was || len(l.want.Proof) == 0 || l.proven(s) || l.anew(s))
}

// idle reports whether the leaf was unavailable before and still is: Home
// Assistant passes over it.
func (l *leaf) idle(s *home.State) bool {
	return s != nil && l.before != nil && s.Value == home.Unavailable && l.before.Value == home.Unavailable
}

// troubled reports whether the leaf went into a state of trouble since.
func (l *leaf) troubled(s *home.State) bool {
	return trouble(s) && (l.before == nil || s != l.before && (!s.Updated.Equal(l.before.Updated) || s.Value != l.before.Value))
}

// trouble reports whether a state says that the device could not do it.
func trouble(s *home.State) bool {
	switch s.Value {
	case "jammed", "problem", "error":
		return true
	}
	return false
}

// result says what became of each leaf and of the whole. nothing says that
// nothing was sent because nothing had to be.
func (w *watched) result(how answer, v *mirror.View, by owner, nothing bool) home.StepResult {
	res := home.StepResult{}
	var all []home.Outcome
	for _, l := range w.leaves {
		r := home.LeafResult{Entity: l.want.Entity, Name: l.name}
		s := v.State(l.want.Entity)
		r.Before, r.After = showing(l.before, l.want), showing(s, l.want)
		if nothing {
			r.Outcome = home.Already
		} else {
			r.Outcome, r.Note = l.outcome(how, s, by)
		}
		all = append(all, r.Outcome)
		res.Leaves = append(res.Leaves, r)
	}
	if len(all) > 0 {
		res.Outcome = home.Worst(all...)
		return res
	}
	res.Outcome = home.Accepted
	switch how {
	case silent:
		res.Outcome = home.Unclear
	case refused, unsent:
		res.Outcome = home.Failed
	}
	return res
}

// outcome is what became of one leaf, and what has to be said of it.
func (l *leaf) outcome(how answer, s *home.State, by owner) (home.Outcome, string) {
	switch how {
	case unsent:
		return home.Failed, "nothing was sent"
	case refused:
		return l.denied(s, by)
	case partly:
		return l.besides(s, by)
	case silent:
		return l.unanswered(s, by)
	}
	switch {
	case l.want.Blind:
		return home.Accepted, ""
	case s == nil:
		return home.Failed, entityGone
	case l.idle(s):
		return home.Failed, "it is unavailable: Home Assistant passes over it"
	case l.want.Assumed:
		return home.Assumed, "the device cannot report what it does"
	case !l.looks:
		return home.Accepted, ""
	}
	return l.seen(s, by)
}

// seen compares a leaf with what was wanted after Home Assistant agreed.
func (l *leaf) seen(s *home.State, by owner) (home.Outcome, string) {
	note := ""
	if s != l.before && by.somebody(s) {
		note = "somebody else changed it at the same time"
	}
	switch {
	case l.reached(s) && l.was:
		return home.Already, note
	case l.reached(s):
		o, part := l.part(s)
		return o, joined(part, note)
	case moves(s, l.want):
		return home.Done, joined("on its way", note)
	case trouble(s):
		return home.Failed, "the device reports: " + home.Clip(s.Value, 60)
	case s.Value == home.Unavailable:
		return home.Sent, "it became unavailable"
	}
	if shows(s, l.want) {
		return home.Sent, joined("not seen yet: it was this near before and has not come nearer: "+instead(s, l.want), note)
	}
	return home.Sent, joined("not seen yet: "+instead(s, l.want), note)
}

// part is what a leaf is that shows what can be seen of it: done, unless more
// was asked than that.
func (l *leaf) part(s *home.State) (home.Outcome, string) {
	const only = "only a part of this can be seen"
	switch {
	case len(l.want.Unseen) > 0 && !l.proven(s):
		text := only + ": of " + listed(l.want.Unseen) + " nothing is compared"
		if len(l.want.Proof) > 0 {
			text = only + ": it " + instead(s, home.Expect{Attrs: l.want.Proof}) + " for " + listed(l.want.Unseen)
		}
		return home.Accepted, text
	case len(l.want.Unseen) > 0:
		return home.Done, ""
	case l.partly:
		return home.Accepted, only
	case l.want.Loose:
		return home.Done, only
	}
	return home.Done, ""
}

// proven reports whether a state shows what was asked beyond States and Attrs.
// A leaf that was this near beforehand must have come nearer.
func (l *leaf) proven(s *home.State) bool {
	proof := home.Expect{Attrs: l.want.Proof, Within: l.want.Near}
	if !shows(s, proof) {
		return false
	}
	return l.before == nil || !shows(l.before, proof) || distance(s, proof) < distance(l.before, proof)
}

// proved reports whether the leaf showed exactly that before anything was sent.
func (l *leaf) proved() bool {
	proof := home.Expect{Attrs: l.want.Proof, Within: l.want.Near}
	return shows(l.before, proof) && distance(l.before, proof) == 0
}

// denied is what became of the only leaf when Home Assistant answered with an
// error. It has failed, unless a change of ours since then shows the contrary.
func (l *leaf) denied(s *home.State, by owner) (home.Outcome, string) {
	if !l.looks || l.was || s == nil || !l.reached(s) || !l.anew(s) || !by.did(s) {
		return home.Failed, ""
	}
	if o, _ := l.part(s); o != home.Done || l.want.Loose && len(l.want.Unseen) == 0 {
		return home.Unclear, "Home Assistant reported an error, and of what was asked only a part can be seen"
	}
	return home.Done, "Home Assistant reported an error, but this one shows it"
}

// anew reports whether a state was made after the command was sent, in another
// context than the one before: without an answer our own call has no id, and an
// earlier call of ours must not stand for it.
func (l *leaf) anew(s *home.State) bool {
	return l.before == nil || s != l.before && s.Context.ID != l.before.Context.ID
}

// besides is what became of one of several leaves when Home Assistant reported
// an error that may have been about another.
func (l *leaf) besides(s *home.State, by owner) (home.Outcome, string) {
	const reported = "Home Assistant reported an error"
	switch {
	case s == nil:
		return home.Failed, entityGone
	case l.looks && !l.was && l.reached(s) && l.anew(s) && by.did(s):
		o, _ := l.denied(s, by)
		if o == home.Done {
			return o, reported + ", but this one shows it"
		}
		return home.Unclear, reported + ", and of what was asked of this one only a part can be seen"
	case l.looks && !l.was && moves(s, l.want) && l.anew(s) && by.did(s):
		return home.Done, reported + ", but this one is on its way"
	case trouble(s) && l.troubled(s):
		return home.Failed, "the device reports: " + home.Clip(s.Value, 60)
	case l.looks && !l.was && !l.reached(s):
		return home.Unclear, reported + "; whether it was about this one is not known: it " + instead(s, l.want)
	}
	return home.Unclear, reported + "; whether it was about this one is not known"
}

// unanswered is what became of a leaf when no answer came: the house decides,
// where a state proves to be ours.
func (l *leaf) unanswered(s *home.State, by owner) (home.Outcome, string) {
	if s == nil || !l.looks || s == l.before {
		return home.Unclear, ""
	}
	ok := l.reached(s) || moves(s, l.want)
	switch {
	case ok && l.anew(s) && by.did(s):
		if o, part := l.part(s); o != home.Done && !moves(s, l.want) {
			return home.Unclear, part
		}
		return home.Done, ""
	case ok:
		return home.Unclear, "it shows the value now; whether through this call is not known"
	case trouble(s) && l.troubled(s):
		return home.Failed, "the device reports: " + home.Clip(s.Value, 60)
	}
	return home.Unclear, instead(s, l.want)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
