package hass

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

func code(t *testing.T, err error, want home.Code) {
	t.Helper()
	if got := home.CodeOf(err); got != want {
		t.Errorf("error %v has code %q, want %q", err, got, want)
	}
}

var lightOn = home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Entities: []home.EntityID{"light.kitchen"}}}

func TestSnapshotComesWhole(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		rs := r.took()
		if got := kinds(rs); got != "link snapshot bodies" {
			t.Fatalf("reports: %s", got)
		}
		s := find(rs, home.ReportSnapshot)
		if !rs[0].Up || len(s.Patches) != 2 || s.Info.Zone != "Europe/Amsterdam" || s.Info.Components != 1 {
			t.Errorf("snapshot: %+v", s)
		}
		reg := s.Registries
		if len(reg.Entities) != 3 || len(reg.Devices) != 1 || len(reg.Areas) != 1 || len(reg.Floors) != 1 || len(reg.Labels) != 1 {
			t.Errorf("registries: %+v", reg)
		}
		if len(reg.Users) != 2 || reg.Users[1].Person != "person.ann" || reg.Composites["old"][0] != "d1" {
			t.Errorf("users %+v, composites %v", reg.Users, reg.Composites)
		}
		for _, e := range reg.Entities {
			if e.ID == "light.kitchen" && (len(e.Aliases) != 1 || e.Aliases[0] != "cooker" || !e.HasEntity || e.Device != "d1" || e.Labels[0] != "warm") {
				t.Errorf("row: %+v", e)
			}
		}
		sv := s.Services
		if len(sv) != 1 || len(sv[0].Fields) != 2 || sv[0].Fields[1].Name != "flash" || sv[0].Response != "none" {
			t.Errorf("services: %+v", sv)
		}
		b := find(rs, home.ReportBodies).Bodies
		if len(b) != 1 || string(b[0].Config) != `{"alias":"Wake"}` {
			t.Errorf("bodies: %+v", b)
		}
		if admin, known := r.client.Admin(); !admin || !known || r.client.User() != "me" {
			t.Error("who we are is not known")
		}
		if _, lit := r.health.Has(health.HassOffline); lit {
			t.Error("offline is lit")
		}
	})
}

func TestWhatComesDuringSetUpFollowsTheSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("get_config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			p.event("call_service", `{"domain":"light","service":"turn_on"}`)
			p.event("entity_registry_updated", `{"action":"update","entity_id":"light.kitchen","changes":{}}`)
			return false
		})
		r.on("subscribe_entities", func(p *peer, id int64, m map[string]json.RawMessage) bool {
			p.usual("subscribe_entities", id, m)
			p.differ(`{"c":{"light.kitchen":{"+":{"s":"off"}}}}`)
			return true
		})
		r.up()
		rs := r.took()
		if got := kinds(rs); !strings.HasPrefix(got, "link snapshot event states") {
			t.Fatalf("reports: %s", got)
		}
		pass(settleTime)
		more := append(rs, r.took()...)
		e := find(more, home.ReportEntities)
		if e == nil || len(e.Registries.Entities) != 1 || e.Registries.Entities[0].ID != "light.kitchen" {
			t.Errorf("the row named during set-up was not read again: %s", kinds(more))
		}
	})
}

func TestConnectTakesAtMost15Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.silent = true })
		r.start()
		pass(15*time.Second - time.Millisecond)
		if rs := r.took(); len(rs) != 0 {
			t.Fatalf("gave up early: %+v", rs)
		}
		pass(time.Millisecond)
		rs := r.took()
		if len(rs) != 1 || rs[0].Up || !strings.Contains(rs[0].Reason, "15s") {
			t.Fatalf("reports: %+v", rs)
		}
		if c, lit := r.health.Has(health.HassOffline); !lit || !strings.Contains(c.Text, "15s") {
			t.Errorf("condition: %+v", c)
		}
	})
}

func TestReadsWaitForTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.refuse = errRefused })
		r.start()
		synctest.Wait()
		begin := time.Now()
		got := make(chan error, 1)
		go func() { got <- r.client.Call(t.Context(), "config/area_registry/list", nil, nil) }()
		pass(500 * time.Millisecond)
		r.set(func() { r.refuse = nil })
		if err := <-got; err != nil {
			t.Errorf("the read was not flushed: %v", err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestReadsWaitAtMost10Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.silent = true })
		r.start()
		synctest.Wait()
		begin := time.Now()
		err := r.client.Call(t.Context(), "get_config", nil, nil)
		code(t, err, home.Offline)
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %s, want %s", took, 10*time.Second)
		}
	})
}

