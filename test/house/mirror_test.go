package house_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/secret"
	"hearth/internal/simhome"
	"hearth/internal/store"
	"hearth/test/realhome"
)

func TestMirrorEqualsSimulatedHouse(t *testing.T) {
	l, addr := listen(t)
	sim := simhome.New(simhome.Options{Seed: 7})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(ctx, l) }() // ends with ctx
	t.Cleanup(func() { cancel(); <-ended })
	mirrorEquals(t, "http://"+addr, sim.HearthToken(), sim.OwnerToken())
}

func TestMirrorEqualsRealHouse(t *testing.T) {
	h := realhome.Start(t)
	mirrorEquals(t, h.URL, h.HearthToken, h.OwnerToken)
}

// mirrorEquals compares every state in the mirror with get_states: value,
// attributes without the stripped ones, both times and the whole context, first
// as mirrored at the start and again after changes have come as differences.
func mirrorEquals(t *testing.T, url, hearthToken, ownerToken string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log, lit := slog.New(slog.DiscardHandler), &health.Registry{}
	db, err := store.Open(ctx, store.Config{Path: filepath.Join(t.TempDir(), "hearth.db")}, log, lit)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	house, writer := mirror.New(mirror.Config{Site: "ha"}, db, log, lit)
	client, _, err := hass.New(hass.Config{URL: url, Token: secret.New(hearthToken)}, log, lit)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(ctx, writer.Apply) }() // ends with ctx
	defer func() { cancel(); <-ended }()

	wait, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	if _, ok := house.Await(wait, func(v *mirror.View) bool { _, stale := v.Stale(); return !stale && !v.Empty() }); !ok {
		t.Fatal("the mirror did not come up")
	}
	ws, err := realhome.Dial(ctx, url, ownerToken)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	compareStates(t, house, ws)
	for _, c := range []struct {
		service, entity string
		data            map[string]any
	}{
		{"light.turn_on", "light.bed_light", map[string]any{"brightness": 77}},
		{"light.turn_off", "light.bed_light", nil},
		{"light.turn_on", "light.ceiling_lights", map[string]any{"brightness": 200}},
		{"input_boolean.toggle", "input_boolean.guest_mode", nil},
		{"input_boolean.toggle", "input_boolean.guest_mode", nil},
		{"input_text.set_value", "input_text.note", map[string]any{"value": "Grüße, 世界 <b>"}},
		{"climate.set_temperature", "climate.hvac", map[string]any{"temperature": 22}},
	} {
		call(t, ws, c.service, c.entity, c.data)
	}
	compareStates(t, house, ws)
}

// compareStates compares until a quiet moment: the house lives while it is read.
func compareStates(t *testing.T, house *mirror.House, ws *realhome.Socket) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for {
		bad := unequal(t, house, ws)
		if len(bad) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, b := range bad {
				t.Error(b)
			}
			return
		}
		wait, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		house.Await(wait, func(*mirror.View) bool { return false })
		stop()
	}
}

func unequal(t *testing.T, house *mirror.House, ws *realhome.Socket) []string {
	t.Helper()
	states := table(t, t.Context(), ws, "get_states", nil, "entity_id")
	v := house.View()
	var bad []string
	n := 0
	for id, want := range states {
		s := v.State(home.EntityID(id))
		if s == nil {
			bad = append(bad, id+": not in the mirror")
			continue
		}
		var attrs map[string]any
		if err := json.Unmarshal(s.Attrs, &attrs); err != nil {
			bad = append(bad, id+": "+err.Error())
			continue
		}
		full := stripped(object(want["attributes"]))
		for k := range attrs {
			if _, ok := full[k]; !ok {
				bad = append(bad, id+": attribute "+k+" should not be there")
			}
		}
		ctx := object(want["context"])
		got := normal(map[string]any{
			"state": s.Value, "attributes": attrs,
			"changed": s.Changed.UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
			"updated": s.Updated.UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
			"id":      s.Context.ID, "parent": s.Context.Parent, "user": s.Context.User,
		})
		bad = append(bad, differences(id, got, normal(map[string]any{
			"state": want["state"], "attributes": full, "changed": micro(want["last_changed"]), "updated": micro(want["last_updated"]),
			"id": text(ctx["id"]), "parent": text(ctx["parent_id"]), "user": text(ctx["user_id"]),
		}))...)
		n++
	}
	for e := range v.Entities(home.Everything(), mirror.Filter{}) {
		if v.State(e.ID) != nil && states[string(e.ID)] == nil {
			bad = append(bad, string(e.ID)+": the house has no such state")
		}
	}
	if n < 100 {
		bad = append(bad, "fewer than 100 states were compared")
	}
	return bad
}

// micro writes Home Assistant's time with all six digits, so that it compares to the microsecond.
func micro(v any) any {
	at, err := time.Parse(time.RFC3339Nano, text(v))
	if err != nil {
		return v
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}
