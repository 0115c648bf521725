package hands

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/secret"
	"hearth/internal/simhome"
)

// inHouse runs a test on the simulated house with a real link and mirror, in
// synthetic time.
func inHouse(t *testing.T, test func(ctx context.Context, sim *simhome.House, house *mirror.House, do Do)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		quiet := slog.New(slog.DiscardHandler)
		sim := simhome.New(simhome.Options{Seed: 1, Log: quiet})
		l, dial := simhome.Pipe()
		house, w := mirror.New(mirror.Config{Site: "ha"}, nil, quiet, &health.Registry{})
		client, actor, err := hass.New(hass.Config{URL: "http://house:8123", Token: secret.New(sim.HearthToken()), Dial: dial}, quiet, &health.Registry{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = sim.Serve(ctx, l) })
		wg.Go(func() { _ = client.Run(ctx, w.Apply) })
		defer wg.Wait()
		defer cancel()
		soon, done := context.WithTimeout(ctx, time.Minute)
		defer done()
		if _, ok := house.Await(soon, func(v *mirror.View) bool { _, stale := v.Stale(); return !stale && !v.Empty() }); !ok {
			t.Fatal("the house did not come up")
		}
		<-time.After(10 * time.Second) // the link opens for writes a moment after the mirror is live
		if up, why := client.Online(); !up {
			t.Fatal(why)
		}
		test(ctx, sim, house, New(actor, house, quiet, User(client.User)))
	})
}

func TestHouse_LightOnAndAlready(t *testing.T) {
	inHouse(t, func(ctx context.Context, _ *simhome.House, house *mirror.House, do Do) {
		const lamp = "light.bed_light"
		off := step("light.turn_off", home.Expect{Entity: lamp, States: []string{"off"}})
		if res := do(ctx, off, nil, 2*time.Second); res.Outcome != home.Done && res.Outcome != home.Already {
			t.Fatalf("%+v", res)
		}
		s := step("light.turn_on", home.Expect{Entity: lamp, States: []string{"on"}, Attrs: map[string]json.RawMessage{"brightness": json.RawMessage("102")}, Within: 3})
		s.Call.Data = json.RawMessage(`{"brightness_pct":40}`)
		res := do(ctx, s, nil, 2*time.Second)
		if res.Outcome != home.Done || res.Leaves[0].Before != "off" || res.Leaves[0].After != "on, brightness 102 (40 %)" || res.Leaves[0].Note != "" || res.Context.ID == "" {
			t.Errorf("%+v", res)
		}
		if got := house.View().State(lamp); got.Context.ID != res.Context.ID {
			t.Errorf("the state carries context %s, the call had %s", got.Context.ID, res.Context.ID)
		}
		if res = do(ctx, s, nil, 2*time.Second); res.Outcome != home.Already || res.Context.ID != "" {
			t.Errorf("%+v", res)
		}
	})
}

// TestHouse_SilentLinkProvesNothing lets the other end go away without a word:
// until the link notices, nothing may count as already so.
func TestHouse_SilentLinkProvesNothing(t *testing.T) {
	inHouse(t, func(ctx context.Context, sim *simhome.House, house *mirror.House, do Do) {
		const lamp = "light.bed_light"
		off := step("light.turn_off", home.Expect{Entity: lamp, States: []string{"off"}})
		if res := do(ctx, off, nil, 2*time.Second); res.Outcome != home.Done && res.Outcome != home.Already {
			t.Fatalf("%+v", res)
		}
		<-time.After(4 * time.Minute) // quiet, but alive
		begun := time.Now()
		if res := do(ctx, off, nil, 2*time.Second); res.Outcome != home.Already || time.Since(begun) > 100*time.Millisecond {
			t.Errorf("a quiet link: %+v after %v", res, time.Since(begun))
		}
		sim.Inject(simhome.HalfOpen)
		<-time.After(6 * time.Second)
		if _, stale := house.View().Stale(); stale {
			t.Fatal("the link noticed too early for this test")
		}
		if res := do(ctx, off, nil, 2*time.Second); res.Outcome != home.Unclear || home.CodeOf(res.Err) != home.Timeout {
			t.Errorf("a silent link: %+v", res)
		}
	})
}

