package hass

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

func TestListsAreReadAgainWhenEventsSaySo(t *testing.T) {
	for _, c := range []struct {
		event, data string
		want        string
	}{
		{"device_registry_updated", `{"action":"update","device_id":"d1"}`, "registry"},
		{"area_registry_updated", `{"action":"update","area_id":"kitchen"}`, "registry"},
		{"floor_registry_updated", `{"action":"create"}`, "registry"},
		{"label_registry_updated", `{"action":"remove"}`, "registry"},
		{"user_added", `{"user_id":"u2"}`, "registry"},
		{"service_registered", `{"domain":"light","service":"blink"}`, "services"},
		{"core_config_updated", `{"time_zone":"UTC"}`, "info"},
		{"homeassistant_started", `{}`, "event info"},
		{"call_service", `{"domain":"light","service":"turn_on"}`, "event"},
		{"automation_triggered", `{"name":"Wake"}`, "event"},
		{"mobile_app_notification_action", `{"action":"YES"}`, "event"},
		{"automation_reloaded", `{}`, "event bodies bodies"},
	} {
		t.Run(c.event, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.up()
				pass(2 * time.Second) // beyond the gap between two reads of a list
				r.took()
				r.peer().event(c.event, c.data)
				pass(settleTime)
				rs := r.took()
				if got := kinds(rs); got != c.want {
					t.Errorf("reports: %q, want %q", got, c.want)
				}
				if e := find(rs, home.ReportEvent); e != nil {
					at := time.Date(2026, 11, 30, 15, 34, 20, 944442000, time.UTC)
					if e.Event.Type != c.event || !e.Event.Fired.Equal(at) || string(e.Event.Data) != c.data || e.Event.Context.User != "u_ann" || e.Event.Origin != "LOCAL" {
						t.Errorf("event: %+v", e.Event)
					}
				}
			})
		})
	}
}

func TestAnEmptyListIsAListToo(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(2 * time.Second)
		r.took()
		r.on("config/label_registry/list", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			p.result(id, `[]`)
			return true
		})
		r.peer().event("label_registry_updated", `{"action":"remove"}`)
		pass(settleTime)
		reg := find(r.took(), home.ReportRegistry)
		if reg == nil || reg.Registries.Labels == nil || len(reg.Registries.Labels) != 0 || reg.Registries.Areas != nil {
			t.Errorf("report: %+v", reg)
		}
	})
}

func TestAStormOfEventsIsOneRead(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(2 * time.Second)
		before := r.count("config/device_registry/list")
		rows := r.count("config/entity_registry/get_entries")
		for range 500 {
			r.peer().event("device_registry_updated", `{"action":"update","device_id":"d1"}`)
			r.peer().event("entity_registry_updated", `{"action":"update","entity_id":"light.kitchen"}`)
		}
		pass(5 * time.Second)
		synctest.Wait()
		if n := r.count("config/device_registry/list") - before; n > 2 {
			t.Errorf("the devices were read %d times", n)
		}
		if n := r.count("config/entity_registry/get_entries") - rows; n > 2 {
			t.Errorf("the row was read %d times", n)
		}
	})
}

func TestAStormDoesNotPutTheReadOff(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(2 * time.Second)
		r.took()
		for range 50 {
			r.peer().event("entity_registry_updated", `{"action":"update","entity_id":"light.kitchen"}`)
			pass(settleTime / 10)
		}
		if n := strings.Count(kinds(r.took()), "entities"); n < 4 || n > 6 {
			t.Errorf("%d reads in half a second", n)
		}
	})
}

