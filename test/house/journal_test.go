package house_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/test/realhome"
)

// checkHistory makes a helper change a few times and compares the series with
// what the recorder of the house says.
func checkHistory(t *testing.T, h *hearth, ws *realhome.Socket) {
	from := time.Now().Add(-time.Second)
	for _, v := range []float64{31, 55, 42, 60} {
		call(t, ws, "input_number.set_value", "input_number.target_humidity", map[string]any{"value": v})
	}
	recorded := func() []any {
		var all map[string][]map[string]any
		into(t, t.Context(), ws, "history/history_during_period", map[string]any{
			"entity_ids": []string{"input_number.target_humidity"}, "start_time": from.UTC().Format(time.RFC3339Nano),
			"minimal_response": true, "no_attributes": true, "significant_changes_only": false, "include_start_time_state": false,
		}, &all)
		var out []any
		for _, p := range all["input_number.target_humidity"] {
			at, ok := p["lc"].(float64)
			if !ok {
				at = number(p["lu"])
			}
			out = append(out, map[string]any{"v": p["s"], "t": time.UnixMicro(int64(at * 1e6)).UTC().Format(time.RFC3339)})
		}
		return out
	}
	h.until("the recorder has the changes", 15*time.Second, func() bool { return len(recorded()) >= 4 })
	got := h.ask("history_get", map[string]any{"entity_id": []any{"input_number.target_humidity"}, "from": from.UTC().Format(time.RFC3339Nano)})
	s := object(list(got["series"])[0])
	// The window begins with what held then: that point is ours to show and the recorder's to leave out.
	points := list(s["points"])
	want := recorded()
	if len(points) == len(want)+1 {
		s["points"] = points[1:]
	}
	agree(t, "history_get", s, map[string]any{"entity_id": "input_number.target_humidity", "unit": "%", "points": want, "max": 60.0})
}

// change makes an entity change through the owner and gives what the house shows afterwards.
func change(t *testing.T, ws *realhome.Socket, service, entity string, data map[string]any) (before, after map[string]any) {
	t.Helper()
	before = state(t, ws, entity)
	call(t, ws, service, entity, data)
	return before, state(t, ws, entity)
}

func checkJournal(t *testing.T, h *hearth, ws *realhome.Socket) {
	before, after := change(t, ws, "input_select.select_next", "input_select.house_mode", nil)
	rows := func() []any {
		return list(h.ask("journal_query", map[string]any{"kinds": []any{"state"}, "entity_id": []any{"input_select.house_mode"}, "limit": 1})["rows"])
	}
	h.until("the change is in the journal", 5*time.Second, func() bool {
		r := rows()
		return len(r) > 0 && object(r[0])["new"] == after["state"]
	})
	agree(t, "journal_query state", object(rows()[0]), map[string]any{
		"kind": "state", "entity_id": "input_select.house_mode", "old": before["state"], "new": after["state"],
		"at": after["last_changed"], "context_id": object(after["context"])["id"], "user": ownerName(t, ws),
	})
	calls := list(h.ask("journal_query", map[string]any{"kinds": []any{"service"}, "entity_id": []any{"input_select.house_mode"}, "limit": 1})["rows"])
	if len(calls) == 0 {
		t.Fatal("the service call is not in the journal")
	}
	agree(t, "journal_query service", object(calls[0]), map[string]any{
		"kind": "service", "what": "input_select.select_next", "targets": []any{"input_select.house_mode"},
		"context_id": object(after["context"])["id"], "user": ownerName(t, ws),
	})
	groups := list(h.ask("journal_query", map[string]any{"group_by": "domain", "from": "1h"})["groups"])
	if !slices.ContainsFunc(groups, func(g any) bool { return object(g)["key"] == "input_select" && number(object(g)["count"]) >= 1 }) {
		t.Errorf("grouped by domain: %s", brief(groups))
	}
}

// ownerName is the name of the person who makes the test's own calls.
func ownerName(t *testing.T, ws *realhome.Socket) string {
	t.Helper()
	var me struct{ Name string }
	if err := ws.Into(t.Context(), "auth/current_user", nil, &me); err != nil {
		t.Fatal(err)
	}
	return me.Name
}

