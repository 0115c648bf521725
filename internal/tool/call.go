package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// recordTime is how long the record of a call may take; it does not depend on
// the caller, who may be gone.
const recordTime = 10 * time.Second

// Answer is what a call gave.
type Answer struct {
	JSON      json.RawMessage // the typed result, cut to the limit; nil on error
	Err       *home.Error     // set when it went wrong: one line for the model
	Outcome   home.Outcome    // "" for reads
	Call      string          // id of the record
	Truncated bool
}

// call is one walk through the door.
type call struct {
	r       *Registry
	c       Caller
	d       *declared
	rec     home.CallRecord
	receipt *Receipt // of a write that got so far
	answer  Answer
}

// Call is the door. It never panics and never returns a Go error: what went wrong is in Answer.Err.
func (r *Registry) Call(ctx context.Context, c Caller, name string, args json.RawMessage) Answer {
	t, ok := r.Find(name)
	if !ok {
		return Answer{Err: oneLine(r.missing(c, name))}
	}
	at := r.now()
	k := &call{r: r, c: c, d: t.d, rec: home.CallRecord{
		ID: home.NewID("call_"), At: at, Via: c.Via, Who: c.Who, Tool: t.d.spec.Name, Class: t.d.spec.Class,
	}}
	k.answer.Call = k.rec.ID
	k.walk(ctx, args)
	k.record(ctx)
	return k.answer
}

// walk goes as far as it gets and leaves the answer.
func (k *call) walk(ctx context.Context, args json.RawMessage) {
	if !k.c.Grant.Allows(k.d.spec.Class) {
		k.keepArgs(args)
		k.fail(home.Refused, needs(k.d.spec.Name, k.d.spec.Class, k.c.Grant))
		return
	}
	canonical, bad := k.d.in.repair(args)
	if bad != nil {
		k.keepArgs(args)
		k.fail(home.Failed, bad)
		return
	}
	k.keepArgs(canonical)
	ctx, cancel := context.WithTimeout(ctx, k.d.deadline())
	defer cancel()
	if k.d.plan != nil {
		k.write(ctx, canonical)
		return
	}
	k.read(ctx, canonical)
}

// needs is the refusal of a caller whose grant does not reach a class.
func needs(what string, c home.Class, g home.Grant) *home.Error {
	return home.Errorf(home.Denied, "%s needs the right to %s, this caller has %s", what, c, g.Upto).
		WithHint("the owner can make a token with that right: hearth token new")
}

// keepArgs keeps the arguments for the record, secrets starred.
func (k *call) keepArgs(args json.RawMessage) {
	if len(args) == 0 || len(args) > maxArgs || !json.Valid(args) {
		return
	}
	k.rec.Args = secret.Star(args)
}

// read runs a reading tool.
func (k *call) read(ctx context.Context, args json.RawMessage) {
	v, err := guarded(k, "run", func() (any, error) { return k.d.run(ctx, k.c, args) })
	if err != nil {
		k.fail("", k.told(ctx, err))
		return
	}
	b, cut, bad := fitted(v, k.d.limit())
	if bad != nil {
		k.fail("", k.told(ctx, bad))
		return
	}
	k.answer.JSON, k.answer.Truncated = b, cut
}

// fail leaves an error as the answer. The outcome counts for writes only.
func (k *call) fail(o home.Outcome, e *home.Error) {
	k.answer.JSON, k.answer.Truncated = nil, false
	k.answer.Err = oneLine(e)
	if k.d.plan != nil {
		k.answer.Outcome = o
	}
}

// told makes what a tool or a step returned into an error for the caller. Only
// a home.Error was written for other eyes; the text of any other cause goes to
// the log.
func (k *call) told(ctx context.Context, err error) *home.Error {
	var e *home.Error
	switch {
	case errors.As(err, &e):
		if e.Code == home.Internal {
			k.r.log().Error("tool failed", home.KeyTool, k.d.spec.Name, home.KeyCall, k.rec.ID, home.KeyError, err)
			if e.Hint == "" {
				e = e.WithHint("see log %s", k.rec.ID)
			}
		}
		return e
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return home.Errorf(home.Timeout, "%s took longer than %v", k.d.spec.Name, k.d.deadline()).
			WithHint("ask for less, or try again")
	case errors.Is(err, context.Canceled):
		return home.Errorf(home.Timeout, "%s was stopped: the caller did not wait", k.d.spec.Name).WithHint("wait longer for the answer, or ask for less")
	}
	k.r.log().Error("tool failed", home.KeyTool, k.d.spec.Name, home.KeyCall, k.rec.ID, home.KeyError, err)
	return k.broke()
}

func (k *call) broke() *home.Error {
	return home.Errorf(home.Internal, "%s failed inside Hearth", k.d.spec.Name).WithHint("see log %s", k.rec.ID)
}

// guarded runs f; a panic becomes an error and a line in the log.
func guarded[T any](k *call, what string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			k.r.log().Error("tool panicked", home.KeyTool, k.d.spec.Name, home.KeyCall, k.rec.ID, home.KeyWhere, what,
				home.KeyPanic, fmt.Sprint(p), home.KeyStack, string(debug.Stack()))
			err = k.broke()
		}
	}()
	return f()
}

// record leaves the one record. A write whose record is not on disk says so.
func (k *call) record(ctx context.Context) {
	k.rec.Took = max(0, k.r.now().Sub(k.rec.At))
	k.rec.Outcome = k.answer.Outcome
	k.rec.Bytes = len(k.answer.JSON)
	if e := k.answer.Err; e != nil {
		k.rec.Code, k.rec.Message = e.Code, e.Msg
	}
	if k.r.Record == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	kept, err := guarded(k, "record", func() (error, error) { return k.r.Record(ctx, k.rec), nil })
	note := "this call could not be written into the journal"
	var known *home.Error
	if errors.As(kept, &known) {
		note = known.Msg // written for the caller: it may still be kept
	}
	if err = errors.Join(kept, err); err == nil {
		return
	}
	k.r.log().Error("call not recorded", home.KeyTool, k.d.spec.Name, home.KeyCall, k.rec.ID, home.KeyError, err)
	if k.d.plan == nil {
		return
	}
	if k.answer.Err != nil {
		e := *k.answer.Err
		e.Msg += "; " + note
		k.answer.Err = oneLine(&e)
		return
	}
	if k.receipt != nil {
		k.receipt.Notes = append(k.receipt.Notes, note)
		k.receive()
	}
}
