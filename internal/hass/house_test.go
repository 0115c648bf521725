package hass

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/simhome"
)

// world is a sink that keeps states the plain way, to compare with get_states.
type world struct {
	mu     sync.Mutex
	states map[home.EntityID]home.State
	link   []string
	events map[string]int
	bodies map[home.EntityID]home.Body
	fulls  int
}

func newWorld() *world {
	return &world{states: map[home.EntityID]home.State{}, events: map[string]int{}, bodies: map[home.EntityID]home.Body{}}
}

func (w *world) sink(r home.Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Kind {
	case home.ReportLink:
		w.link = append(w.link, fmt.Sprint(r.Up, " ", r.Reason))
	case home.ReportSnapshot:
		w.fulls++
		clear(w.states)
	case home.ReportEvent:
		w.events[r.Event.Type]++
	case home.ReportBodies:
		for _, b := range r.Bodies {
			w.bodies[b.Entity] = b
		}
	}
	for i := range r.Patches {
		w.apply(&r.Patches[i])
	}
}

func (w *world) apply(p *home.Patch) {
	if p.Removed {
		delete(w.states, p.ID)
		return
	}
	s := w.states[p.ID]
	if p.Full {
		s = home.State{ID: p.ID, Attrs: json.RawMessage("{}")}
	}
	if p.Value != nil {
		s.Value = *p.Value
	}
	s.Attrs = merged(s.Attrs, p.Set, p.Unset)
	if !p.Changed.IsZero() {
		s.Changed = p.Changed
	}
	if !p.Updated.IsZero() {
		s.Updated = p.Updated
	}
	s.Context = p.ContextOver(s.Context)
	w.states[p.ID] = s
}

func merged(old, set json.RawMessage, unset []string) json.RawMessage {
	if set == nil && unset == nil {
		return old
	}
	of := map[string]json.RawMessage{}
	_ = json.Unmarshal(old, &of)
	_ = json.Unmarshal(set, &of)
	for _, k := range unset {
		delete(of, k)
	}
	out, _ := json.Marshal(of)
	return out
}

// differs compares the kept states with what the house itself says.
func (w *world) differs(t *testing.T, all []home.State) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(all) != len(w.states) {
		t.Errorf("%d states kept, the house has %d", len(w.states), len(all))
	}
	for _, want := range all {
		got := w.states[want.ID]
		if got.Value != want.Value || got.Context != want.Context || !got.Changed.Equal(want.Changed) || !got.Updated.Equal(want.Updated) ||
			string(merged(got.Attrs, json.RawMessage("{}"), nil)) != string(merged(want.Attrs, json.RawMessage("{}"), nil)) {
			t.Errorf("kept %+v\nhouse %+v", got, want)
		}
	}
}

// inHouse runs a test against the simulated house in synthetic time.
func inHouse(t *testing.T, test func(t *testing.T, h *simhome.House, c *Client, a *Actor, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := simhome.New(simhome.Options{Seed: 1, Log: slog.New(slog.DiscardHandler)})
		l, dial := simhome.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = h.Serve(ctx, l) })
		c, a, err := New(Config{URL: "http://house:8123", Token: secret.New(h.HearthToken()), Dial: dial}, nil, &health.Registry{})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld()
		wg.Go(func() { _ = c.Run(ctx, w.sink) })
		pass(10 * time.Second)
		if up, why := c.Online(); !up {
			t.Errorf("not up: %s", why)
		}
		test(t, h, c, a, w)
		cancel()
		wg.Wait()
		synctest.Wait()
	})
}