func TestRenameRemovalAndNewRow(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		r.took()
		r.set(func() {
			row := r.entities["light.kitchen"]
			delete(r.entities, "light.kitchen")
			r.entities["light.stove"] = strings.Replace(row, "light.kitchen", "light.stove", 1)
		})
		begin := time.Now()
		r.peer().event("entity_registry_updated", `{"action":"update","entity_id":"light.stove","old_entity_id":"light.kitchen","changes":{"entity_id":"light.kitchen"}}`)
		e := find(r.took(), home.ReportEntities)
		if e == nil || time.Since(begin) != 0 {
			t.Fatal("a rename must not wait")
		}
		if e.Renamed["light.kitchen"] != "light.stove" || len(e.RemovedEntities) != 1 || e.RemovedEntities[0] != "light.kitchen" ||
			len(e.Registries.Entities) != 1 || e.Registries.Entities[0].ID != "light.stove" || e.Registries.Entities[0].RegistryID != "r1" {
			t.Errorf("report: %+v %+v", e, e.Registries)
		}
		r.set(func() { delete(r.entities, "light.stove") })
		r.peer().event("entity_registry_updated", `{"action":"remove","entity_id":"light.stove"}`)
		pass(settleTime)
		if e := find(r.took(), home.ReportEntities); e == nil || len(e.RemovedEntities) != 1 || len(e.Registries.Entities) != 0 || e.Renamed != nil {
			t.Errorf("removal: %+v", e)
		}
	})
}

func TestAListThatFailsIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(2 * time.Second)
		fails := 1
		r.on("config/area_registry/list", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			if fails == 0 {
				return false
			}
			fails--
			p.fail(id, "unknown_error", "Unknown error")
			return true
		})
		r.took()
		r.peer().event("area_registry_updated", `{"action":"update"}`)
		pass(time.Second)
		if rs := r.took(); len(rs) != 0 {
			t.Fatalf("reports: %s", kinds(rs))
		}
		pass(5 * time.Second)
		if got := kinds(r.took()); got != "registry" {
			t.Errorf("reports: %s", got)
		}
	})
}

func TestEverythingIsReadAgainEveryTenMinutes(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		pass(time.Minute)
		r.took()
		pass(8 * time.Minute)
		if rs := r.took(); len(rs) != 0 {
			t.Fatalf("reports: %s", kinds(rs))
		}
		pass(2 * time.Minute)
		rs := r.took()
		got := kinds(rs)
		if strings.Count(got, "registry") != 6 || !strings.Contains(got, "services") || !strings.Contains(got, "info") {
			t.Errorf("reports: %s", got)
		}
		rows := 0
		for _, rep := range rs {
			if rep.Registries != nil {
				rows += len(rep.Registries.Entities)
			}
		}
		if rows != 3 {
			t.Errorf("%d rows of the entity registry", rows)
		}
	})
}

func TestAHouseThatStartsIsLookedAtAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		running := false
		r.on("get_config", func(p *peer, id int64, m map[string]json.RawMessage) bool {
			if running {
				return false
			}
			p.result(id, `{"state":"STARTING"}`)
			return true
		})
		r.up()
		pass(time.Minute)
		r.took()
		r.set(func() { running = true })
		pass(6 * time.Second)
		if i := find(r.took(), home.ReportInfo); i == nil || i.Info.State != "RUNNING" {
			t.Errorf("info: %+v", i)
		}
		pass(time.Minute)
		if rs := r.took(); len(rs) != 0 {
			t.Errorf("a running house is left alone: %s", kinds(rs))
		}
	})
}

func TestResync(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		r.took()
		old := r.peer().live
		r.set(func() { r.states = `{"light.kitchen":{"s":"off","a":{},"c":"ctx3","lc":1796052870}}` })
		r.on("config/area_registry/list", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			p.event("call_service", `{"domain":"light"}`)
			p.send(fmt.Sprintf(`{"type":"event","event":{"c":{"light.kitchen":{"+":{"s":"blue"}}}},"id":%d}`, old))
			return false
		})
		r.client.Resync()
		rs := r.took()
		if got := kinds(rs); got != "snapshot event" {
			t.Fatalf("reports: %s", got)
		}
		if p := rs[0].Patches; len(p) != 1 || *p[0].Value != "off" || !p[0].Full {
			t.Errorf("patches: %+v", p)
		}
		if n := r.count("unsubscribe_events"); n != 1 {
			t.Errorf("the old subscription was given up %d times", n)
		}
		r.peer().differ(`{"c":{"light.kitchen":{"+":{"s":"on"}}}}`)
		if got := kinds(r.took()); got != "states" {
			t.Errorf("afterwards: %s", got)
		}
	})
}

