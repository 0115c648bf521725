// Package chaos breaks the link to a simulated house in every way it can, one
// after another and two at a time, while readers and writers go on, and holds
// Hearth to what it promises: nothing is sent twice, nothing is said to be done
// that is not, what is stale is called so, holes are holes, and afterwards the
// mirror equals the house.
package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// rig is a whole house: the link, the mirror, the journal and the door.
type rig struct {
	sim    *simhome.House
	house  *mirror.House
	client *hass.Client
	book   *journal.Journal
	door   *tool.Registry
}

// inChaos runs a test in synthetic time, on everything but the outer faces.
func inChaos(t *testing.T, test func(t *testing.T, r *rig)) {
	path := filepath.Join(t.TempDir(), "hearth.db")
	synctest.Test(t, func(t *testing.T) {
		log, h := slog.New(slog.DiscardHandler), new(health.Registry)
		sim := simhome.New(simhome.Options{Seed: 7})
		l, dial := simhome.Pipe()
		client, actor, err := hass.New(hass.Config{URL: "http://house:8123", Token: secret.New(sim.HearthToken()), Dial: dial}, log, h)
		if err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(t.Context(), store.Config{Path: path}, log, h)
		if err != nil {
			t.Fatal(err)
		}
		house, w := mirror.New(mirror.Config{Site: "ha"}, nil, log, h)
		house.SetFetch(client.States)
		book := journal.New(journal.Config{}, db, house, log, h)
		box := &toolbox.Box{House: house, Hass: client, Journal: book, Recall: recall.New(house), Health: h, Version: "test"}
		door := tool.NewRegistry(box.Tools()...)
		door.Judge, door.Hands, door.Record = guard.NewJudge(house), hands.New(actor, house, log, hands.User(client.User)), book.Record

		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		var running sync.WaitGroup
		running.Go(func() { _ = sim.Serve(ctx, l) })
		running.Go(func() { _ = client.Run(ctx, w.Apply) })
		running.Go(func() { _ = book.Run(ctx) })
		defer func() {
			cancel()
			running.Wait()
			db.Close()
		}()
		r := &rig{sim: sim, house: house, client: client, book: book, door: door}
		r.recovered(t, "the start")
		test(t, r)
	})
}

// pass lets synthetic time go by.
func pass(d time.Duration) { <-time.After(d) }

// call goes through the door as a client does that may read and act.
func (r *rig) call(ctx context.Context, name, args string) tool.Answer {
	return r.door.Call(ctx, tool.Caller{Via: "test", Who: "tester", Grant: home.Grant{Upto: home.Act, Scope: home.Visible()}}, name, json.RawMessage(args))
}

// recovered waits until the mirror equals the house again.
func (r *rig) recovered(t *testing.T, after string) {
	t.Helper()
	var last string
	for range 600 {
		if last = r.differs(); last == "" {
			return
		}
		pass(time.Second)
	}
	t.Fatalf("ten minutes after %s: %s", after, last)
}

// differs says where the mirror and the house are not the same, "" for nowhere.
func (r *rig) differs() string {
	if up, why := r.client.Online(); !up {
		return "offline: " + why
	}
	v := r.house.View()
	if _, stale := v.Stale(); stale || v.Empty() {
		return "the mirror is stale"
	}
	n := 0
	for e, s := range v.Entities(home.Everything(), mirror.Filter{}) {
		if s == nil {
			continue
		}
		n++
		if is := r.sim.Value(string(e.ID)); is != s.Value {
			return fmt.Sprintf("%s is %q in the mirror and %q in the house", e.ID, s.Value, is)
		}
	}
	if n != r.sim.States() {
		return fmt.Sprintf("%d states in the mirror, %d in the house", n, r.sim.States())
	}
	if have, want := v.Bodies(); have != want {
		return fmt.Sprintf("%d of %d bodies", have, want)
	}
	return ""
}

// tally counts what became of writes.
type tally struct {
	all, done, sent, unclear, unsent, failed atomic.Int32
}

