package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// maxWait is how long a write waits for the house at most.
const maxWait = 8 * time.Second

// write walks a writing tool: plan, judge, before-images, hands, receipt.
func (k *call) write(ctx context.Context, args json.RawMessage) {
	plan, err := guarded(k, "plan", func() (Plan, error) { return k.d.plan(ctx, k.c, args) })
	if err != nil {
		k.fail(failedOrRefused(err), k.told(ctx, err))
		return
	}
	plan.Wait = min(max(plan.Wait, 0), maxWait)
	k.rec.DryRun = plan.DryRun
	verdict, ok := k.judged(ctx, plan)
	if !ok {
		return
	}
	k.rec.Class = verdict.Class
	k.receipt = &Receipt{Call: k.rec.ID, DryRun: plan.DryRun, Class: verdict.Class.String(), Notes: plainAll(plan.Notes, verdict.Notes)}
	switch {
	case plan.DryRun:
		k.rehearse(plan, verdict)
	case !verdict.Allow:
		k.keepSteps(plan, verdict)
		k.fail(home.Refused, home.Errorf(home.Denied, "%s", verdict.Why))
	case len(plan.Steps) == 0:
		k.receipt.Outcome = home.Already
		k.receive()
	default:
		k.act(ctx, plan, verdict)
	}
}

// judged asks the judge. Without one, or above the caller's grant, nothing is allowed.
func (k *call) judged(ctx context.Context, plan Plan) (Verdict, bool) {
	if k.r.Judge == nil || k.r.Hands == nil {
		k.fail(home.Refused, home.Errorf(home.Denied, "%s cannot act: Hearth is not ready to write", k.d.spec.Name).WithHint("hearth_status shows what is missing; reading tools work"))
		return Verdict{}, false
	}
	v, err := guarded(k, "judge", func() (Verdict, error) { return k.r.Judge(ctx, k.c, k.d.spec.Name, plan) })
	if err != nil {
		k.fail(failedOrRefused(err), k.told(ctx, err))
		return Verdict{}, false
	}
	v.Class = max(v.Class, k.d.spec.Class) // the tool's class is a floor
	if v.Allow && !k.c.Grant.Allows(v.Class) {
		v.Allow = false
		v.Why = needs("this call", v.Class, k.c.Grant).Msg
	}
	for len(v.Leaves) < len(plan.Steps) {
		v.Leaves = append(v.Leaves, nil)
	}
	return v, true
}

// failedOrRefused is the outcome of a write that ended before anything was sent.
func failedOrRefused(err error) home.Outcome {
	if home.CodeOf(err) == home.Denied {
		return home.Refused
	}
	return home.Failed
}

// rehearse answers a dry run: what would be sent, and to what.
func (k *call) rehearse(plan Plan, v Verdict) {
	r := k.receipt
	if !v.Allow {
		r.Outcome = home.Refused
		r.Notes = append(r.Notes, Plain(v.Why))
	}
	for i, s := range plan.Steps {
		sent := starred(s)
		sent.Expect = nil // the targets say what each would show
		r.Would = append(r.Would, sent)
		seen := map[home.EntityID]bool{}
		for _, e := range s.Expect {
			seen[e.Entity] = true
			r.Targets = append(r.Targets, home.LeafResult{Entity: e.Entity, Outcome: r.Outcome, Note: wouldShow(e)})
		}
		for _, leaf := range v.Leaves[i] {
			if !seen[leaf] && !v.Unseen[leaf] {
				seen[leaf] = true
				r.Targets = append(r.Targets, home.LeafResult{Entity: leaf, Outcome: r.Outcome, Note: "would be touched"})
			}
		}
	}
	k.receive()
}

// wouldShow says what a leaf would show afterwards.
func wouldShow(e home.Expect) string {
	switch {
	case e.Blind:
		return "would be called; it shows nothing"
	case len(e.States) > 0:
		return "would become " + oneOf(e.States)
	}
	return "would be changed"
}

// oneOf joins the states that count as reached; spellings of one number are one.
func oneOf(states []string) string {
	var out []string
	for _, s := range states {
		f, err := strconv.ParseFloat(s, 64)
		if !slices.ContainsFunc(out, func(t string) bool {
			g, err2 := strconv.ParseFloat(t, 64)
			return err == nil && err2 == nil && f == g
		}) {
			out = append(out, s)
		}
	}
	if len(out) < 2 {
		return strings.Join(out, "")
	}
	return strings.Join(out[:len(out)-1], ", ") + " or " + out[len(out)-1]
}

