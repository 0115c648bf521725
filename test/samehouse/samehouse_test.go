package samehouse

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"hearth/internal/simhome"
)

func TestSimulatedHouse(t *testing.T) {
	t.Parallel()
	contract(t, simulated(t, simhome.Options{Seed: 7, Plain: true}))
}

func TestRealHouse(t *testing.T) {
	t.Parallel()
	contract(t, real(t))
}

// contract is everything a house has to keep.
func contract(t *testing.T, h *home) {
	t.Run("furniture", func(t *testing.T) { furniture(t, h) })
	t.Run("auth", func(t *testing.T) { auth(t, h) })
	t.Run("rest", func(t *testing.T) { rest(t, h) })
	t.Run("calls", func(t *testing.T) { calls(t, h) })
	t.Run("refusals", func(t *testing.T) { refuses(t, h) })
	t.Run("causes", func(t *testing.T) { causes(t, h) })
	t.Run("past", func(t *testing.T) { past(t, h) })
	for _, k := range talks() {
		t.Run(k.name, func(t *testing.T) { converse(t, h, k.steps) })
	}
	t.Run("rights", func(t *testing.T) { rights(t, h) })
	t.Run("restart", func(t *testing.T) { restart(t, h) })
}

// converse says the steps one after the other on a connection of its own.
func converse(t *testing.T, h *home, steps []step) {
	c := open(t, h, h.hearth)
	known := vars{}
	for _, s := range steps {
		send := fill(parse(t, s.send), known).(map[string]any)
		got := c.send(s.kind, send)
		delete(got, "id")
		delete(got, "type")
		sortLists(got)
		if err := match(parse(t, s.want), got, s.kind, known); err != nil {
			t.Errorf("%s %s: %v", s.kind, s.send, err)
		}
		for _, e := range s.events {
			want := parse(t, e)
			if _, err := c.event(func(m map[string]any) bool { return match(want, m, "", known) == nil }); err != nil {
				t.Errorf("%s %s: no event %s: %v", s.kind, s.send, e, err)
			}
		}
	}
}