func TestASnapshotThatBreaksKeepsItsEvents(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.on("get_config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			p.event("call_service", `{"domain":"light"}`)
			r.on("get_config", nil)
			<-time.After(time.Second) // passes once the event was read: a break discards what was not
			p.drop()
			return true
		})
		r.start()
		pass(1500 * time.Millisecond)
		rs := r.took()
		if got := kinds(rs); got != "event link" || rs[1].Up {
			t.Errorf("reports: %s", got)
		}
		pass(2 * time.Second)
		if got := kinds(r.took()); !strings.HasPrefix(got, "link snapshot") {
			t.Errorf("then: %s", got)
		}
	})
}

func TestBadFrames(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		r.took()
		live := r.peer().live
		r.peer().send(`{"type":"event","id":` + "\x00")
		r.peer().send(fmt.Sprintf(`[{"type":"event","event":{"c":{"light.kitchen":{"+":{"s":"off"}}}},"id":%d},{"no":"type"},{"type":"event","event":{"c":{"light.kitchen":{"+":{"s":7}}}},"id":%d},{"type":"event","event":{"c":{"light.kitchen":{"+":{"s":"on"}}}},"id":%d}]`, live, live, live))
		rs := r.took()
		got := kinds(rs)
		if !strings.Contains(got, "states") || !strings.Contains(got, "snapshot") {
			t.Errorf("reports: %s", got)
		}
		var values []string
		for _, rep := range rs {
			for _, p := range rep.Patches {
				if !p.Full {
					values = append(values, *p.Value)
				}
			}
		}
		if strings.Join(values, " ") != "off on" {
			t.Errorf("the good messages of a frame: %v", values)
		}
		if n := r.health.Counter("hass.frames.bad").Load(); n != 3 {
			t.Errorf("%d bad frames", n)
		}
		if s := r.client.BadFrames(); len(s) != 3 || !strings.Contains(s[1].Head, `{"no":"type"}`) || s[1].Size != 13 {
			t.Errorf("samples: %+v", s)
		}
		if _, lit := r.health.Has(health.HassFrames); !lit {
			t.Error("the condition is not lit")
		}
		if up, _ := r.client.Online(); !up {
			t.Error("the session ended")
		}
		for range 30 {
			r.peer().send(`?`)
		}
		synctest.Wait()
		if s := r.client.BadFrames(); len(s) != 20 {
			t.Errorf("%d samples are kept", len(s))
		}
		if n := r.count("subscribe_entities"); n != 2 {
			t.Errorf("broken frames asked for %d snapshots within a minute", n-1)
		}
		pass(61 * time.Second)
		if n := r.count("subscribe_entities"); n != 3 {
			t.Errorf("after a minute there were %d snapshots for the frames lost meanwhile", n-1)
		}
		pass(21 * time.Minute)
		if _, lit := r.health.Has(health.HassFrames); lit {
			t.Error("the condition stays lit")
		}
	})
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		r.took()
		r.peer().differ(`{"c":{"light.kitchen":{"+":{"s":"a` + "\xff" + `b"}}}}`)
		rs := r.took()
		if s := find(rs, home.ReportStates); s == nil || *s.Patches[0].Value != "a\uFFFDb" {
			t.Errorf("reports: %+v", rs)
		}
	})
}

func TestATokenThatIsNoAdministrators(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.set(func() { r.admin = false })
		r.up()
		rs := r.took()
		s := find(rs, home.ReportSnapshot)
		if s == nil || len(s.Registries.Users) != 2 || s.Registries.Users[0].Name != "Hearth" || s.Registries.Users[1].Name != "Ann" {
			t.Fatalf("the users are not our own account and the person: %+v", s)
		}
		if b := find(rs, home.ReportBodies); b == nil || b.Bodies[0].Missing != home.NoRights {
			t.Errorf("bodies: %+v", b)
		}
		c, lit := r.health.Has(health.HassNotAdmin)
		if !lit || !strings.Contains(c.Text, "automations") {
			t.Errorf("condition: %+v", c)
		}
		if n := r.count("subscribe_events"); n != len(openEvents()) {
			t.Errorf("%d events were asked for", n)
		}
		if err := r.client.Call(t.Context(), "config/area_registry/list", nil, nil); err != nil {
			t.Errorf("what it may does not work: %v", err)
		}
		code(t, r.client.Call(t.Context(), "config/auth/list", nil, nil), home.Denied)
		if _, _, err := r.actor.CallService(t.Context(), lightOn); err != nil {
			t.Errorf("a write it may: %v", err)
		}
	})
}