func (y *tally) String() string {
	return fmt.Sprintf("%d writes: %d done, %d sent, %d unknown, %d not sent, %d failed", y.all.Load(), y.done.Load(), y.sent.Load(), y.unclear.Load(), y.unsent.Load(), y.failed.Load())
}

// write sets a number that nobody else touches to one value after another, and
// checks every claim against the house at that moment.
func (r *rig) write(t *testing.T, ctx context.Context, id string, y *tally, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for n := 0; ctx.Err() == nil; n++ {
		value := 2 + n%97
		y.all.Add(1)
		a := r.call(ctx, "service_call", fmt.Sprintf(`{"service":"number.set_value","entity_id":[%q],"data":{"value":%d}}`, id, value))
		is, err := strconv.ParseFloat(r.sim.Value(id), 64)
		switch {
		case a.Outcome == home.Done:
			y.done.Add(1)
			if r.sim.Value(id) != home.Unavailable && (err != nil || int(is) != value) {
				t.Errorf("%s to %d is said to be done, and is %s: %s", id, value, r.sim.Value(id), a.JSON)
			}
		case a.Outcome == home.Already:
			t.Errorf("%s to %d is said to have been so: %s", id, value, a.JSON)
		case a.Outcome == home.Sent:
			y.sent.Add(1)
		case a.Outcome == home.Unclear:
			y.unclear.Add(1)
		case a.Err != nil && a.Err.Code == home.Offline:
			y.unsent.Add(1)
			if err == nil && int(is) == value {
				t.Errorf("%s to %d is said not to have been sent, and is there: %v", id, value, a.Err)
			}
			n-- // what was never sent is tried again
		default:
			y.failed.Add(1)
			if err == nil && int(is) == value {
				t.Errorf("%s to %d is said to have failed, and is there: %s %v", id, value, a.JSON, a.Err)
			}
		}
		pass(time.Duration(200+rng.IntN(1800)) * time.Millisecond)
	}
}