func TestHouse_LockThatJams(t *testing.T) {
	inHouse(t, func(ctx context.Context, _ *simhome.House, _ *mirror.House, do Do) {
		lock := home.Expect{Entity: "lock.poorly_installed_door", States: []string{"locked"}, Moving: []string{"locking"}}
		res := do(ctx, step("lock.lock", lock), nil, 8*time.Second)
		if res.Outcome != home.Failed || res.Leaves[0].After != "jammed" {
			t.Errorf("%+v", res)
		}
		good := home.Expect{Entity: "lock.kitchen_door", States: []string{"locked"}, Moving: []string{"locking"}}
		if res = do(ctx, step("lock.lock", good), nil, 8*time.Second); res.Outcome != home.Done {
			t.Errorf("%+v", res)
		}
	})
}

func TestHouse_CoverOnItsWay(t *testing.T) {
	inHouse(t, func(ctx context.Context, _ *simhome.House, house *mirror.House, do Do) {
		const id = "cover.hall_window"
		before := house.View().State(id).Value
		service, want := "close_cover", home.Expect{Entity: id, States: []string{"closed"}, Moving: []string{"closing"}}
		if before == "closed" {
			service, want = "open_cover", home.Expect{Entity: id, States: []string{"open"}, Moving: []string{"opening"}}
		}
		begun := time.Now()
		res := do(ctx, step("cover."+service, want), nil, 2*time.Second)
		if res.Outcome != home.Done || res.Leaves[0].After != want.Moving[0] || res.Leaves[0].Note != "on its way" || time.Since(begun) > time.Second {
			t.Errorf("%+v after %v", res, time.Since(begun))
		}
	})
}

func TestHouse_LampThatDoesNotExist(t *testing.T) {
	inHouse(t, func(ctx context.Context, _ *simhome.House, _ *mirror.House, do Do) {
		res := do(ctx, step("light.turn_on", on("light.nope")), nil, time.Second)
		if res.Outcome != home.Failed || res.Leaves[0].Note != entityGone {
			t.Errorf("Home Assistant says success, the house shows nothing: %+v", res)
		}
	})
}

func TestHouse_WrongDataIsRefused(t *testing.T) {
	inHouse(t, func(ctx context.Context, _ *simhome.House, house *mirror.House, do Do) {
		s := step("light.turn_on", home.Expect{Entity: "light.bed_light", States: []string{"on"}, Loose: true})
		s.Call.Data = json.RawMessage(`{"brightness_pct":"banana"}`)
		before := house.View().State("light.bed_light").Value
		res := do(ctx, s, nil, time.Second)
		if res.Outcome != home.Failed || home.CodeOf(res.Err) != home.Invalid || res.Leaves[0].After != before {
			t.Errorf("%+v", res)
		}
	})
}

func TestHouse_LinkDown(t *testing.T) {
	inHouse(t, func(ctx context.Context, sim *simhome.House, house *mirror.House, do Do) {
		sim.Inject(simhome.AuthInvalid)
		sim.Inject(simhome.Drop)
		if _, ok := house.Await(ctx, func(v *mirror.View) bool { _, stale := v.Stale(); return stale }); !ok {
			t.Fatal("the link stays")
		}
		begun := time.Now()
		res := do(ctx, step("light.turn_on", on("light.bed_light")), nil, 8*time.Second)
		if res.Outcome != home.Failed || home.CodeOf(res.Err) != home.Offline || time.Since(begun) != 0 {
			t.Errorf("a write never waits for a link: %+v after %v", res, time.Since(begun))
		}
	})
}

func TestHouse_NoAnswer(t *testing.T) {
	inHouse(t, func(ctx context.Context, sim *simhome.House, _ *mirror.House, do Do) {
		sim.Inject(simhome.Stall)
		begun := time.Now()
		off := home.Expect{Entity: "switch.decorative_lights", States: []string{"off"}}
		res := do(ctx, step("switch.turn_off", off), nil, 2*time.Second)
		// The command may be stuck on this side of the wire or beyond it.
		stuck := res.Outcome == home.Failed && home.CodeOf(res.Err) == home.Offline
		if !stuck && (res.Outcome != home.Unclear || home.CodeOf(res.Err) != home.Timeout) {
			t.Errorf("%+v", res)
		}
		if took := time.Since(begun); took > 45*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