func TestAnOlderHomeAssistant(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, kind := range []string{"supported_features", "config/floor_registry/list", "config/label_registry/list", "config/device_registry/list_composite_splits", "config/entity_registry/get_entries", "person/list"} {
			r.on(kind, func(p *peer, id int64, _ map[string]json.RawMessage) bool {
				p.fail(id, "unknown_command", "Unknown command.")
				return true
			})
		}
		r.up()
		if s := find(r.took(), home.ReportSnapshot); s == nil || len(s.Registries.Entities) != 3 {
			t.Errorf("snapshot: %+v", s)
		}
	})
}

func TestBodies(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var states []string
		for i := range 100 {
			states = append(states, fmt.Sprintf(`"script.s%d":{"s":"off","a":{},"c":"x","lc":1}`, i))
		}
		states = append(states, `"scene.movie":{"s":"unknown","a":{"id":"movie"},"c":"x","lc":1}`, `"scene.hue":{"s":"unknown","a":{},"c":"x","lc":1}`)
		r.set(func() { r.states = "{" + strings.Join(states, ",") + "}" })
		var mu sync.Mutex
		now, most := 0, 0
		r.on("script/config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			go func() {
				pass(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
				p.result(id, `{"config":{"alias":"S"}}`)
			}()
			return true
		})
		r.server.Handler.(*http.ServeMux).HandleFunc("/api/config/scene/config/movie", func(w http.ResponseWriter, q *http.Request) {
			if q.Header.Get("Authorization") != "Bearer right" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = w.Write([]byte(`{"id":"movie"}`))
		})
		r.up()
		pass(time.Minute)
		got := map[home.EntityID]home.Body{}
		for _, rep := range r.took() {
			for _, b := range rep.Bodies {
				got[b.Entity] = b
			}
		}
		if len(got) != 102 || string(got["scene.movie"].Config) != `{"id":"movie"}` || got["scene.hue"].Missing != home.NoID || string(got["script.s7"].Config) != `{"alias":"S"}` {
			t.Errorf("%d bodies: %+v", len(got), got["scene.movie"])
		}
		if most != 4 {
			t.Errorf("%d at once", most)
		}
		r.peer().event("call_service", `{"domain":"script","service":"reload"}`)
		pass(time.Second)
		after := r.took()
		if got := kinds(after); got != "event bodies" {
			t.Fatalf("right after the call: %s", got)
		}
		for _, b := range find(after, home.ReportBodies).Bodies {
			if !b.Old || b.Config != nil || b.Entity.Domain() != "script" {
				t.Errorf("a reload must put what is known in doubt: %+v", b)
			}
		}
		pass(time.Minute)
		if b := find(r.took(), home.ReportBodies); b == nil {
			t.Error("a reload must be followed by a new look")
		}
		r.peer().differ(`{"a":{"script.new":{"s":"off","a":{},"c":"x","lc":1}}}`)
		pass(2 * time.Second)
		if b := find(r.took(), home.ReportBodies); b == nil || b.Bodies[0].Entity != "script.new" {
			t.Errorf("a new script: %+v", b)
		}
	})
}

func TestABodyThatFailsIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		fails := 1
		r.on("automation/config", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
			if fails == 0 {
				return false
			}
			fails--
			p.fail(id, "unknown_error", "Unknown error")
			return true
		})
		r.up()
		pass(time.Second)
		if find(r.took(), home.ReportBodies) != nil {
			t.Error("there should be none yet")
		}
		pass(30 * time.Second)
		if find(r.took(), home.ReportBodies) == nil {
			t.Error("it was not tried again")
		}
	})
}