// read asks everything there is to ask; answers may be errors, but of known kinds.
func (r *rig) read(t *testing.T, ctx context.Context, seed uint64) {
	asks := []struct{ name, args string }{
		{"house_overview", `{}`}, {"hearth_status", `{}`}, {"entity_search", `{"query":"kichen lihgt"}`}, {"entity_list", `{"domain":["light"]}`},
		{"entity_get", `{"entity_id":["number.large_range"]}`}, {"entity_get", `{"entity_id":["light.bed_light"],"fresh":true}`},
		{"history_get", `{"entity_id":["number.large_range"]}`}, {"journal_query", `{}`}, {"journal_why", `{"entity_id":"number.large_range"}`},
		{"area_list", `{}`}, {"device_list", `{}`}, {"service_list", `{}`},
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	for ctx.Err() == nil {
		ask := asks[rng.IntN(len(asks))]
		a := r.call(ctx, ask.name, ask.args)
		// A house that refuses the token denies what is read from it anew.
		if a.Err != nil && (a.Err.Code == home.Internal || a.Err.Code == home.Invalid || a.Err.Code == home.Denied && !strings.Contains(ask.args, "fresh")) {
			t.Errorf("%s %s: %v", ask.name, ask.args, a.Err)
		}
		if a.Err == nil && !json.Valid(a.JSON) {
			t.Errorf("%s: no JSON: %s", ask.name, a.JSON)
		}
		pass(time.Duration(1000+rng.IntN(4000)) * time.Millisecond)
	}
}

func TestChaos(t *testing.T) {
	inChaos(t, func(t *testing.T, r *rig) {
		r.sim.ResetCalls()
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		var y tally
		for i, id := range []string{"number.large_range", "number.small_range", "number.volume"} {
			busy.Go(func() { r.write(t, ctx, id, &y, uint64(i)) })
			busy.Go(func() { r.read(t, ctx, uint64(i)) })
		}
		rng := rand.New(rand.NewPCG(11, 1))
		faults := []simhome.Fault{simhome.Drop, simhome.Stall, simhome.HalfOpen, simhome.Malformed, simhome.Reordered, simhome.Slow,
			simhome.AuthInvalid, simhome.Restart, simhome.NoAnswer, simhome.CutOnCall, simhome.Refuse}
		var plan [][]simhome.Fault
		for _, f := range faults {
			plan = append(plan, []simhome.Fault{f})
		}
		plan = append(plan, []simhome.Fault{simhome.Oversized})
		for range 5 {
			plan = append(plan, []simhome.Fault{faults[rng.IntN(len(faults))], faults[rng.IntN(len(faults))]})
		}
		for _, fs := range plan {
			for _, f := range fs {
				r.sim.Inject(f)
				pass(time.Duration(rng.IntN(3000)) * time.Millisecond)
			}
			pass(time.Duration(5+rng.IntN(30)) * time.Second)
			r.sim.Heal()
			pass(time.Duration(rng.IntN(2000)) * time.Millisecond)
		}
		r.sim.Heal()
		stop()
		busy.Wait()
		r.recovered(t, "the last fault")
		t.Log(y.String())
		calls := int32(r.sim.Calls("number.set_value"))
		if least, most := y.done.Load()+y.sent.Load(), y.done.Load()+y.sent.Load()+y.unclear.Load()+y.failed.Load(); calls < least || calls > most {
			t.Errorf("the house got %d calls, and at least %d and at most %d were told of", calls, least, most)
		}
		if y.done.Load() < 20 || y.unclear.Load() == 0 || y.unsent.Load() == 0 {
			t.Errorf("this chaos tests little: %s", y.String())
		}
		if a := r.call(t.Context(), "service_call", `{"service":"light.turn_on","entity_id":["light.bed_light"],"data":{"brightness_pct":41}}`); a.Outcome != home.Done {
			t.Errorf("after all of it: %s %v", a.JSON, a.Err)
		}
	})
}

// A house that cannot be reached is answered for from memory, marked stale, and
// the journal has a hole for just that time.
func TestAnOutageIsToldAndLeavesAHole(t *testing.T) {
	inChaos(t, func(t *testing.T, r *rig) {
		pass(time.Minute)
		begin := time.Now()
		r.sim.Inject(simhome.Refuse)
		r.sim.Inject(simhome.Drop)
		pass(2 * time.Minute)
		a := r.call(t.Context(), "entity_get", `{"entity_id":["light.bed_light"]}`)
		if a.Err != nil || !strings.Contains(string(a.JSON), "stale") {
			t.Errorf("during the outage: %s %v", a.JSON, a.Err)
		}
		a = r.call(t.Context(), "journal_query", `{"entity_id":["light.bed_light"],"from":"1m"}`)
		if a.Err != nil || !strings.Contains(string(a.JSON), `"complete":false`) {
			t.Errorf("the journal during the outage: %s %v", a.JSON, a.Err)
		}
		sent := r.sim.CallsTotal()
		a = r.call(t.Context(), "service_call", `{"service":"light.turn_on","entity_id":["light.bed_light"]}`)
		if a.Err == nil || a.Err.Code != home.Offline {
			t.Errorf("a write during the outage: %s %v", a.JSON, a.Err)
		}
		r.sim.Heal()
		r.recovered(t, "the outage")
		end := time.Now()
		pass(time.Minute)
		if r.sim.CallsTotal() != sent {
			t.Error("the write that was refused went out later")
		}
		a = r.call(t.Context(), "entity_get", `{"entity_id":["light.bed_light"]}`)
		if a.Err != nil || strings.Contains(string(a.JSON), "stale") {
			t.Errorf("after the outage: %s %v", a.JSON, a.Err)
		}
		if c, err := r.book.Coverage(t.Context(), begin, end); err != nil || c.Complete || len(c.Gaps) == 0 || c.Gaps[0].From.Sub(begin).Abs() > time.Second || end.Sub(c.Gaps[0].To) > 2*time.Second {
			t.Errorf("over the outage (%v to %v): %+v %v", begin, end, c, err)
		}
		if c, err := r.book.Coverage(t.Context(), end, time.Now()); err != nil || !c.Complete {
			t.Errorf("after the outage: %+v %v", c, err)
		}
	})
}
