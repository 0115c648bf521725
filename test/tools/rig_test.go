// Package tools runs the tools of the first shelf over everything they stand
// on: the link, the mirror, the journal, the judge and the hands, against a
// simulated house that speaks Home Assistant's protocol.
package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hearth/internal/guard"
	"hearth/internal/hands"
	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/secret"
	"hearth/internal/simhome"
	"hearth/internal/store"
	"hearth/internal/tool"
	"hearth/internal/toolbox"
)

// rig is the whole way of a call, and the house it goes to.
type rig struct {
	*toolbox.Box
	sim *simhome.House
	reg *tool.Registry
}

func newRig(t *testing.T) *rig {
	t.Helper()
	h, log := new(health.Registry), slog.New(slog.DiscardHandler)
	sim := simhome.New(simhome.Options{Seed: 1})
	l, dial := simhome.Pipe()
	client, actor, err := hass.New(hass.Config{URL: "http://house:8123", Token: secret.New(sim.HearthToken()), Dial: dial}, log, h)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "hearth.db")}, log, h)
	if err != nil {
		t.Fatal(err)
	}
	house, w := mirror.New(mirror.Config{Site: "ha"}, nil, log, h)
	house.SetFetch(client.States)
	j := journal.New(journal.Config{}, db, house, log, h)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { sim.Serve(ctx, l) })
	running.Go(func() { client.Run(ctx, w.Apply) })
	running.Go(func() { j.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		db.Close()
	})
	r := &rig{sim: sim, Box: &toolbox.Box{House: house, Hass: client, Journal: j, Recall: recall.New(house), Health: h, Version: "test"}}
	r.reg = tool.NewRegistry(r.Tools()...)
	r.reg.Judge, r.reg.Hands, r.reg.Record = guard.NewJudge(house), hands.New(actor, house, log, hands.User(client.User)), j.Record
	r.await(t, "the mirror to come up", func(v *mirror.View) bool {
		_, stale := v.Stale()
		have, want := v.Bodies()
		return !stale && !v.Empty() && len(v.Services()) > 0 && have == want
	})
	return r
}

func (r *rig) await(t *testing.T, what string, ok func(*mirror.View) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if _, done := r.House.Await(ctx, ok); !done {
		t.Fatalf("waited in vain for %s", what)
	}
}

// call gives all the text of an answer.
func (r *rig) call(t *testing.T, name, args string) string {
	t.Helper()
	c := tool.Caller{Via: "test", Who: "tester", Grant: home.Grant{Upto: home.Act, Scope: home.Visible()}}
	a := r.reg.Call(t.Context(), c, name, json.RawMessage(args))
	if a.Err != nil {
		return a.Err.Error()
	}
	return string(a.JSON)
}
