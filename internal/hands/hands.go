package hands

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"hearth/internal/hass"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

// Do executes one step and waits at most wait for the house to show it. leaves
// are the entities that the judge found to be touched.
type Do = func(ctx context.Context, s home.Step, leaves []home.EntityID, wait time.Duration) home.StepResult

// Option changes how the hands work.
type Option func(*hands)

// User tells the hands who we are in Home Assistant: a state that carries our
// user proves after a timeout that the change was ours.
func User(id func() string) Option { return func(h *hands) { h.user = id } }

// New makes the hands of the door.
func New(actor *hass.Actor, house *mirror.House, log *slog.Logger, opts ...Option) Do {
	h := &hands{house: house, log: log}
	if actor != nil {
		h.send, h.alive = actor.CallService, actor.Alive
	}
	for _, o := range opts {
		o(h)
	}
	return h.do
}

type hands struct {
	send  func(context.Context, home.ServiceCall) (home.Context, json.RawMessage, error)
	alive func(context.Context) bool // whether what the mirror shows is still what the house says
	house *mirror.House
	log   *slog.Logger
	user  func() string
}

// answer says how the call itself ended.
type answer uint8

const (
	_       answer = iota
	agreed         // Home Assistant carried it out
	refused        // Home Assistant answered with an error, and nothing was reached
	partly         // it answered with an error about one of several, and may have reached the others
	silent         // sent, and no answer came
	unsent         // never left
)

func (h *hands) do(ctx context.Context, s home.Step, leaves []home.EntityID, wait time.Duration) home.StepResult {
	if s.Kind != home.StepService || s.Call == nil || h.send == nil {
		return home.StepResult{Outcome: home.Failed, Err: home.Errorf(home.Internal, "nobody can carry out a step of kind %q", s.Kind)}
	}
	w := watch(h.house.View(), s, leaves)
	if !s.Call.Response && w.satisfied() {
		sure := h.alive(ctx)
		if w = watch(h.house.View(), s, leaves); sure && w.satisfied() {
			return w.result(agreed, w.before, h.owner(home.Context{}), true)
		}
	}
	ours, response, err := h.send(ctx, *s.Call)
	how := ended(err)
	if how == refused && len(w.leaves) > 1 && halfway(err) {
		how = partly
	}
	h.log.Debug("service called", home.KeyService, s.Call.Name(), home.KeyContext, ours.ID, home.KeyError, err)
	view := h.house.View()
	if how == agreed || how == silent || how == partly {
		view = h.wait(ctx, w, wait)
	}
	res := w.result(how, view, h.owner(ours), false)
	res.Context, res.Response = ours, response
	return concluded(res, how, err)
}

// ended sorts the error of a call.
func ended(err error) answer {
	switch home.CodeOf(err) {
	case "":
		return agreed
	case home.Offline:
		return unsent
	case home.Timeout:
		return silent
	}
	var e *home.Error
	if !errors.As(err, &e) {
		return silent // not an answer of Home Assistant's: it may have left
	}
	return refused
}

// halfway reports whether an error may be about one entity while the service
// went on with the others: Home Assistant calls all and then reports the first
// error. What it did not even begin says so by its code.
func halfway(err error) bool {
	var f *hass.Failure
	if errors.As(err, &f) && f.Code == "invalid_format" {
		return false
	}
	switch home.CodeOf(err) {
	case home.NotFound, home.Denied:
		return false
	}
	return true
}

// concluded adds the error to what was seen.
func concluded(res home.StepResult, how answer, err error) home.StepResult {
	switch how {
	case unsent, refused, partly:
		res.Err = err
	case silent:
		if res.Outcome == home.Done || res.Outcome == home.Already {
			res.Note = "Home Assistant did not answer, but the house shows it"
			break
		}
		res.Err = err
		res.Note = "Home Assistant did not answer: it may have happened; read the state before trying again"
	}
	return res
}

// wait looks at the house until every leaf has settled or the time is up. It
// gives the last view.
func (h *hands) wait(ctx context.Context, w *watched, wait time.Duration) *mirror.View {
	if wait <= 0 || ctx.Err() != nil || w.settled(h.house.View()) {
		return h.house.View()
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	h.house.Await(ctx, w.settled)
	return h.house.View()
}

// owner is whose context proves a change to be ours.
type owner struct {
	call home.Context // the call's own, empty when no answer came
	user string
}

func (h *hands) owner(c home.Context) owner {
	o := owner{call: c}
	if h.user != nil {
		o.user = h.user()
	}
	return o
}

// did reports whether a state was made by our call.
func (o owner) did(s *home.State) bool {
	if o.call.ID != "" {
		return s.Context.ID == o.call.ID || s.Context.Parent == o.call.ID
	}
	return o.user != "" && s.Context.User == o.user
}

// somebody reports whether a state was made by a person or automation that is
// not us. A device's own report has neither user nor parent and tells nothing.
func (o owner) somebody(s *home.State) bool {
	if o.call.ID == "" || o.did(s) || s.Context.User == "" && s.Context.Parent == "" {
		return false
	}
	return true
}

// entityGone is what is said of an entity without a state.
const entityGone = "it has no state: disabled, or not there any more"