func TestCallOnlyReads(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.up()
		for _, kind := range []string{
			"call_service", "fire_event", "execute_script", "config/area_registry/create", "config/area_registry/update", "config/area_registry/delete",
			"config/auth/create", "auth/long_lived_access_token", "lovelace/config/save", "input_boolean/create", "conversation/process",
			"subscribe_entities", "subscribe_events", "unsubscribe_events", "render_template", "homeassistant/expose_entity", "backup/generate", "",
		} {
			code(t, r.client.Call(t.Context(), kind, nil, nil), home.Denied)
			if n := r.count(kind); n != 0 && !strings.HasPrefix(kind, "subscribe") {
				t.Errorf("%s was sent", kind)
			}
		}
		var rows []areaRow
		if err := r.client.Call(t.Context(), "config/area_registry/list", nil, &rows); err != nil || rows[0].ID != "kitchen" {
			t.Errorf("rows %+v, error %v", rows, err)
		}
	})
}

func TestServiceErrors(t *testing.T) {
	for _, c := range []struct {
		fault, message string
		want           home.Code
		says           string
	}{
		{"not_found", "Service light.nope not found.", home.NotFound, `no service "light.turn_on"`},
		{"invalid_format", "expected float at 'brightness_pct'", home.Invalid, "brightness_pct"},
		{"service_validation_error", "Validation error: too hot", home.Invalid, "too hot"},
		{"home_assistant_error", "the bridge\nis gone " + strings.Repeat("x", 1000), home.Internal, "the bridge is gone"},
		{"unauthorized", "Unauthorized", home.Denied, "administrator"},
		{"timeout", "Timeout", home.Timeout, "may have happened"},
		{"unknown_error", "", home.Internal, "could not carry out"},
	} {
		bubble(t, func(t *testing.T, r *rig) {
			r.on("call_service", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
				p.fail(id, c.fault, c.message)
				return true
			})
			r.up()
			_, _, err := r.actor.CallService(t.Context(), lightOn)
			code(t, err, c.want)
			if !strings.Contains(err.Error(), c.says) || len(err.Error()) > 700 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", c.fault, err)
			}
		})
	}
}

func TestCallServiceSendsWhatWasAsked(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var got map[string]json.RawMessage
		r.on("call_service", func(p *peer, id int64, m map[string]json.RawMessage) bool {
			got = m
			p.result(id, `{"context":{"id":"c","parent_id":null,"user_id":"me"},"response":{"forecast":[]}}`)
			return true
		})
		r.up()
		_, response, err := r.actor.CallService(t.Context(), home.ServiceCall{
			Domain: "weather", Service: "get_forecasts", Response: true, Data: json.RawMessage(`{"type":"daily"}`),
			Target: home.Target{Areas: []home.AreaID{"kitchen"}, Labels: []home.LabelID{"warm"}},
		})
		if err != nil || string(response) != `{"forecast":[]}` {
			t.Errorf("response %s, error %v", response, err)
		}
		for k, want := range map[string]string{
			"domain": `"weather"`, "service": `"get_forecasts"`, "return_response": `true`, "service_data": `{"type":"daily"}`,
			"target": `{"area_id":["kitchen"],"label_id":["warm"]}`,
		} {
			if string(got[k]) != want {
				t.Errorf("%s is %s, want %s", k, got[k], want)
			}
		}
	})
}

// A clock may jump while the session stands, and be put right again.
func TestClockSkewComesAndGoes(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var ahead atomic.Int64
		r.server.Handler.(*http.ServeMux).HandleFunc("/api/{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(time.Duration(ahead.Load())).UTC().Format(http.TimeFormat))
		})
		r.up()
		for _, c := range []struct {
			ahead time.Duration
			want  string
		}{
			{0, ""}, {5 * time.Minute, "5m0s ahead of ours"}, {-3 * time.Minute, "3m0s behind ours"}, {5 * time.Second, ""},
		} {
			ahead.Store(int64(c.ahead))
			pass(refreshTime + 10*time.Second)
			got, lit := r.health.Has(health.ClockSkew)
			if lit != (c.want != "") || !strings.Contains(got.Text, c.want) {
				t.Errorf("house %v ahead: lit %v: %s", c.ahead, lit, got.Text)
			}
		}
		if n := r.health.Counter("hass.sessions").Load(); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}
