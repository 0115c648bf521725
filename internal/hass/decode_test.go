package hass

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hearth/internal/health"
	"hearth/internal/home"
)

func TestStampRoundsAsPythonDoes(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{1796052860.9447236, "2026-11-30T15:34:20.944724Z"},
		{1796052787.8914506, "2026-11-30T15:33:07.891451Z"},
		{1796052786.5717425, "2026-11-30T15:33:06.571743Z"},
		{1796052861, "2026-11-30T15:34:21Z"},
		{1796052861.9999998, "2026-11-30T15:34:22Z"},
		{0.0000005, "1970-01-01T00:00:00Z"}, // half to even
		{0.0000015, "1970-01-01T00:00:00.000002Z"},
		{-1.5, "1969-12-31T23:59:58.5Z"},
	} {
		if got := stamp(c.seconds).Format(time.RFC3339Nano); got != c.want {
			t.Errorf("stamp(%v) = %s, want %s", c.seconds, got, c.want)
		}
	}
}

func TestEntities(t *testing.T) {
	const ctx = `"01M8PHFG0GCZN8KMWJ17HHVT3J"`
	for _, c := range []struct {
		name, event string
		want        string
	}{
		{"full, lu left out", `{"a":{"light.a":{"s":"on","a":{"b":1},"c":` + ctx + `,"lc":10.5}}}`,
			`light.a full value=on set={"b":1} changed=10.5 updated=10.5 ctx={01M8PHFG0GCZN8KMWJ17HHVT3J  } keep=0`},
		{"full, whole context", `{"a":{"light.a":{"s":"","a":{},"c":{"id":"i","parent_id":"p","user_id":null},"lc":1,"lu":2}}}`,
			`light.a full value= set={} changed=1 updated=2 ctx={i p } keep=0`},
		{"difference of the value", `{"c":{"light.a":{"+":{"s":"off","lc":3,"c":"i2"}}}}`,
			`light.a value=off changed=3 updated=3 ctx={i2  } keep=6`},
		{"difference of an attribute", `{"c":{"light.a":{"+":{"lu":4,"a":{"x":"y"},"c":{"user_id":null,"id":"i3"}},"-":{"a":["gone"]}}}}`,
			`light.a set={"x":"y"} unset=[gone] updated=4 ctx={i3  } keep=2`},
		{"only removed attributes", `{"c":{"light.a":{"-":{"a":["m","n"]}}}}`, `light.a unset=[m n]`},
		{"nothing differs", `{"c":{"light.a":{"+":{}}}}`, `light.a`},
		{"removed", `{"r":["light.a","light.b"]}`, `light.a removed; light.b removed`},
		{"unicode and escapes", `{"a":{"sensor.k\u00fcche":{"s":"a\"b\u00e9","a":{"friendly_name":"Küche"},"c":"i","lc":1}}}`,
			`sensor.küche full value=a"bé set={"friendly_name":"Küche"} changed=1 updated=1 ctx={i  } keep=0`},
		{"unknown members", `{"z":[{}],"c":{"light.a":{"?":1,"+":{"lr":9,"s":"x"}}}}`, `light.a value=x`},
	} {
		d := newDecoder()
		if !d.entities([]byte(c.event)) {
			t.Errorf("%s: refused", c.name)
			continue
		}
		if got := show(d.take()); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestBrokenEntitiesLeaveNothing(t *testing.T) {
	d := newDecoder()
	for _, event := range []string{
		``, `{`, `[]`, `{"c":{"light.a":{"+":{"s":"on"}},"light.b":{"+":{"s":1}}}}`, `{"c":[]}`, `{"a":{"light.a":{"a":{}}}}`,
		`{"a":{"light.a":{"s":"on","a":[]}}}`, `{"c":{"light.a":{"+":{"lc":"now"}}}}`, `{"r":{}}`, `{"r":["x"]} {}`, `{"c":{"light.a":{"+":{"s":"on",}}}}`,
	} {
		if d.entities([]byte(event)) {
			t.Errorf("accepted %s", event)
		}
		if p := d.take(); p != nil {
			t.Errorf("%s left %+v", event, p)
		}
	}
}

func TestWhatIsHandedOutIsNotTouchedAgain(t *testing.T) {
	d := newDecoder()
	frame := []byte(`{"c":{"light.a":{"+":{"s":"red","a":{"x":"one"},"c":"ctx-one"}}}}`)
	d.entities(frame)
	first := d.take()
	copy(frame, strings.ReplaceAll(string(frame), "one", "two"))
	for range 1000 {
		d.entities([]byte(`{"c":{"light.b":{"+":{"s":"blue","a":{"x":"two"},"c":"ctx-two"}}}}`))
	}
	if got := show(first); got != `light.a value=red set={"x":"one"} ctx={ctx-one  } keep=6` {
		t.Errorf("changed to %s", got)
	}
}

// show writes patches in short.
func show(ps []home.Patch) string {
	var out []string
	for _, p := range ps {
		var b strings.Builder
		b.WriteString(string(p.ID))
		if p.Full {
			b.WriteString(" full")
		}
		if p.Removed {
			b.WriteString(" removed")
		}
		if p.Value != nil {
			b.WriteString(" value=" + *p.Value)
		}
		if p.Set != nil {
			b.WriteString(" set=" + string(p.Set))
		}
		if p.Unset != nil {
			fmt.Fprintf(&b, " unset=%v", p.Unset)
		}
		if !p.Changed.IsZero() {
			fmt.Fprintf(&b, " changed=%v", float64(p.Changed.UnixMicro())/1e6)
		}
		if !p.Updated.IsZero() {
			fmt.Fprintf(&b, " updated=%v", float64(p.Updated.UnixMicro())/1e6)
		}
		if p.Context != nil {
			fmt.Fprintf(&b, " ctx=%v keep=%d", *p.Context, p.KeepContext)
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "; ")
}

// FuzzScanner holds the scanner to what encoding/json accepts.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `""`, `null`, `-0.5e+10`, `{"a":[1,2,{"b":"c\u00e9\\"}],"d":true,"e":false}`, `[1,]`, `{"a"}`, `01`, `"\x"`, "\"\x01\"", ` { "a" : [ ] } `, `1.`, `tru`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) >= maxDepth {
			return
		}
		s := scanner{b: b}
		s.skip()
		if got, want := s.end(), json.Valid(b); got != want {
			t.Errorf("accepted %v, encoding/json %v: %q", got, want, b)
		}
	})
}

