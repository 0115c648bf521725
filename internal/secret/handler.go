package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Handler is a slog.Handler that stars secrets before the next one sees them.
type Handler struct{ next slog.Handler }

// NewHandler wraps next: attributes under sensitive keys become stars, Values
// print as stars, and bearer-like text is starred in messages, strings, errors
// and in whatever else can be shown as JSON.
func NewHandler(next slog.Handler) slog.Handler { return &Handler{next: next} }

// Enabled asks the next handler.
func (h *Handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle stars the record and passes it on.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	n := slog.NewRecord(r.Time, r.Level, Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		n.AddAttrs(attr(a))
		return true
	})
	return h.next.Handle(ctx, n)
}

// WithAttrs stars the attributes once, here.
func (h *Handler) WithAttrs(as []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = attr(a)
	}
	return &Handler{next: h.next.WithAttrs(out)}
}

// WithGroup passes the group on.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name)}
}

func attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		as := v.Group()
		out := make([]slog.Attr, len(as))
		for i, g := range as {
			out[i] = attr(g)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(out...)}
	}
	if Sensitive(a.Key) && !plain(v) {
		return slog.String(a.Key, Stars)
	}
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, Text(v.String()))
	case slog.KindAny:
		return slog.Attr{Key: a.Key, Value: anyValue(v.Any())}
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// plain reports whether the value says nothing worth hiding: a truth, a time
// or nothing at all. A count may be a PIN.
func plain(v slog.Value) bool {
	switch v.Kind() {
	case slog.KindBool, slog.KindTime, slog.KindDuration:
		return true
	case slog.KindString:
		return v.String() == ""
	case slog.KindAny:
		return v.Any() == nil
	}
	return false
}

func anyValue(x any) slog.Value {
	switch t := x.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(Text(fmt.Sprint(t))) // Sprint survives a nil inside
	case json.RawMessage:
		return slog.AnyValue(Star(t))
	case []byte:
		return slog.StringValue(Text(string(t)))
	case fmt.Stringer:
		return slog.StringValue(Text(fmt.Sprint(t)))
	}
	b, err := json.Marshal(x)
	if err != nil {
		return slog.StringValue(Text(fmt.Sprintf("%+v", x)))
	}
	return slog.AnyValue(Star(b))
}
