package hass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"hearth/internal/home"
)

// CallService calls a service. It is never re-sent; a link that is not ready
// fails with code offline at once, and nothing went out then. Ready for writing
// is a session whose snapshot is through: what the house does then is seen.
//
// A result gives the context of the call, and the service's response where
// c.Response asked for it. Any error after the command may have left has code
// timeout: the call may have happened. Errors of Home Assistant's own come with
// a *[Failure] inside: not_found for an unknown service, invalid for data it
// does not accept (its words name the field), denied without the right, internal
// when the service itself failed.
func (a *Actor) CallService(ctx context.Context, c home.ServiceCall) (home.Context, json.RawMessage, error) {
	fields := map[string]any{"domain": c.Domain, "service": c.Service}
	if len(c.Data) > 0 {
		fields["service_data"] = c.Data
	}
	if !c.Target.Empty() {
		fields["target"] = c.Target
	}
	if c.Response {
		fields["return_response"] = true
	}
	s, reason := a.c.writable()
	if s == nil {
		return home.Context{}, nil, unsent(c, reason, nil)
	}
	sent, err := s.start(ctx, "call_service", fields, nil)
	if err != nil {
		return home.Context{}, nil, notStarted(c, err)
	}
	a.c.count.calls.Add(1)
	got := s.wait(ctx, sent)
	switch {
	case got.err != nil:
		return home.Context{}, nil, unclear(c, got.err)
	case got.fault != nil:
		return home.Context{}, nil, serviceError(c, failureOf(c.Name(), got.fault))
	}
	var out struct {
		Context  contextRow      `json:"context"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(got.result, &out); err != nil {
		return home.Context{}, nil, unclear(c, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if string(out.Response) == "null" {
		out.Response = nil
	}
	return home.Context(out.Context), out.Response, nil
}

// Alive reports whether the link is known to carry what the house says: it was
// heard within the last 5 s, or answers a ping within one second. A connection
// whose other end went away without a word shows an old state for as long as
// the regular ping takes to notice. Everything the house had said before the
// answer has reached the sink then.
func (a *Actor) Alive(ctx context.Context) bool {
	s, _ := a.c.writable()
	if s == nil {
		return false
	}
	if s.quiet() < trustFor {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, aliveWithin)
	defer cancel()
	sent, err := s.start(ctx, "ping", nil, nil)
	if err != nil {
		return false
	}
	return s.wait(ctx, sent).err == nil
}

type contextRow struct {
	ID     string `json:"id"`
	Parent string `json:"parent_id"`
	User   string `json:"user_id"`
}

// unsent is the error of a call that never left.
func unsent(c home.ServiceCall, reason string, cause error) error {
	return &home.Error{
		Code: home.Offline, Err: cause,
		Msg:  fmt.Sprintf("%s was not sent: %s", c.Name(), reason),
		Hint: "nothing happened; try again when the link is up (hearth_status tells)",
	}
}

// notStarted tells a call that never left from one that may have.
func notStarted(c home.ServiceCall, err error) error {
	var before notSent
	if !errors.As(err, &before) {
		return unclear(c, err)
	}
	var e *home.Error
	switch {
	case errors.As(err, &e) && e.Code == home.Invalid:
		return home.Wrap(home.Invalid, e, c.Name())
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &home.Error{Code: home.Offline, Err: err, Msg: c.Name() + " was not sent: time was up before the line was free", Hint: "nothing happened; try again"}
	}
	return unsent(c, before.Error(), err)
}

// unclear is the error of a call that left and was not answered.
func unclear(c home.ServiceCall, err error) error {
	return &home.Error{
		Code: home.Timeout, Err: err,
		Msg:  fmt.Sprintf("%s was sent, and no answer came: %s", c.Name(), home.Clip(err.Error(), maxWords)),
		Hint: "it may have happened; look at the state before trying again",
	}
}

// serviceError turns Home Assistant's error answer to a call into ours. Its
// words are data: quoted and clipped.
func serviceError(c home.ServiceCall, f *Failure) error {
	e := &home.Error{Err: f}
	switch f.Code {
	case "not_found":
		e.Code, e.Msg, e.Hint = home.NotFound, fmt.Sprintf("no service %q", home.Clip(c.Name(), 120)), "service_list names those there are"
	case "invalid_format", "service_validation_error":
		e.Code, e.Msg = home.Invalid, fmt.Sprintf("Home Assistant does not accept the data of %s: %s", c.Name(), quoted(f.Message))
		e.Hint = "correct what it names; service_list shows the fields"
	case "unauthorized":
		e.Code, e.Msg, e.Hint = home.Denied, fmt.Sprintf("Home Assistant does not allow %s to this user", c.Name()), "give Hearth's user the right, or run hearth setup to make it an administrator"
	case "timeout":
		return unclear(c, f)
	default:
		e.Code, e.Msg = home.Internal, fmt.Sprintf("Home Assistant could not carry out %s: %s", c.Name(), quoted(f.Message))
		e.Hint = "the words are the integration's own; Home Assistant's log has more"
	}
	return e
}