func TestReadsDoNotWaitForWhatCannotCome(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.refuse = errRefused })
		r.start()
		pass(3 * time.Minute) // the pace is 30 s now
		for range 31 {
			r.client.mu.Lock()
			far := time.Until(r.client.next) >= 10*time.Second
			r.client.mu.Unlock()
			if far {
				break
			}
			pass(time.Second)
		}
		begin := time.Now()
		code(t, r.client.Call(t.Context(), "get_config", nil, nil), home.Offline)
		if took := time.Since(begin); took != 0 {
			t.Errorf("it waited %s for an attempt that is further away", took)
		}
	})
}

func TestAWriteNeverWaits(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.silent = true })
		r.start()
		synctest.Wait()
		begin := time.Now()
		_, _, err := r.actor.CallService(t.Context(), lightOn)
		code(t, err, home.Offline)
		if took := time.Since(begin); took != 0 {
			t.Errorf("it waited %s", took)
		}
		r.set(func() { r.silent = false })
		pass(time.Minute)
		if n := r.count("call_service"); n != 0 {
			t.Errorf("it was sent %d times later", n)
		}
	})
}

func TestAWriteIsReadyOnlyWithTheSnapshot(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var during error
		r.on("get_services", func(*peer, int64, map[string]json.RawMessage) bool {
			_, _, during = r.actor.CallService(t.Context(), lightOn)
			return false
		})
		r.up()
		code(t, during, home.Offline)
		c, _, err := r.actor.CallService(t.Context(), lightOn)
		if err != nil || c.ID != "ctx9" || c.User != "me" || r.count("call_service") != 1 {
			t.Errorf("context %+v, error %v", c, err)
		}
	})
}

func TestACommandTakesAtMost30Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("search/related", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		r.on("call_service", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		r.up()
		begin := time.Now()
		code(t, r.client.Call(t.Context(), "search/related", nil, nil), home.Timeout)
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("a read took %s", took)
		}
		begin = time.Now()
		_, _, err := r.actor.CallService(t.Context(), lightOn)
		code(t, err, home.Timeout)
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("a write took %s", took)
		}
		if up, _ := r.client.Online(); !up || r.count("call_service") != 1 {
			t.Error("the session should live, and the write be sent once")
		}
	})
}

func TestACallersDeadlineLeavesTheSessionAlone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("call_service", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		r.up()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := r.actor.CallService(ctx, lightOn)
		code(t, err, home.Timeout)
		if up, _ := r.client.Online(); !up {
			t.Error("the session ended with its caller")
		}
	})
}

func TestPing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(30*time.Second + time.Second)
		if n := r.count("ping"); n != 1 {
			t.Fatalf("%d pings after %s", n, 30*time.Second)
		}
		r.took()
		r.on("ping", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		r.on("call_service", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		pass(30*time.Second - 2*time.Second)
		failed := make(chan error, 2)
		begin := time.Now()
		go func() { failed <- r.client.Call(t.Context(), "search/related", nil, nil) }()
		r.on("search/related", func(*peer, int64, map[string]json.RawMessage) bool { return true })
		go func() {
			_, _, err := r.actor.CallService(t.Context(), lightOn)
			failed <- err
		}()
		for range 2 {
			err := <-failed
			if took := time.Since(begin); took != time.Second+5*time.Second {
				t.Errorf("pending calls failed after %s, want %s", took, time.Second+5*time.Second)
			}
			if !strings.Contains(err.Error(), "to a ping within") {
				t.Errorf("the close reason is missing: %v", err)
			}
		}
		rs := r.took()
		if len(rs) == 0 || rs[0].Kind != home.ReportLink || rs[0].Up || !rs[0].Silent || !strings.Contains(rs[0].Reason, "ping") {
			t.Errorf("reports: %s", kinds(rs))
		}
		if n := r.count("call_service"); n != 1 {
			t.Errorf("the write was sent %d times", n)
		}
	})
}

func TestALongAnswerBeforeThePongIsLife(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("ping", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			go func() {
				for range 4 {
					pass(5*time.Second - time.Second)
					p.differ(`{"c":{"light.kitchen":{"+":{"s":"off"}}}}`)
				}
				p.usual("ping", id, nil)
			}()
			return true
		})
		r.up()
		pass(30*time.Second + 20*time.Second)
		if up, why := r.client.Online(); !up {
			t.Errorf("the session ended: %s", why)
		}
		if r.client.Latency() != 16*time.Second {
			t.Errorf("latency %s", r.client.Latency())
		}
	})
}

func TestAWriteIsNeverSentAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("call_service", func(p *peer, _ int64, _ map[string]json.RawMessage) bool { p.drop(); return true })
		r.up()
		_, _, err := r.actor.CallService(t.Context(), lightOn)
		code(t, err, home.Timeout)
		if !strings.Contains(err.Error(), "may have happened") {
			t.Errorf("error: %v", err)
		}
		pass(5 * time.Minute)
		if up, why := r.client.Online(); !up {
			t.Errorf("the link did not come back: %s", why)
		}
		if n := r.count("call_service"); n != 1 {
			t.Errorf("the write was sent %d times", n)
		}
		for _, rep := range r.took() {
			if rep.Kind == home.ReportLink && !rep.Up && rep.Silent {
				t.Error("a link that was closed in plain sight is called silent")
			}
		}
	})
}

func TestAReadThatBreaksSaysWhy(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("get_panels", func(p *peer, _ int64, _ map[string]json.RawMessage) bool { p.drop(); return true })
		r.up()
		err := r.client.Call(t.Context(), "get_panels", nil, nil)
		code(t, err, home.Offline)
		if !strings.Contains(err.Error(), "closed by the other side") {
			t.Errorf("error: %v", err)
		}
	})
}

func TestReconnectSlowsDown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.refuse = errRefused })
		r.start()
		pass(5 * time.Minute)
		r.fake.mu.Lock()
		dials := append([]time.Time(nil), r.dials...)
		r.fake.mu.Unlock()
		want := time.Second
		jittered := false
		for i := 1; i < len(dials); i++ {
			gap := dials[i].Sub(dials[i-1])
			low, high := time.Duration(float64(want)*(1-0.2)), min(time.Duration(float64(want)*(1+0.2))+time.Millisecond, 30*time.Second)
			if gap < low || gap > high {
				t.Errorf("gap %d is %s, want %s to %s", i, gap, low, high)
			}
			jittered = jittered || gap != want
			want = min(2*want, 30*time.Second)
		}
		if len(dials) < 10 || !jittered {
			t.Errorf("%d dials, jitter %v", len(dials), jittered)
		}
		if rs := r.took(); len(rs) != 1 || rs[0].Up {
			t.Errorf("being down is told once: %s", kinds(rs))
		}
	})
}

func TestAStableSessionStartsAnew(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.refuse = errRefused })
		r.start()
		pass(2 * time.Minute)
		r.set(func() { r.refuse = nil })
		pass(31 * time.Second)
		if up, _ := r.client.Online(); !up {
			t.Fatal("not up")
		}
		for _, c := range []struct {
			lasts time.Duration
			waits time.Duration
		}{{time.Minute, 1200 * time.Millisecond}, {time.Second, 2400 * time.Millisecond}, {time.Minute, 1200 * time.Millisecond}} {
			pass(c.lasts)
			r.peer().drop()
			pass(c.waits)
			synctest.Wait()
			if up, why := r.client.Online(); !up {
				t.Fatalf("after a session of %s not back within %s: %s", c.lasts, c.waits, why)
			}
		}
	})
}

func TestARefusedTokenSlowsDown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.token = "another" })
		r.start()
		pass(10 * time.Second)
		synctest.Wait()
		r.fake.mu.Lock()
		n, third := len(r.dials), r.dials[len(r.dials)-1]
		r.fake.mu.Unlock()
		if n != 3 {
			t.Fatalf("%d attempts in ten seconds, want %d", n, 3)
		}
		c, lit := r.health.Has(health.HassAuth)
		if !lit || !strings.Contains(c.Text, "Invalid access token") {
			t.Errorf("condition: %+v", c)
		}
		r.set(func() { r.token = "right" })
		pass(5 * time.Minute)
		synctest.Wait()
		r.fake.mu.Lock()
		gap := r.dials[len(r.dials)-1].Sub(third)
		r.fake.mu.Unlock()
		if gap != 5*time.Minute {
			t.Errorf("the fourth attempt came after %s", gap)
		}
		if _, lit := r.health.Has(health.HassAuth); lit {
			t.Error("the condition stays lit")
		}
	})
}

func TestTheReadLimitNamesTheCause(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("get_panels", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			p.result(id, `"`+strings.Repeat("x", 64<<20)+`"`)
			return true
		})
		r.up()
		err := r.client.Call(t.Context(), "get_panels", nil, nil)
		for _, want := range []string{"larger than 64 MiB", "get_panels"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v lacks %q", err, want)
			}
		}
	})
}

func TestManyCommandsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		done := make(chan error, 200)
		for range cap(done) {
			go func() { done <- r.client.Call(t.Context(), "config/label_registry/list", nil, nil) }()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