// sortLists puts the unordered lists of answers into order.
func sortLists(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for k, x := range m {
		if l, ok := x.([]any); ok && (strings.HasPrefix(k, "referenced_") || k == "labels") {
			slices.SortFunc(l, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		sortLists(x)
	}
}

// auth is the handshake with its refusals, and how the socket ends.
func auth(t *testing.T, h *home) {
	for _, bad := range []struct{ say, want string }{
		{`{"type":"auth","access_token":"wrong"}`, `{"type":"auth_invalid","message":"Invalid access token or password"}`},
		{`{"type":"ping","id":1}`, `{"type":"auth_invalid","message":"<~Auth message incorrectly formatted>"}`},
	} {
		c, first := dial(t, h)
		if err := match(parse(t, `{"type":"auth_required","ha_version":"2026.11.0"}`), any(first), "", nil); err != nil {
			t.Error(err)
		}
		c.raw(parse(t, bad.say))
		if err := match(parse(t, bad.want), any(c.next()), "", vars{}); err != nil {
			t.Error(err)
		}
		if _, err := c.wait(patience); !errors.Is(err, io.EOF) {
			t.Errorf("after a refusal: %v, want the end", err)
		}
	}
	c := open(t, h, h.hearth)
	c.raw(map[string]any{"id": 5, "type": "ping"})
	if err := match(parse(t, `{"id":5,"type":"pong"}`), any(c.next()), "", nil); err != nil {
		t.Error(err)
	}
	for _, s := range []struct {
		say  any
		want string
	}{
		{map[string]any{"id": 5, "type": "ping"}, `{"id":5,"type":"result","success":false,"error":{"code":"id_reuse","message":"Identifier values have to increase."}}`},
		{map[string]any{"type": "ping"}, `{"id":null,"type":"result","success":false,"error":{"code":"invalid_format","message":"Message incorrectly formatted."}}`},
		{[]any{map[string]any{"id": 6, "type": "ping"}, map[string]any{"id": 7, "type": "ping"}}, `{"id":6,"type":"pong"}`},
	} {
		c.raw(s.say)
		if err := match(parse(t, s.want), any(c.next()), "", nil); err != nil {
			t.Errorf("%v: %v", s.say, err)
		}
	}
}

// follow opens a connection that mirrors the house and hears every call.
func follow(t *testing.T, h *home) *client {
	c := open(t, h, h.hearth)
	c.send("supported_features", map[string]any{"features": map[string]any{"coalesce_messages": 1}})
	if m := c.send("subscribe_events", map[string]any{"event_type": "call_service"}); m["success"] != true {
		t.Fatal(m)
	}
	c.send("subscribe_entities", nil)
	if err := c.see("sun.sun", any(map[string]any{"...": 0.0}), nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// calls does every deed and looks what the house shows, then compares the
// mirror built from differences with the states as they are.
func calls(t *testing.T, h *home) {
	c := follow(t, h)
	for _, d := range deeds() {
		call(t, c, d)
	}
	compareMirror(t, c)
}

func call(t *testing.T, c *client, d deed) {
	t.Helper()
	domain, name, _ := strings.Cut(d.name, ".")
	fields := map[string]any{"domain": domain, "service": name}
	if d.target != "" {
		fields["target"] = parse(t, d.target)
	}
	if d.data != "" {
		fields["service_data"] = parse(t, d.data)
	}
	want := `{"id":"<number>","type":"result","success":true,"result":{"context":{"id":"<$ctx>","parent_id":null,"user_id":"<hex32>"}}}`
	switch {
	case d.answer == "fails":
		want = `{"id":"<number>","type":"result","success":false,"error":{"code":"service_validation_error","...":0}}`
	case d.answer != "":
		fields["return_response"] = true
		want = `{"id":"<number>","type":"result","success":true,"result":{"context":{"id":"<$ctx>","parent_id":null,"user_id":"<hex32>"},"response":` + d.answer + `}}`
	}
	known := vars{}
	if err := match(parse(t, want), any(c.send("call_service", fields)), d.name, known); err != nil {
		t.Errorf("%s %s %s: %v", d.name, d.target, d.data, err)
		return
	}
	if _, err := c.event(func(e map[string]any) bool {
		data, _ := e["data"].(map[string]any)
		return e["event_type"] == "call_service" && data["domain"] == domain && data["service"] == name
	}); err != nil {
		t.Errorf("%s: no call_service event: %v", d.name, err)
	}
	if d.entity == "" {
		return
	}
	if err := c.see(d.entity, parse(t, d.want), known); err != nil {
		t.Errorf("%s %s %s: %v", d.name, d.target, d.data, err)
	}
}

// compareMirror holds the mirror against get_states, entity by entity. What
// changes by itself meanwhile is looked at once more.
func compareMirror(t *testing.T, c *client) {
	t.Helper()
	all := c.send("get_states", nil)["result"].([]any)
	if len(all) != len(c.states) {
		t.Errorf("get_states has %d, the mirror %d", len(all), len(c.states))
	}
	for _, x := range all {
		s := x.(map[string]any)
		id := s["entity_id"].(string)
		m := c.states[id]
		if m == nil {
			t.Errorf("%s is not in the mirror", id)
			continue
		}
		for _, pair := range [][2]any{{s["state"], m["s"]}, {s["attributes"], m["a"]}, {s["context"], m["c"]}, {s["last_changed"], isoOf(m["lc"])}, {s["last_updated"], isoOf(m["lu"])}} {
			if err := match(pair[0], pair[1], id, vars{}); err != nil {
				t.Errorf("the mirror differs: %v", err)
			}
		}
	}
}

// covered are the handlers that have a case.
func covered() (commands, services map[string]bool) {
	commands, services = map[string]bool{}, map[string]bool{}
	for _, k := range talks() {
		for _, s := range k.steps {
			commands[s.kind] = true
		}
	}
	for _, k := range []string{"subscribe_entities", "subscribe_events", "logbook/get_events", "trace/list", "trace/get"} { // calls, causes, past
		commands[k] = true
	}
	for _, d := range deeds() {
		services[d.name] = true
	}
	services["homeassistant.restart"] = true // restart
	return commands, services
}

func TestEveryHandlerHasACase(t *testing.T) {
	commands, services := covered()
	for _, c := range simhome.Commands() {
		if !commands[c] {
			t.Errorf("no case for the command %s", c)
		}
	}
	for _, s := range simhome.Services() {
		if !services[s] {
			t.Errorf("no case for the service %s", s)
		}
	}
	routes := restCases()
	for _, r := range simhome.Routes() {
		if !slices.ContainsFunc(routes, func(c request) bool { return c.route == r }) {
			t.Errorf("no case for the route %s", r)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(services)) {
		if !slices.Contains(simhome.Services(), s) {
			t.Errorf("the simulated house does not know %s", s)
		}
	}
}