// act looks at what stands, executes each step once, and makes the receipt.
func (k *call) act(ctx context.Context, plan Plan, v Verdict) {
	if k.r.Eyes != nil {
		var all []home.EntityID
		for _, leaves := range v.Leaves {
			all = append(all, leaves...)
		}
		if _, err := guarded(k, "eyes", func() (struct{}, error) { return struct{}{}, k.r.Eyes(ctx, all) }); err != nil {
			k.fail(home.Failed, k.told(ctx, err))
			return
		}
	}
	var outcomes []home.Outcome
	for i, s := range plan.Steps {
		res := k.step(ctx, s, v.Leaves[i], plan.Wait)
		outcomes = append(outcomes, res.Outcome)
		k.rec.Steps = append(k.rec.Steps, home.StepRecord{Step: starred(s), Result: res, Leaves: v.Leaves[i]})
		k.tell(i, len(plan.Steps), res, v.Unseen)
	}
	k.receipt.Outcome = home.Worst(outcomes...)
	if e := k.sentNothing(ctx); e != nil {
		k.fail(k.receipt.Outcome, e)
		return
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && k.receipt.Outcome == home.Unclear {
		k.fail(home.Unclear, home.Errorf(home.Timeout, "%s took longer than %v; what was sent may have happened (outcome unknown)", k.d.spec.Name, k.d.deadline()).
			WithHint("read the state before trying again"))
		return
	}
	k.receive()
}

// step executes one step. A step that could not start was not sent; one that
// broke on the way may have been.
func (k *call) step(ctx context.Context, s home.Step, leaves []home.EntityID, wait time.Duration) home.StepResult {
	if err := ctx.Err(); err != nil {
		return home.StepResult{Outcome: home.Failed, Note: "not sent: the time for this call was up", Err: err}
	}
	res, err := guarded(k, "hands", func() (home.StepResult, error) { return k.r.Hands(ctx, s, leaves, wait), nil })
	if err != nil {
		res = home.StepResult{Outcome: home.Unclear, Note: "it may have been sent; read the state", Err: err}
	}
	if res.Outcome == "" {
		res.Outcome = home.Unclear
	}
	if res.Response != nil {
		res.Response = secret.Star(res.Response)
	}
	return res
}

// tell takes a step's result into the receipt.
func (k *call) tell(i, n int, res home.StepResult, unseen map[home.EntityID]bool) {
	r := k.receipt
	var behind []home.Outcome
	for _, leaf := range res.Leaves {
		if unseen[leaf.Entity] {
			behind = append(behind, leaf.Outcome)
			continue
		}
		leaf.Name = home.Clip(Plain(leaf.Name), 120)
		leaf.Before, leaf.After = home.Clip(Plain(leaf.Before), 120), home.Clip(Plain(leaf.After), 120)
		leaf.Note = home.Clip(Plain(leaf.Note), 300)
		r.Targets = append(r.Targets, leaf)
	}
	if w := home.Worst(behind...); len(behind) > 0 && w != home.Done && w != home.Already && w != home.Accepted {
		r.Notes = append(r.Notes, fmt.Sprintf("of %d members that are not shown here the worst is: %s", len(behind), w))
	}
	if len(res.Response) > 0 && !isNull(res.Response) && r.Result == nil {
		r.Result = objectOf(res.Response)
	}
	note := res.Note
	var e *home.Error
	if note == "" && errors.As(res.Err, &e) {
		note = e.Error()
	}
	if note == "" {
		return
	}
	if note = home.Clip(Plain(note), 500); n > 1 {
		note = fmt.Sprintf("step %d: %s", i+1, note)
	}
	r.Notes = append(r.Notes, note)
}

// objectOf wraps an answer that is no object, since the receipt promises one.
func objectOf(raw json.RawMessage) json.RawMessage {
	if raw[0] == '{' {
		return raw
	}
	b, err := marshal(map[string]json.RawMessage{"value": raw})
	if err != nil {
		return nil
	}
	return b
}

// sentNothing gives the error of a call none of whose steps had any effect.
func (k *call) sentNothing(ctx context.Context) *home.Error {
	var first error
	for _, s := range k.rec.Steps {
		if s.Result.Outcome != home.Failed || s.Result.Err == nil {
			return nil
		}
		for _, leaf := range s.Result.Leaves {
			if leaf.Outcome != home.Failed {
				return nil
			}
		}
		if first == nil {
			first = s.Result.Err
		}
	}
	if first == nil {
		return nil
	}
	return k.told(ctx, first)
}

// keepSteps keeps in the record what was refused.
func (k *call) keepSteps(plan Plan, v Verdict) {
	for i, s := range plan.Steps {
		k.rec.Steps = append(k.rec.Steps, home.StepRecord{
			Step: starred(s), Result: home.StepResult{Outcome: home.Refused}, Leaves: v.Leaves[i],
		})
	}
}

// receive writes the receipt as the answer.
func (k *call) receive() {
	b, cut, bad := fitted(*k.receipt, k.d.limit())
	if bad != nil {
		b, _ = marshal(Receipt{Outcome: k.receipt.Outcome, Call: k.rec.ID, DryRun: k.receipt.DryRun,
			Notes: []string{"the answer is too long to show; the journal has it under " + k.rec.ID}})
		cut = true
	}
	k.answer.JSON, k.answer.Truncated, k.answer.Outcome = b, cut, k.receipt.Outcome
}

// starred is a step as it may be shown and kept: secrets in its data starred.
func starred(s home.Step) home.Step {
	if s.Call == nil || len(s.Call.Data) == 0 {
		return s
	}
	c := *s.Call
	c.Data = secret.Star(c.Data)
	s.Call = &c
	return s
}

// plainAll joins notes on one line each.
func plainAll(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		for _, n := range l {
			if n = home.Clip(Plain(n), 500); n != "" {
				out = append(out, n)
			}
		}
	}
	return out
}
