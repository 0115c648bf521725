package simhome

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strconv"
	"time"
)

// cause is Home Assistant's context: what happened, what caused it, who did it.
type cause struct{ ID, Parent, User string }

func (c cause) appendJSON(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, c.ID...)
	b = append(b, `","parent_id":`...)
	b = appendNullable(b, c.Parent)
	b = append(b, `,"user_id":`...)
	b = appendNullable(b, c.User)
	return append(b, '}')
}

// MarshalJSON renders the context as Home Assistant does.
func (c cause) MarshalJSON() ([]byte, error) { return c.appendJSON(nil), nil }

// state is what an entity shows at one moment. It is never changed once set.
type state struct {
	id       string
	value    string
	attrs    map[string]any
	raw      []byte // attrs as JSON, rendered when first needed
	changed  time.Time
	updated  time.Time
	reported time.Time
	ctx      cause
}

func (s *state) attrsJSON() []byte {
	if s.raw == nil {
		s.raw = mustJSON(s.attrs)
	}
	return s.raw
}

// appendFull renders the state as get_states and state_changed carry it.
func (s *state) appendFull(b []byte) []byte {
	b = append(b, `{"entity_id":`...)
	b = appendString(b, s.id)
	b = append(b, `,"state":`...)
	b = appendString(b, s.value)
	b = append(b, `,"attributes":`...)
	b = append(b, s.attrsJSON()...)
	b = append(b, `,"last_changed":"`...)
	b = appendISO(b, s.changed)
	b = append(b, `","last_reported":"`...)
	b = appendISO(b, s.reported)
	b = append(b, `","last_updated":"`...)
	b = appendISO(b, s.updated)
	b = append(b, `","context":`...)
	b = s.ctx.appendJSON(b)
	return append(b, '}')
}

// appendCompressed renders the body of the short form of subscribe_entities:
// lu stands only where it differs from lc, c is the bare id without a parent
// and a user.
func (s *state) appendCompressed(b []byte) []byte {
	b = append(b, `{"s":`...)
	b = appendString(b, s.value)
	b = append(b, `,"a":`...)
	b = append(b, s.attrsJSON()...)
	b = append(b, `,"c":`...)
	if s.ctx.Parent == "" && s.ctx.User == "" {
		b = appendString(b, s.ctx.ID)
	} else {
		b = s.ctx.appendJSON(b)
	}
	b = append(b, `,"lc":`...)
	b = appendUnix(b, s.changed)
	if !s.updated.Equal(s.changed) {
		b = append(b, `,"lu":`...)
		b = appendUnix(b, s.updated)
	}
	return append(b, '}')
}

// appendDiff renders what subscribe_entities says of a change from old to s:
// {"c":{id:{"+":{…},"-":{…}}}}; a and r where either is missing.
func appendDiff(b []byte, old, s *state) []byte {
	switch {
	case s == nil:
		b = append(b, `{"r":[`...)
		return append(appendString(b, old.id), `]}`...)
	case old == nil:
		b = append(b, `{"a":{`...)
		b = append(appendString(b, s.id), ':')
		return append(s.appendCompressed(b), `}}`...)
	}
	b = append(b, `{"c":{`...)
	b = appendString(b, s.id)
	b = append(b, `:{"+":{`...)
	start := len(b)
	sep := func() {
		if len(b) > start {
			b = append(b, ',')
		}
	}
	if old.value != s.value {
		b = append(b, `"s":`...)
		b = appendString(b, s.value)
	}
	if !old.changed.Equal(s.changed) {
		sep()
		b = appendUnix(append(b, `"lc":`...), s.changed)
	} else if !old.updated.Equal(s.updated) {
		sep()
		b = appendUnix(append(b, `"lu":`...), s.updated)
	}
	if old.ctx != s.ctx {
		sep()
		b = appendCauseDiff(append(b, `"c":`...), old.ctx, s.ctx)
	}
	added, removed := diffAttrs(old.attrs, s.attrs)
	if len(added) > 0 {
		sep()
		b = append(append(b, `"a":`...), mustJSON(added)...)
	}
	b = append(b, '}')
	if len(removed) > 0 {
		b = append(b, `,"-":{"a":`...)
		b = append(append(b, mustJSON(removed)...), '}')
	}
	return append(b, `}}}`...)
}

// appendCauseDiff says only the parts of the context that differ; a lone id is a bare string.
func appendCauseDiff(b []byte, old, now cause) []byte {
	if old.Parent == now.Parent && old.User == now.User {
		return appendString(b, now.ID)
	}
	b = append(b, '{')
	start := len(b)
	part := func(key string, differs bool, value string) {
		if !differs {
			return
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), key...), `":`...)
		b = appendNullable(b, value)
	}
	part("parent_id", old.Parent != now.Parent, now.Parent)
	part("user_id", old.User != now.User, now.User)
	part("id", old.ID != now.ID, now.ID)
	return append(b, '}')
}

func diffAttrs(old, now map[string]any) (added map[string]any, removed []string) {
	if reflect.ValueOf(old).Pointer() == reflect.ValueOf(now).Pointer() {
		return nil, nil
	}
	for k, v := range now {
		if o, ok := old[k]; !ok || !same(o, v) {
			if added == nil {
				added = map[string]any{}
			}
			added[k] = v
		}
	}
	for k := range old {
		if _, ok := now[k]; !ok {
			removed = append(removed, k)
		}
	}
	return added, removed
}

func sameAttrs(a, b map[string]any) bool { return maps.EqualFunc(a, b, same) }

// same compares values as JSON would: all numbers are floats.
func same(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	return reflect.DeepEqual(a, b)
}

// number is v as a float where it is a number.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return append(b, mustJSON(s)...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendNullable(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendUnix writes t as seconds since 1970 the way Python prints a float.
func appendUnix(b []byte, t time.Time) []byte {
	return strconv.AppendFloat(b, unix(t), 'f', -1, 64)
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// appendISO writes t the way Python's isoformat does: microseconds, left out when zero.
func appendISO(b []byte, t time.Time) []byte {
	sec, frac := math.Modf(unix(t))
	t = time.Unix(int64(sec), int64(math.RoundToEven(frac*1e6))*1000).UTC() // as Python makes a datetime of a float
	if t.Nanosecond() == 0 {
		return t.AppendFormat(b, "2006-01-02T15:04:05+00:00")
	}
	return t.AppendFormat(b, "2006-01-02T15:04:05.000000+00:00")
}

func iso(t time.Time) string { return string(appendISO(nil, t)) }

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("simhome: " + err.Error()) // only our own values come here
	}
	return b
}
