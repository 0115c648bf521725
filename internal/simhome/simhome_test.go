package simhome

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// client is a bare WebSocket client of a house.
type client struct {
	t  *testing.T
	ws *websocket.Conn
	id int
	in []map[string]any // messages read and not yet taken
}

// serve runs a house over a pipe until the test ends.
func serve(t *testing.T, h *House) Dialer {
	t.Helper()
	l, dial := Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }() // ends in the cleanup below
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return dial
}

func open(t *testing.T, dial Dialer, token string) *client {
	t.Helper()
	tr := &http.Transport{DialContext: dial}
	t.Cleanup(tr.CloseIdleConnections)
	ws, _, err := websocket.Dial(t.Context(), "ws://house:8123/api/websocket", &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(64 << 20)
	t.Cleanup(func() { ws.CloseNow() })
	c := &client{t: t, ws: ws}
	c.next()
	c.write(map[string]any{"type": "auth", "access_token": token})
	if m := c.next(); m["type"] != "auth_ok" {
		t.Fatalf("auth: %v", m)
	}
	return c
}

func (c *client) write(v any) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, mustJSON(v)); err != nil {
		c.t.Fatal(err)
	}
}

// next is the next message, coalesced or not.
func (c *client) next() map[string]any {
	c.t.Helper()
	for len(c.in) == 0 {
		_, data, err := c.ws.Read(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		if data[0] == '[' {
			if err := json.Unmarshal(data, &c.in); err != nil {
				c.t.Fatal(err)
			}
			continue
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			c.t.Fatalf("%v: %.200s", err, data)
		}
		c.in = append(c.in, m)
	}
	m := c.in[0]
	c.in = c.in[1:]
	return m
}

// call sends a command and returns its result; events before it are dropped.
func (c *client) call(kind string, fields map[string]any) map[string]any {
	c.t.Helper()
	c.id++
	m := map[string]any{"id": c.id, "type": kind}
	for k, v := range fields {
		m[k] = v
	}
	c.write(m)
	for {
		if m := c.next(); m["id"] == float64(c.id) && m["type"] != "event" {
			return m
		}
	}
}

func TestGuestModeBrightensTheKitchen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Seed: 1})
		c := open(t, serve(t, h), h.HearthToken())
		if r := c.call("call_service", map[string]any{"domain": "input_boolean", "service": "turn_on", "target": map[string]any{"entity_id": "input_boolean.guest_mode"}}); r["success"] != true {
			t.Fatal(r)
		}
		synctest.Wait()
		for id, want := range map[string]string{"input_boolean.guest_mode": "on", "binary_sensor.kuchenfenster": "on", "light.kitchen_lights": "on", "input_text.note": "welcome", "sensor.kitchen_power": "120"} {
			if got := h.Value(id); got != want {
				t.Errorf("%s is %q, want %q", id, got, want)
			}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		root, light := h.states["input_boolean.guest_mode"].ctx, h.states["light.kitchen_lights"]
		if h.states["binary_sensor.kuchenfenster"].ctx != root || root.User != hearthID {
			t.Errorf("window has %v, switch %v", h.states["binary_sensor.kuchenfenster"].ctx, root)
		}
		_ = light
		if got := h.states["input_text.note"].ctx.Parent; got != root.ID {
			t.Errorf("note has parent %q, want %q", got, root.ID)
		}
	})
}

func TestFloodIsCountedExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Seed: 1, Entities: 500})
		c := open(t, serve(t, h), h.HearthToken())
		c.call("supported_features", map[string]any{"features": map[string]any{"coalesce_messages": 1}})
		c.call("subscribe_entities", nil)
		first := c.next()
		if first["type"] != "event" {
			t.Fatal(first)
		}
		got := make(chan int, 1)
		sent := make(chan int, 1)
		go func() {
			n, err := h.FloodMix(t.Context(), Mix{Rate: 5000, For: 10 * time.Second, Changes: 20_000})
			if err != nil {
				t.Error(err)
			}
			sent <- n
		}()
		go func() {
			values := map[string]string{}
			n := 0
			for n < 20_000 {
				m := c.next()
				for id, d := range m["event"].(map[string]any)["c"].(map[string]any) {
					v := d.(map[string]any)["+"].(map[string]any)["s"].(string)
					if values[id] == v {
						t.Errorf("%s did not change from %s", id, v)
					}
					values[id] = v
					n++
				}
			}
			for id, v := range values {
				if h.Value(id) != v {
					t.Errorf("%s is %s in the house, %s here", id, h.Value(id), v)
				}
			}
			got <- n
		}()
		if s, g := <-sent, <-got; s != g {
			t.Errorf("sent %d, got %d", s, g)
		}
	})
}

// ids of the answer of extract_from_target, joined.
func (c *client) extract(target map[string]any, expand bool) string {
	r := c.call("extract_from_target", map[string]any{"target": target, "expand_group": expand})
	return string(mustJSON(r["result"].(map[string]any)["referenced_entities"]))
}

func TestTargetsOfTheSecondPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Seed: 1})
		c := open(t, serve(t, h), h.HearthToken())
		composites := c.call("config/device_registry/list_composite_splits", nil)["result"].(map[string]any)
		if len(composites) != 1 {
			t.Fatal(composites)
		}
		for id := range composites {
			if got := c.extract(map[string]any{"device_id": id}, false); got != `["climate.wohnzimmer_heizung","sensor.heizung_vorlauf"]` {
				t.Errorf("composite: %s", got)
			}
		}
		for _, x := range []struct {
			target map[string]any
			expand bool
			want   string
		}{
			{map[string]any{"area_id": "terrasse"}, false, `["cover.garagentor_nord","sensor.terrasse_lux","switch.bewasserung"]`},
			{map[string]any{"area_id": "hallway"}, false, `["binary_sensor.hallway_motion","binary_sensor.haustur","light.flur_oben","light.flur_spiegel","light.flur_unten"]`},
			{map[string]any{"entity_id": "group.alle_lampen"}, false, `["group.alle_lampen"]`},
			{map[string]any{"entity_id": "group.alle_lampen"}, true, `["light.flur_oben","light.flur_spiegel","light.flur_unten","light.stehlampe","light.stehlampe_2","light.wohnzimmer_decke"]`},
			{map[string]any{"label_id": "night_quiet"}, false, `["light.nochnik","light.stehlampe_2"]`},
		} {
			if got := c.extract(x.target, x.expand); got != x.want {
				t.Errorf("%v: %s, want %s", x.target, got, x.want)
			}
		}
	})
}

func TestAClientThatDoesNotReadIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Seed: 1})
		c := open(t, serve(t, h), h.HearthToken())
		c.call("subscribe_entities", nil)
		synctest.Wait()
		for i := range maxPending + 2 {
			h.Set("light.nochnik", flip(h.Value("light.nochnik")), map[string]any{"brightness": i})
		}
		synctest.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.conns) != 0 {
			t.Error("the client is still there")
		}
	})
}
