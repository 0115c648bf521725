package home

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Code says what kind of fault an Error is. One table each maps codes to HTTP
// status, exit code and MCP.
type Code string

// The codes. There are no others.
const (
	Invalid   Code = "invalid"   // the request is malformed: correct it
	NotFound  Code = "not_found" // no such thing within the caller's sight
	Ambiguous Code = "ambiguous" // several things fit: choose one
	Denied    Code = "denied"    // the caller may not
	Offline   Code = "offline"   // the other side cannot be reached now
	Conflict  Code = "conflict"  // somebody else changed it meanwhile
	Timeout   Code = "timeout"   // no answer in time; a write may have happened
	Internal  Code = "internal"  // our fault: see the log
)

// HTTP is the status code that fits c.
func (c Code) HTTP() int {
	switch c {
	case Invalid:
		return 400
	case NotFound:
		return 404
	case Ambiguous, Conflict:
		return 409
	case Denied:
		return 403
	case Offline:
		return 503
	case Timeout:
		return 504
	}
	return 500
}

// Exit is the exit status of a command that ended with c.
func (c Code) Exit() int {
	switch c {
	case Invalid:
		return 2
	case NotFound:
		return 3
	case Ambiguous:
		return 4
	case Denied:
		return 5
	case Offline:
		return 6
	case Conflict:
		return 7
	case Timeout:
		return 8
	}
	return 1
}

// Error is the one error type that crosses rooms. Msg is one line, lower case,
// about what is wrong; Hint says what to do next; Err is the cause for the log.
type Error struct {
	Code Code
	Msg  string
	Hint string
	Err  error
}

// Error gives "code: message. Hint", the line a model sees.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Msg)
	if e.Hint != "" {
		if !strings.HasSuffix(e.Msg, "?") && !strings.HasSuffix(e.Msg, ".") {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
		b.WriteString(Sentence(e.Hint))
	}
	return b.String()
}

// Sentence starts a hint with a capital, unless it starts with a name of ours
// or is the fixed pointer to a line of the log.
func Sentence(hint string) string {
	first, _, _ := strings.Cut(hint, " ")
	if hint == "" || hint[0] < 'a' || hint[0] > 'z' || first == "hearth" || strings.HasPrefix(hint, "see log ") || strings.ContainsAny(first, "_.:/={(") {
		return hint
	}
	return string(hint[0]-'a'+'A') + hint[1:]
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns a copy of e with the hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = format
	if len(args) > 0 {
		c.Hint = fmt.Sprintf(format, args...)
	}
	return &c
}

// Errorf makes an Error. A %w verb becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// Wrap says what was being tried when err came. An *Error inside keeps its own
// code and hint; anything else gets code. A nil err stays nil.
func Wrap(code Code, err error, trying string) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return &Error{Code: e.Code, Msg: trying + ": " + e.Msg, Hint: e.Hint, Err: err}
	}
	return &Error{Code: code, Msg: trying + ": " + err.Error(), Err: err}
}

// CodeOf is the code of err: its own, Timeout for an expired context, else
// Internal; "" for nil.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}