// FuzzEntities holds the decoder of states to one written with encoding/json.
func FuzzEntities(f *testing.F) {
	for _, s := range []string{
		`{"a":{"light.a":{"s":"on","a":{"b":1},"c":"i","lc":10.5}}}`,
		`{"c":{"light.a":{"+":{"s":"off","lc":3,"c":{"user_id":null,"id":"i"}},"-":{"a":["x"]}}},"r":["b.c"]}`,
		`{"a":{"a.b":{"s":"\ud800","lc":1e300,"lu":-0}},"q":[]}`, `{"c":{"a.b":{"+":{"c":null}}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !utf8.Valid(b) || duplicates(b) || bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) >= maxDepth {
			return // the link replaces broken UTF-8 before; who wins among equal keys is not promised
		}
		d := newDecoder()
		ok := d.entities(b)
		want, err := slowEntities(b)
		if ok != (err == nil) {
			t.Fatalf("accepted %v, the slow decoder says %v: %q", ok, err, b)
		}
		got := d.take()
		if g, w := sorted(got), sorted(want); g != w {
			t.Errorf("%q\n got %s\nwant %s", b, g, w)
		}
	})
}

// FuzzFrame holds the reading of whole frames: no panic, and every message of
// a valid frame is handled or counted, once.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"type":"pong"}`, `[{"id":1,"type":"event","event":{}},{"type":"result","success":true,"result":null,"id":2}]`,
		`[{"type":5},{"id":1,"type":"pong"}]`, `[`, `[{"id":1,"type":"pong"},`, `{"id":null,"type":"result","success":false,"error":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		good, bad := 0, 0
		eachMessage(b, func(m message) {
			good++
			if m.event != nil && !json.Valid(m.event) || m.result != nil && !json.Valid(m.result) {
				t.Errorf("a part is not JSON: %q", b)
			}
		}, func([]byte, string) { bad++ })
		var list []json.RawMessage
		if json.Unmarshal(b, &list) == nil && list != nil && bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) < maxDepth && good+bad != len(list) {
			t.Errorf("%d messages, %d handled and %d bad: %q", len(list), good, bad, b)
		}
		if !json.Valid(b) && bad == 0 {
			t.Errorf("a broken frame went unseen: %q", b)
		}
	})
}

func sorted(ps []home.Patch) string {
	var out []string
	for _, p := range ps {
		out = append(out, show([]home.Patch{p})+fmt.Sprint(p.Changed, p.Updated, p.Set == nil, p.Unset == nil))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// duplicates reports whether an object of b has a key twice.
func duplicates(b []byte) bool {
	d := json.NewDecoder(bytes.NewReader(b))
	type level struct {
		keys   map[string]bool
		object bool
		key    bool
	}
	var stack []level
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			return false
		}
		top := len(stack) - 1
		if s, ok := tok.(string); ok && top >= 0 && stack[top].object && stack[top].key {
			if stack[top].keys[s] {
				return true
			}
			stack[top].keys[s] = true
			stack[top].key = false
			continue
		}
		if delim, ok := tok.(json.Delim); ok {
			switch delim {
			case '{', '[':
				stack = append(stack, level{map[string]bool{}, delim == '{', true})
				continue
			default:
				stack = stack[:top]
				top--
			}
		}
		if top >= 0 {
			stack[top].key = true
		}
	}
}

var errShape = errors.New("not that shape")

// slowEntities is the same decoder written the plain way.
func slowEntities(b []byte) (out []home.Patch, err error) {
	event, err := object(b)
	if err != nil {
		return nil, err
	}
	for key, raw := range event {
		switch key {
		case "a", "c":
			of, err := object(raw)
			if err != nil {
				return nil, err
			}
			for id, raw := range of {
				p := home.Patch{ID: home.EntityID(id)}
				if key == "a" {
					err = slowFull(raw, &p)
				} else {
					err = slowDifference(raw, &p)
				}
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
		case "r":
			ids, err := stringList(raw)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				out = append(out, home.Patch{ID: home.EntityID(id), Removed: true})
			}
		}
	}
	return out, nil
}

func slowFull(raw json.RawMessage, p *home.Patch) error {
	p.Full = true
	if err := slowFields(raw, p); err != nil {
		return err
	}
	p.KeepContext = 0
	if p.Context == nil {
		p.Context = &home.Context{}
	}
	if p.Updated.IsZero() {
		p.Updated = p.Changed
	}
	if p.Set == nil {
		p.Set = json.RawMessage("{}")
	}
	if p.Value == nil {
		return errShape
	}
	return nil
}

func slowDifference(raw json.RawMessage, p *home.Patch) error {
	parts, err := object(raw)
	if err != nil {
		return err
	}
	if plus, ok := parts["+"]; ok {
		if err := slowFields(plus, p); err != nil {
			return err
		}
		if p.Updated.IsZero() {
			p.Updated = p.Changed
		}
	}
	if minus, ok := parts["-"]; ok {
		of, err := object(minus)
		if err != nil {
			return err
		}
		if a, ok := of["a"]; ok {
			p.Unset, err = stringList(a)
			if len(p.Unset) == 0 {
				p.Unset = nil
			}
			return err
		}
	}
	return nil
}

func slowFields(raw json.RawMessage, p *home.Patch) error {
	of, err := object(raw)
	if err != nil {
		return err
	}
	for key, raw := range of {
		switch key {
		case "s":
			v, err := text(raw)
			if err != nil {
				return err
			}
			p.Value = &v
		case "a":
			if _, err := object(raw); err != nil {
				return err
			}
			p.Set = raw
		case "lc", "lu":
			var f float64
			if raw[0] == 'n' || json.Unmarshal(raw, &f) != nil {
				return errShape
			}
			if key == "lc" {
				p.Changed = stamp(f)
			} else {
				p.Updated = stamp(f)
			}
		case "c":
			if err := slowContext(raw, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func slowContext(raw json.RawMessage, p *home.Patch) error {
	p.KeepContext, p.Context = home.ContextID|home.ContextParent|home.ContextUser, &home.Context{}
	if raw[0] == '"' {
		id, err := text(raw)
		p.Context.ID, p.KeepContext = id, p.KeepContext&^home.ContextID
		return err
	}
	of, err := object(raw)
	if err != nil {
		return err
	}
	for key, part := range map[string]struct {
		bit  home.ContextPart
		into *string
	}{"id": {home.ContextID, &p.Context.ID}, "parent_id": {home.ContextParent, &p.Context.Parent}, "user_id": {home.ContextUser, &p.Context.User}} {
		raw, ok := of[key]
		if !ok {
			continue
		}
		p.KeepContext &^= part.bit
		if string(raw) == "null" {
			continue
		}
		if *part.into, err = text(raw); err != nil {
			return err
		}
	}
	return nil
}

func object(raw []byte) (map[string]json.RawMessage, error) {
	if raw = bytes.Trim(raw, " \t\r\n"); len(raw) == 0 || raw[0] != '{' {
		return nil, errShape
	}
	var of map[string]json.RawMessage
	return of, json.Unmarshal(raw, &of)
}

func text(raw []byte) (string, error) {
	if raw[0] != '"' {
		return "", errShape
	}
	var s string
	return s, json.Unmarshal(raw, &s)
}

func stringList(raw []byte) ([]string, error) {
	if raw[0] != '[' {
		return nil, errShape
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	var out []string
	for _, p := range parts {
		s, err := text(p)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// coalesced is a frame of n differences as Home Assistant sends them.
func coalesced(n int, id int64) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		whole, part := math.Modf(1796052860.1 + float64(i)/1000)
		fmt.Fprintf(&b, `{"type":"event","event":{"c":{"sensor.power_%d":{"+":{"s":"%d.%d","lc":%d.%07d,"c":"01M8PHFG0GCZN8KMWJ17HH%04d"}}}},"id":%d}`, i%500, i, i%10, int64(whole), int64(part*1e7), i%10000, id)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{1, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			frame := coalesced(n, 7)
			n0 := newCounters(&health.Registry{})
			s := &session{c: &Client{count: n0}, subs: map[int64]subscription{7: {states: true}}, flow: flow{sink: func(home.Report) {}, decoder: newDecoder(), count: n0}}
			s.keeper = newKeeper(s)
			b.SetBytes(int64(len(frame)))
			b.ReportAllocs()
			for b.Loop() {
				s.take(frame, time.Unix(0, 0))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
		})
	}
}

func BenchmarkSnapshot40000(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString(`{"a":{`)
	for i := range 40000 {
		if i > 0 {
			buf.WriteByte(',')
		}
		fmt.Fprintf(&buf, `"sensor.s%d":{"s":"%d.5","a":{"state_class":"measurement","unit_of_measurement":"W","device_class":"power","friendly_name":"Sensor %d with a long name","supported_features":0,"extra":[1,2,3,4,5,6,7,8,9]},"c":"01M8PHFG0GCZN8KMWJ17H%05d","lc":1796052860.9447236}`, i, i, i, i)
	}
	buf.WriteString(`}}`)
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder()
		if !d.entities(buf.Bytes()) || len(d.take()) != 40000 {
			b.Fatal("broken")
		}
	}
}
