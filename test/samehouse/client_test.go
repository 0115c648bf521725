package samehouse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hearth/internal/simhome"
	"hearth/test/realhome"
)

// patience is how long anything may take that is said to happen.
const patience = 8 * time.Second

// home is a house under test.
type home struct {
	base          string
	owner, hearth string
	sim           *simhome.House // nil for the real one
}

// simulated serves a fresh simulated house on loopback.
func simulated(t *testing.T, o simhome.Options) *home {
	t.Helper()
	h := simhome.New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }() // ends in the cleanup
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &home{base: "http://" + l.Addr().String(), owner: h.OwnerToken(), hearth: h.HearthToken(), sim: h}
}

// real starts a Home Assistant, or skips loudly where none is installed.
func real(t *testing.T) *home {
	t.Helper()
	h := realhome.Start(t)
	return &home{base: h.URL, owner: h.OwnerToken, hearth: h.HearthToken}
}

// client is a tiny WebSocket client that keeps a mirror of what it is told.
type client struct {
	t      *testing.T
	ws     *websocket.Conn
	id     int
	frames chan map[string]any // closed when the socket ends
	end    error
	kept   []map[string]any          // events read and not yet asked for
	states map[string]map[string]any // compressed states by entity id
}

// dial connects without signing in and returns the first message.
func dial(t *testing.T, h *home) (*client, map[string]any) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.base, "http")+"/api/websocket", nil)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(64 << 20)
	c := &client{t: t, ws: ws, frames: make(chan map[string]any, 1024), states: map[string]map[string]any{}}
	go c.read() // ends when the socket does, in the cleanup at the latest
	t.Cleanup(func() { ws.CloseNow() })
	return c, c.next()
}

// open connects and signs in.
func open(t *testing.T, h *home, token string) *client {
	t.Helper()
	c, _ := dial(t, h)
	c.raw(map[string]any{"type": "auth", "access_token": token})
	if m := c.next(); m["type"] != "auth_ok" {
		t.Fatalf("auth: %v", m)
	}
	return c
}

func (c *client) read() {
	defer close(c.frames)
	for {
		_, data, err := c.ws.Read(context.Background())
		if err != nil {
			c.end = err
			return
		}
		var many []map[string]any
		if data[0] != '[' {
			data = append(append([]byte{'['}, data...), ']')
		}
		if err := json.Unmarshal(data, &many); err != nil {
			c.end = err
			return
		}
		for _, m := range many {
			c.frames <- m
		}
	}
}

func (c *client) raw(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, b); err != nil {
		c.t.Fatal(err)
	}
}

// next is the next message, nil when the socket ended.
func (c *client) next() map[string]any {
	c.t.Helper()
	m, err := c.wait(patience)
	if err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatal(err)
	}
	return m
}

// wait reads one message and keeps the mirror.
func (c *client) wait(d time.Duration) (map[string]any, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case m, ok := <-c.frames:
		if !ok {
			return nil, io.EOF
		}
		if e, ok := m["event"].(map[string]any); ok && e["event_type"] == nil {
			c.apply(e)
		}
		return m, nil
	case <-timer.C:
		return nil, fmt.Errorf("nothing came within %v", d)
	}
}

// send sends a command and returns its answer; events are kept.
func (c *client) send(kind string, fields map[string]any) map[string]any {
	c.t.Helper()
	c.id++
	m := map[string]any{"id": c.id, "type": kind}
	maps.Copy(m, fields)
	c.raw(m)
	for {
		got := c.next()
		if got == nil {
			c.t.Fatalf("%s: the socket ended: %v", kind, c.end)
		}
		if got["id"] == float64(c.id) && got["type"] != "event" {
			return got
		}
		c.kept = append(c.kept, got)
	}
}

// event is the first kept or coming event that fits, with those before it dropped.
func (c *client) event(fits func(map[string]any) bool) (map[string]any, error) {
	end := time.Now().Add(patience)
	for {
		for len(c.kept) > 0 {
			m := c.kept[0]
			c.kept = c.kept[1:]
			if e, ok := m["event"].(map[string]any); ok && fits(e) {
				return e, nil
			}
		}
		m, err := c.wait(time.Until(end))
		if err != nil {
			return nil, err
		}
		c.kept = append(c.kept, m)
	}
}

// apply lets the mirror follow a subscribe_entities event.
func (c *client) apply(e map[string]any) {
	if a, ok := e["a"].(map[string]any); ok {
		for id, s := range a {
			s := s.(map[string]any)
			if s["lu"] == nil {
				s["lu"] = s["lc"]
			}
			if id2, ok := s["c"].(string); ok {
				s["c"] = map[string]any{"id": id2, "parent_id": nil, "user_id": nil}
			}
			c.states[id] = s
		}
	}
	if r, ok := e["r"].([]any); ok {
		for _, id := range r {
			delete(c.states, id.(string))
		}
	}
	if ch, ok := e["c"].(map[string]any); ok {
		for id, d := range ch {
			c.applyDiff(c.states[id], d.(map[string]any))
		}
	}
}

func (c *client) applyDiff(s, d map[string]any) {
	attrs := s["a"].(map[string]any)
	if plus, ok := d["+"].(map[string]any); ok {
		for k, v := range plus {
			switch k {
			case "a":
				maps.Copy(attrs, v.(map[string]any))
			case "c":
				if id, ok := v.(string); ok {
					v = map[string]any{"id": id}
				}
				maps.Copy(s["c"].(map[string]any), v.(map[string]any))
			case "lc":
				s["lc"], s["lu"] = v, v
			default:
				s[k] = v
			}
		}
	}
	if minus, ok := d["-"].(map[string]any); ok {
		for _, k := range minus["a"].([]any) {
			delete(attrs, k.(string))
		}
	}
}

// see waits until the mirror shows what is wanted of an entity.
func (c *client) see(entity string, want any, vars vars) error {
	end := time.Now().Add(patience)
	for {
		err := errors.New("no state")
		if s := c.states[entity]; s != nil {
			if err = match(want, any(s), "", vars); err == nil {
				return nil
			}
		}
		m, werr := c.wait(time.Until(end))
		if werr != nil {
			return fmt.Errorf("%s: %w (%v)", entity, err, werr)
		}
		c.kept = append(c.kept, m)
	}
}

// rest makes one request; body nil is GET, url.Values-like strings are sent as a form.
func (h *home) rest(t *testing.T, token, method, path string, body any) (int, any) {
	t.Helper()
	var r io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		r, kind = strings.NewReader(b), "application/x-www-form-urlencoded"
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, h.base+path, r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if json.Unmarshal(data, &v) != nil {
		v = string(data)
	}
	return resp.StatusCode, v
}
