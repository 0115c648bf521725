package simhome

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// read is one frame within a while; the socket is lost when it takes longer.
func (c *client) read(d time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), d)
	defer cancel()
	_, data, err := c.ws.Read(ctx)
	return string(data), err
}

func (c *client) ping() {
	c.id++
	c.write(map[string]any{"id": c.id, "type": "ping"})
}

func TestFaults(t *testing.T) {
	silent := func(t *testing.T, _ *House, c *client) {
		c.ping()
		if s, err := c.read(time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %q, %v from a house that should be silent", s, err)
		}
	}
	ended := func(t *testing.T, _ *House, c *client) {
		if s, err := c.read(time.Minute); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %q, %v, want the end", s, err)
		}
	}
	turnOn := map[string]any{"id": 1, "type": "call_service", "domain": "switch", "service": "turn_on", "target": map[string]any{"entity_id": "switch.ac"}}
	for fault, look := range map[Fault]func(*testing.T, *House, *client){
		Drop: ended,
		Stall: func(t *testing.T, h *House, c *client) {
			c.ping()
			time.AfterFunc(time.Minute, h.Heal)
			if s, err := c.read(2 * time.Minute); err != nil || !strings.Contains(s, "pong") {
				t.Errorf("after the stall: %q, %v", s, err)
			}
		},
		HalfOpen: silent,
		Malformed: func(t *testing.T, _ *House, c *client) {
			if s, err := c.read(time.Second); err != nil || !strings.HasPrefix(s, `{"id":1`) || strings.HasSuffix(s, "}") {
				t.Errorf("%q, %v", s, err)
			}
		},
		Oversized: func(t *testing.T, _ *House, c *client) {
			_, err := c.read(time.Minute)
			if err == nil || !strings.Contains(err.Error(), "read limited") {
				t.Error(err)
			}
		},
		Reordered: func(t *testing.T, _ *House, c *client) {
			c.ping()
			c.ping()
			if s, err := c.read(time.Second); err != nil || !strings.Contains(s, `"id":2`) {
				t.Errorf("first %q, %v", s, err)
			}
			if s, err := c.read(time.Second); err != nil || !strings.Contains(s, `"id":1`) {
				t.Errorf("then %q, %v", s, err)
			}
		},
		Slow: func(t *testing.T, _ *House, c *client) {
			begin := time.Now()
			c.ping()
			if s, err := c.read(time.Second); err != nil || time.Since(begin) < slowAnswer {
				t.Errorf("%q after %v, %v", s, time.Since(begin), err)
			}
		},
		NoAnswer: func(t *testing.T, h *House, c *client) {
			c.write(turnOn)
			if s, err := c.read(time.Minute); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%q, %v", s, err)
			}
			if h.Calls("switch.turn_on") != 1 || h.Value("switch.ac") != "on" {
				t.Errorf("%d calls, the switch is %s", h.Calls("switch.turn_on"), h.Value("switch.ac"))
			}
		},
		CutOnCall: func(t *testing.T, h *House, c *client) {
			c.write(turnOn)
			ended(t, h, c)
			if h.Calls("switch.turn_on") != 1 {
				t.Errorf("%d calls", h.Calls("switch.turn_on"))
			}
		},
		Restart: func(t *testing.T, h *House, c *client) {
			ended(t, h, c)
			looksRestarted(t, h)
		},
	} {
		t.Run(string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := New(Options{Seed: 1})
				c := open(t, serve(t, h), h.HearthToken())
				h.Inject(fault)
				look(t, h, c)
				h.Heal()
			})
		})
	}
}

func looksRestarted(t *testing.T, h *House) {
	if v := h.Value("light.kitchen_lights"); v != "unavailable" {
		t.Errorf("while down: %s", v)
	}
	<-time.After(restartTime + time.Second)
	if v := h.Value("light.kitchen_lights"); v != "on" {
		t.Errorf("after: %s", v)
	}
}

func TestFaultsOnTheDoorstep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Seed: 1})
		dial := serve(t, h)
		try := func(d time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			tr := &http.Transport{DialContext: dial, DisableKeepAlives: true}
			ws, _, err := websocket.Dial(ctx, "ws://house/api/websocket", &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
			if err != nil {
				return err
			}
			defer ws.CloseNow()
			if _, _, err = ws.Read(ctx); err != nil {
				return err
			}
			if err = ws.Write(ctx, websocket.MessageText, mustJSON(map[string]any{"type": "auth", "access_token": h.HearthToken()})); err != nil {
				return err
			}
			_, data, err := ws.Read(ctx)
			if err == nil && !strings.Contains(string(data), "auth_ok") {
				err = errors.New(string(data))
			}
			return err
		}
		for _, f := range []struct {
			fault Fault
			want  func(error) bool
		}{
			{HalfOpen, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
			{Refuse, func(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }},
			{AuthInvalid, func(err error) bool { return err != nil && strings.Contains(err.Error(), "auth_invalid") }},
		} {
			h.Inject(f.fault)
			if err := try(time.Minute); !f.want(err) {
				t.Errorf("%s: %v", f.fault, err)
			}
			h.Heal()
			if err := try(time.Minute); err != nil {
				t.Errorf("healed after %s: %v", f.fault, err)
			}
		}
	})
}

func TestSameSeedSameLife(t *testing.T) {
	live := func() (events []string) {
		synctest.Test(t, func(t *testing.T) {
			h := New(Options{Seed: 3, Life: true})
			c := open(t, serve(t, h), h.HearthToken())
			c.call("subscribe_events", map[string]any{"event_type": "state_changed"})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour-time.Second)
			defer cancel()
			for {
				_, data, err := c.ws.Read(ctx)
				if err != nil {
					return
				}
				events = append(events, string(data))
			}
		})
		return events
	}
	a, b := live(), live()
	if len(a) < 200 || len(a) != len(b) {
		t.Fatalf("%d and %d changes", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("change %d differs:\n%s\n%s", i, a[i], b[i])
		}
	}
	hall := map[string]bool{}
	for _, e := range a {
		if strings.Contains(e, `"light.flur_`) && strings.Contains(e, `"state":"on"`) {
			_, at, _ := strings.Cut(e, `"time_fired":"`)
			hall[at[:23]] = true // to the millisecond
		}
	}
	if len(hall) == 0 || len(hall) > 4 {
		t.Errorf("the hall lights changed at %v", hall)
	}
}