func TestTheSimulatedHouse(t *testing.T) {
	inHouse(t, func(t *testing.T, h *simhome.House, c *Client, a *Actor, w *world) {
		all, err := c.States(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		w.differs(t, all)
		guest := home.ServiceCall{Domain: "input_boolean", Service: "turn_on", Target: home.Target{Entities: []home.EntityID{"input_boolean.guest_mode"}}}
		cause, _, err := a.CallService(t.Context(), guest)
		if err != nil || cause.ID == "" || cause.User != c.User() {
			t.Errorf("context %+v, error %v", cause, err)
		}
		pass(5 * time.Second)
		if all, err = c.States(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		w.differs(t, all)
		if w.states["input_boolean.guest_mode"].Context != cause || w.events["automation_triggered"] == 0 || w.events["script_started"] == 0 || w.events["call_service"] < 2 {
			t.Errorf("context %+v, events %v", w.states["input_boolean.guest_mode"].Context, w.events)
		}
		if b := w.bodies["automation.guests_make_the_kitchen_bright"]; b.Config == nil {
			t.Errorf("bodies: %+v", w.bodies)
		}
		for _, some := range [][]home.EntityID{{"sun.sun"}, {"light.kitchen_lights", "light.bed_light", "light.nope"}, {"a.b", "a.c", "a.d", "a.e", "light.bed_light"}} {
			got, err := c.States(t.Context(), some)
			if want := map[int]int{1: 1, 3: 2, 5: 1}[len(some)]; err != nil || len(got) != want {
				t.Errorf("%v gave %d states, error %v", some, len(got), err)
			}
		}
		_, err = c.States(t.Context(), []home.EntityID{"light.nope"})
		code(t, err, home.NotFound)
		_, err = c.States(t.Context(), []home.EntityID{"../config"})
		code(t, err, home.Invalid)
	})
}

func TestReadingTheSimulatedHouse(t *testing.T) {
	inHouse(t, func(t *testing.T, h *simhome.House, c *Client, a *Actor, w *world) {
		begin := h.Now()
		h.Set("light.bed_light", "on", nil)
		pass(time.Minute)
		h.Set("light.bed_light", "off", nil)
		pass(time.Minute)
		ids := []home.EntityID{"light.bed_light", "sun.sun"}
		for _, attrs := range []bool{true, false} {
			fast, err := c.History(t.Context(), ids, begin.Add(-time.Second), h.Now(), attrs)
			if err != nil {
				t.Fatal(err)
			}
			slow, err := c.recordedREST(t.Context(), ids, begin.Add(-time.Second), h.Now(), attrs)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []map[home.EntityID][]Point{fast, slow} {
				p := got["light.bed_light"]
				if len(p) < 2 || p[len(p)-1].Value != "off" || p[len(p)-2].Value != "on" || p[0].Changed.IsZero() || attrs != (p[0].Attrs != nil) {
					t.Errorf("points %+v", p)
				}
			}
		}
		body, err := c.Body(t.Context(), "automation", "guest_welcome")
		if err != nil || !json.Valid(body) {
			t.Errorf("body %s, error %v", body, err)
		}
		_, err = c.Body(t.Context(), "automation", "no/such")
		code(t, err, home.NotFound)
		_, err = c.Body(t.Context(), "light", "x")
		code(t, err, home.Invalid)
		got, err := c.Extract(t.Context(), home.Target{Areas: []home.AreaID{"kitchen"}}, true)
		if err != nil || len(got) == 0 {
			t.Errorf("target %v, error %v", got, err)
		}
	})
}

func TestFaultsOfTheSimulatedHouse(t *testing.T) {
	for _, c := range []struct {
		fault simhome.Fault
		wait  time.Duration // until the link is whole again after Heal
	}{
		{simhome.Drop, 5 * time.Second}, {simhome.Stall, 2 * time.Minute}, {simhome.HalfOpen, 2 * time.Minute},
		{simhome.Malformed, 5 * time.Second}, {simhome.Oversized, 5 * time.Second}, {simhome.Reordered, 5 * time.Second},
		{simhome.Slow, time.Minute}, {simhome.AuthInvalid, 10 * time.Second}, {simhome.Restart, time.Minute}, {simhome.Refuse, time.Minute},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *simhome.House, client *Client, a *Actor, w *world) {
				h.Inject(c.fault)
				h.Set("light.bed_light", "on", map[string]any{"brightness": 7})
				pass(time.Minute)
				h.Set("light.bed_light", "off", nil)
				h.Heal()
				pass(c.wait)
				all, err := client.States(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				w.differs(t, all)
				if _, _, err := a.CallService(t.Context(), home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Entities: []home.EntityID{"light.bed_light"}}}); err != nil {
					t.Errorf("a write afterwards: %v", err)
				}
			})
		})
	}
}

func TestWritesThatAreNotAnswered(t *testing.T) {
	for _, fault := range []simhome.Fault{simhome.NoAnswer, simhome.CutOnCall} {
		t.Run(string(fault), func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *simhome.House, c *Client, a *Actor, w *world) {
				h.Inject(fault)
				h.ResetCalls()
				_, _, err := a.CallService(t.Context(), home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Entities: []home.EntityID{"light.bed_light"}}})
				code(t, err, home.Timeout)
				h.Heal()
				pass(5 * time.Minute)
				if n := h.Calls("light.turn_on"); n != 1 {
					t.Errorf("it was sent %d times", n)
				}
			})
		})
	}
}

func TestRevokedToken(t *testing.T) {
	inHouse(t, func(t *testing.T, h *simhome.House, c *Client, a *Actor, w *world) {
		h.Revoke(h.HearthToken())
		pass(time.Minute)
		if up, why := c.Online(); up || why == "" {
			t.Errorf("up %v, reason %q", up, why)
		}
		code(t, c.Call(t.Context(), "get_config", nil, nil), home.Offline)
	})
}

// TestManyEntities needs several batches of rows and large frames. The benchmark
// does the same with 40,000.
func TestManyEntities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := simhome.New(simhome.Options{Seed: 1, Entities: 5000, Log: slog.New(slog.DiscardHandler)})
		l, dial := simhome.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = h.Serve(ctx, l) })
		c, _, err := New(Config{URL: "http://house:8123", Token: secret.New(h.HearthToken()), Dial: dial}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		states, rows := 0, 0
		wg.Go(func() {
			_ = c.Run(ctx, func(r home.Report) {
				if r.Kind == home.ReportSnapshot {
					states, rows = len(r.Patches), len(r.Registries.Entities)
				}
			})
		})
		synctest.Wait()
		if states < 5000 || rows < 3001 {
			t.Errorf("%d states, %d rows", states, rows)
		}
		cancel()
		wg.Wait()
		synctest.Wait()
	})
}

// BenchmarkColdStart is the link's part of a start at 40,000 entities, the
// simulated house in the same process.
func BenchmarkColdStart(b *testing.B) {
	h := simhome.New(simhome.Options{Seed: 1, Entities: 40000, Log: slog.New(slog.DiscardHandler)})
	l, dial := simhome.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = h.Serve(ctx, l) }() // ends with ctx
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	for b.Loop() {
		c, _, err := New(Config{URL: "http://house:8123", Token: secret.New(h.HearthToken()), Dial: dial}, log, nil)
		if err != nil {
			b.Fatal(err)
		}
		link, unlink := context.WithCancel(ctx)
		err = c.Run(link, func(r home.Report) {
			if r.Kind == home.ReportSnapshot {
				unlink()
			}
		})
		unlink()
		if err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
}