// checkWhy follows a light back to the person who set the guest mode.
func checkWhy(t *testing.T, h *hearth, ws *realhome.Socket) {
	call(t, ws, "input_boolean.turn_off", "input_boolean.guest_mode", nil)
	call(t, ws, "light.turn_off", "light.kitchen_lights", nil)
	cause := call(t, ws, "input_boolean.turn_on", "input_boolean.guest_mode", nil)
	h.until("the automation has turned the light on", 10*time.Second, func() bool {
		return state(t, ws, "light.kitchen_lights")["state"] == "on"
	})
	light := state(t, ws, "light.kitchen_lights")
	var got map[string]any
	find := func(kind, entity string) map[string]any {
		for _, n := range list(got["tree"]) {
			if n := object(n); n["kind"] == kind && n["entity_id"] == entity {
				return n
			}
		}
		return nil
	}
	h.until("the journal knows the cause", 10*time.Second, func() bool {
		got = h.ask("journal_why", map[string]any{"entity_id": "light.kitchen_lights"})
		return find("state", "light.kitchen_lights") != nil && find("state", "input_boolean.guest_mode") != nil && len(automations(got)) > 0
	})
	agree(t, "journal_why light", find("state", "light.kitchen_lights"), map[string]any{
		"role": "this", "new": "on", "context_id": object(light["context"])["id"], "at": light["last_changed"],
	})
	agree(t, "journal_why cause", find("state", "input_boolean.guest_mode"), map[string]any{"role": "cause", "new": "on", "context_id": cause})
	if object(light["context"])["parent_id"] != cause {
		t.Fatalf("the house says the light's parent is %v, not the owner's call %s", object(light["context"])["parent_id"], cause)
	}
	run := object(automations(got)[0])
	if !strings.Contains(brief(run), "Guests make the kitchen bright") {
		t.Errorf("the automation is not named: %s", brief(run))
	}
	root := object(list(got["tree"])[0])
	if number(root["level"]) != 0 || !strings.Contains(brief(got["tree"])+text(got["summary"]), ownerName(t, ws)) {
		t.Errorf("the person at the root is not named: %s", text(got["summary"]))
	}
	for _, part := range []string{"Guests make the kitchen bright"} {
		if !strings.Contains(text(got["summary"]), part) {
			t.Errorf("the summary does not say %q: %s", part, text(got["summary"]))
		}
	}
	// Our own call is named as what it is.
	h.ask("service_call", map[string]any{"service": "light.turn_off", "entity_id": []any{"light.bed_light"}})
	own := h.ask("service_call", map[string]any{"service": "light.turn_on", "entity_id": []any{"light.bed_light"}})
	h.until("journal_why names Hearth's call", 10*time.Second, func() bool {
		b, _ := json.Marshal(h.ask("journal_why", map[string]any{"entity_id": "light.bed_light"}))
		return strings.Contains(string(b), `"hearth"`) && strings.Contains(string(b), "service_call")
	})
	if own["outcome"] != "done" {
		t.Errorf("turning the light on: %s", brief(own))
	}
}

func automations(got map[string]any) []any {
	var out []any
	for _, n := range list(got["tree"]) {
		if object(n)["kind"] == "automation" {
			out = append(out, n)
		}
	}
	return out
}

// checkRestart restarts the house: nothing committed is lost, the gap has both
// ends, and afterwards the mirror equals the house.
func checkRestart(t *testing.T, h *hearth, s subject) {
	ws, err := realhome.Dial(t.Context(), s.url, s.ownerToken)
	if err != nil {
		t.Fatal(err)
	}
	mine := text(h.ask("service_call", map[string]any{"service": "input_text.set_value", "entity_id": []any{"input_text.note"}, "data": map[string]any{"value": "before the restart"}})["call"])
	restarted := time.Now()
	// The answer may be lost with the house.
	ws.Command(t.Context(), "call_service", map[string]any{"domain": "homeassistant", "service": "restart"})
	ws.Close()
	gap := func() map[string]any {
		for _, r := range list(h.ask("journal_query", map[string]any{"kinds": []any{"gap"}, "from": restarted.Add(-time.Second).UTC().Format(time.RFC3339), "limit": 5})["rows"]) {
			return object(r)
		}
		return nil
	}
	h.until("a gap with both ends is in the journal", 60*time.Second, func() bool { return text(gap()["until"]) != "" })
	h.live()
	g := gap()
	from, err1 := time.Parse(time.RFC3339, text(g["at"]))
	until, err2 := time.Parse(time.RFC3339, text(g["until"]))
	if err1 != nil || err2 != nil || !from.Before(until) || from.Before(restarted.Add(-5*time.Second)) || text(g["what"]) == "" {
		t.Errorf("the gap is odd: %s", brief(g))
	}
	own := list(h.ask("journal_query", map[string]any{"kinds": []any{"hearth"}, "text": "before the restart", "limit": 3})["rows"])
	if !slices.ContainsFunc(own, func(r any) bool { return object(r)["call"] == mine }) {
		t.Errorf("the call %s from before the restart is lost: %s", mine, brief(own))
	}
	again, err := realhome.Dial(t.Context(), s.url, s.ownerToken)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	h.until("the mirror has as many entities as the house", 30*time.Second, func() bool {
		return number(object(h.ask("hearth_status", nil)["mirror"])["entities"]) == float64(len(look(t, again).seen()))
	})
	checkEveryEntity(t, h, again)
}
