package toolbox

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hearth/internal/guard"
	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/secret"
	"hearth/internal/simhome"
	"hearth/internal/tool"
)

// linked is a box whose mirror follows a house over a live link.
func linked(t *testing.T, c hass.Config) *Box {
	t.Helper()
	h, log := new(health.Registry), slog.New(slog.DiscardHandler)
	client, _, err := hass.New(c, log, h)
	if err != nil {
		t.Fatal(err)
	}
	house, w := mirror.New(mirror.Config{Site: "ha"}, nil, log, h)
	house.SetFetch(client.States)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client.Run(ctx, w.Apply)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	wait, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	if _, ok := house.Await(wait, func(v *mirror.View) bool {
		_, stale := v.Stale()
		return !stale && !v.Empty() && len(v.Services()) > 0
	}); !ok {
		t.Fatal("the mirror did not come up")
	}
	return &Box{House: house, Hass: client, Recall: recall.New(house), Health: h, Version: "test"}
}

func simulated(t *testing.T) (*Box, *simhome.House) {
	t.Helper()
	sim := simhome.New(simhome.Options{Seed: 1})
	l, dial := simhome.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sim.Serve(ctx, l)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return linked(t, hass.Config{URL: "http://house:8123", Token: secret.New(sim.HearthToken()), Dial: dial}), sim
}

// door is a box's registry with the real judge and hands that must stay still.
func door(t *testing.T, b *Box) *tool.Registry {
	reg := tool.NewRegistry(b.Tools()...)
	reg.Judge = guard.NewJudge(b.House)
	reg.Hands = func(context.Context, home.Step, []home.EntityID, time.Duration) home.StepResult {
		t.Error("the hands were reached in a dry run")
		return home.StepResult{Outcome: home.Failed}
	}
	reg.Record = func(context.Context, home.CallRecord) error { return nil }
	return reg
}

// TestExamplesInTheSimulatedHouse runs every example against a house that
// speaks Home Assistant's protocol; writes as dry runs.
func TestExamplesInTheSimulatedHouse(t *testing.T) {
	b, _ := simulated(t)
	reg := door(t, b)
	for _, x := range reg.All() {
		for _, e := range x.Spec().Examples {
			if x.Writes() && !strings.Contains(e, "dry_run") {
				e = strings.TrimSuffix(e, "}") + `,"dry_run":true}`
			}
			a := reg.Call(t.Context(), reader(), x.Spec().Name, json.RawMessage(e))
			if strings.HasPrefix(x.Spec().Name, "journal_") && b.Journal == nil {
				continue
			}
			if a.Err != nil || a.Outcome == home.Refused {
				t.Errorf("%s %s: %v %s", x.Spec().Name, e, a.Err, home.Clip(string(a.JSON), 500))
			}
		}
	}
}

// TestHistoryInTheSimulatedHouse compares with what the link itself reads.
func TestHistoryInTheSimulatedHouse(t *testing.T) {
	b, _ := simulated(t)
	now := time.Now()
	b.Now = func() time.Time { return now }
	id := home.EntityID("sensor.outside_temperature")
	points, err := b.Hass.History(t.Context(), []home.EntityID{id}, now.Add(-2*time.Hour), now, false)
	if err != nil {
		t.Fatal(err)
	}
	var out historyOut
	a := door(t, b).Call(t.Context(), reader(), "history_get", json.RawMessage(`{"entity_id":["sensor.outside_temperature"],"from":"2h"}`))
	if a.Err != nil || json.Unmarshal(a.JSON, &out) != nil || len(out.Series) != 1 {
		t.Fatal(said(a))
	}
	s := out.Series[0]
	if len(points[id]) == 0 || s.Count == 0 || s.Points[len(s.Points)-1].V != points[id][len(points[id])-1].Value {
		t.Errorf("history has %d points, the recorder %d", s.Count, len(points[id]))
	}
	if s.Unit != "°C" || s.Min == nil || *s.Min > *s.Mean || *s.Mean > *s.Max {
		t.Errorf("unit %q, min %v mean %v max %v", s.Unit, s.Min, s.Mean, s.Max)
	}
}
