package samehouse

import (
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"
)

// isoOf is a compressed time as the long form writes it.
func isoOf(v any) any {
	f, ok := v.(float64)
	if !ok {
		return v
	}
	sec, frac := math.Modf(f)
	t := time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC()
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}

// causes checks the thread from a call through an automation into a script.
func causes(t *testing.T, h *home) {
	c := follow(t, h)
	for _, kind := range []string{"automation_triggered", "script_started"} {
		if m := c.send("subscribe_events", map[string]any{"event_type": kind}); m["success"] != true {
			t.Fatal(m)
		}
	}
	guest := "input_boolean.guest_mode"
	c.send("call_service", map[string]any{"domain": "input_boolean", "service": "turn_off", "target": map[string]any{"entity_id": guest}})
	c.send("call_service", map[string]any{"domain": "input_text", "service": "set_value", "target": map[string]any{"entity_id": "input_text.note"}, "service_data": map[string]any{"value": "-"}})
	known := vars{}
	r := c.send("call_service", map[string]any{"domain": "input_boolean", "service": "turn_on", "target": map[string]any{"entity_id": guest}})
	if err := match(parse(t, `{"id":"<number>","type":"result","success":true,"result":{"context":{"id":"<$root>","parent_id":null,"user_id":"<$me>"}}}`), any(r), "", known); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"event_type":"automation_triggered","data":{"name":"Guests make the kitchen bright","entity_id":"automation.guests_make_the_kitchen_bright","source":"state of input_boolean.guest_mode","item_id":"guest_welcome","run_id":"<$run>"},"origin":"LOCAL","time_fired":"<iso>","context":{"id":"<$auto>","parent_id":"$root","user_id":null}}`,
		`{"event_type":"call_service","data":{"domain":"light","service":"turn_on","service_data":{"brightness_pct":80,"entity_id":["light.kitchen_lights","light.ceiling_lights"]}},"origin":"LOCAL","time_fired":"<iso>","context":{"id":"$auto","parent_id":"$root","user_id":null}}`,
		`{"event_type":"script_started","data":{"name":"Announce","entity_id":"script.announce","item_id":"announce","run_id":"<hex32>"},"origin":"LOCAL","time_fired":"<iso>","context":{"id":"$auto","parent_id":"$root","user_id":null}}`,
		`{"event_type":"call_service","data":{"domain":"media_player","service":"volume_set","service_data":{"volume_level":0.3,"entity_id":["media_player.lounge_room"]}},"origin":"LOCAL","time_fired":"<iso>","context":{"id":"$auto","parent_id":"$root","user_id":null}}`,
	} {
		if _, err := c.event(func(e map[string]any) bool { return match(parse(t, want), any(e), "", known) == nil }); err != nil {
			t.Fatalf("no %s: %v", want, err)
		}
	}
	for id, want := range map[string]string{
		guest:                         `{"s":"on","c":{"id":"$root","parent_id":null,"user_id":"$me"},"...":0}`,
		"binary_sensor.kuchenfenster": `{"s":"on","c":{"id":"$root","parent_id":null,"user_id":"$me"},"...":0}`,
		"light.kitchen_lights":        `{"s":"on","a":{"brightness":204,"...":0},"c":{"id":"$auto","parent_id":"$root","user_id":null},"...":0}`,
		"light.ceiling_lights":        `{"s":"on","a":{"brightness":204,"...":0},"c":{"id":"$auto","parent_id":"$root","user_id":null},"...":0}`,
		"input_text.note":             `{"s":"welcome","c":{"id":"$auto","parent_id":"$root","user_id":null},"...":0}`,
		"automation.guests_make_the_kitchen_bright": `{"s":"on","a":{"current":0,"last_triggered":"<iso>","...":0},"c":{"id":"$auto","parent_id":"$root","user_id":null},"...":0}`,
	} {
		if err := c.see(id, parse(t, want), known); err != nil {
			t.Error(err)
		}
	}
	traces(t, c, known)
	lateContext(t, c)
}

// traces checks what is kept of the run.
func traces(t *testing.T, c *client, known vars) {
	list := c.send("trace/list", map[string]any{"domain": "automation", "item_id": "guest_welcome"})["result"].([]any)
	if len(list) == 0 {
		t.Fatal("no trace")
	}
	want := `{"last_step":"action/1","run_id":"$run","state":"stopped","script_execution":"finished","timestamp":{"start":"<iso>","finish":"<iso>"},"domain":"automation","item_id":"guest_welcome","trigger":"state of input_boolean.guest_mode"}`
	if err := match(parse(t, want), list[len(list)-1], "trace/list", known); err != nil {
		t.Error(err)
	}
	got := c.send("trace/get", map[string]any{"domain": "automation", "item_id": "guest_welcome", "run_id": known["run"]})["result"]
	want = `{"last_step":"action/1","run_id":"$run","state":"stopped","script_execution":"finished","timestamp":"<object>","domain":"automation","item_id":"guest_welcome","trigger":"state of input_boolean.guest_mode","config":"<object>","blueprint_inputs":null,"context":{"id":"$auto","parent_id":"$root","user_id":null},
		"trace":{"trigger/0":[{"path":"trigger/0","timestamp":"<iso>","changed_variables":{"trigger":{"platform":"state","entity_id":"input_boolean.guest_mode","from_state":{"state":"off","...":0},"to_state":{"state":"on","...":0},"description":"state of input_boolean.guest_mode","...":0},"...":0}}],
		"action/0":[{"path":"action/0","timestamp":"<iso>","result":{"params":{"domain":"light","service":"turn_on","service_data":"<object>","target":"<object>"},"running_script":false},"...":0}],
		"action/1":[{"path":"action/1","timestamp":"<iso>","result":{"params":{"domain":"script","service":"turn_on","service_data":"<object>","target":"<object>"},"running_script":true},"...":0}]}}`
	if err := match(parse(t, want), got, "trace/get", known); err != nil {
		t.Error(err)
	}
	list = c.send("trace/list", map[string]any{"domain": "script"})["result"].([]any)
	want = `{"last_step":"sequence/1","run_id":"<hex32>","state":"stopped","script_execution":"error","timestamp":"<object>","domain":"script","item_id":"announce","error":"Entity media_player.lounge_room does not support action media_player.volume_set"}`
	found := fmt.Errorf("none")
	for _, x := range list {
		if err := match(parse(t, want), x, "trace/list", known); err == nil || x.(map[string]any)["item_id"] == "announce" {
			found = err
		}
	}
	if found != nil {
		t.Errorf("script trace: %v", found)
	}
}

// lateContext: an entity keeps a call's context for five seconds, not longer.
func lateContext(t *testing.T, c *client) {
	known := vars{}
	r := c.send("call_service", map[string]any{"domain": "cover", "service": "set_cover_position", "target": map[string]any{"entity_id": "cover.living_room_window"}, "service_data": map[string]any{"position": 0}})
	if err := match(parse(t, `{"success":true,"result":{"context":{"id":"<$ctx>","...":0}},"...":0}`), any(r), "", known); err != nil {
		t.Fatal(err)
	}
	if err := c.see("cover.living_room_window", parse(t, `{"s":"closing","a":{"current_position":60,"...":0},"c":{"id":"$ctx","...":0},"...":0}`), known); err != nil {
		t.Error(err)
	}
	if err := c.see("cover.living_room_window", parse(t, `{"s":"closed","a":{"current_position":0,"...":0},"c":{"id":"<ulid>","parent_id":null,"user_id":null},"...":0}`), known); err != nil {
		t.Error(err)
	}
}

// past asks recorder and logbook about a lamp that was just switched.
func past(t *testing.T, h *home) {
	c := follow(t, h)
	lamp := "light.entrance_color_white_lights"
	begin := c.states[lamp]["lc"].(float64)
	start := isoOf(begin - 0.001).(string)
	known := vars{}
	for _, s := range []string{"turn_off", "turn_on"} {
		r := c.send("call_service", map[string]any{"domain": "light", "service": s, "target": map[string]any{"entity_id": lamp}})
		if err := match(parse(t, `{"success":true,"result":{"context":{"id":"<$ctx_`+s+`>","user_id":"<$me>","...":0}},"...":0}`), any(r), "", known); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.see(lamp, parse(t, `{"s":"on","c":{"id":"$ctx_turn_on","...":0},"...":0}`), known); err != nil {
		t.Fatal(err)
	}
	last := c.states[lamp]["lc"]
	want := parse(t, `{"success":true,"result":{"`+lamp+`":["<$first>",{"s":"off","a":{"friendly_name":"Entrance Color + White Lights"},"lu":"<number>"},{"s":"on","a":{"friendly_name":"Entrance Color + White Lights"},"lu":"$last"}]},"...":0}`)
	known["last"] = last
	eventually(t, c, "history/history_during_period", map[string]any{"start_time": start, "entity_ids": []string{lamp}}, want, known)
	want = parse(t, `{"success":true,"result":{"`+lamp+`":["<any>",{"s":"off","lu":"<number>"},{"s":"on","lu":"$last"}]},"...":0}`)
	eventually(t, c, "history/history_during_period", map[string]any{"start_time": start, "entity_ids": []string{lamp}, "minimal_response": true, "no_attributes": true}, want, known)
	want = parse(t, `{"success":true,"result":[{"state":"off","entity_id":"`+lamp+`","when":"<number>","context_user_id":"$me","context_domain":"light","context_service":"turn_off","context_event_type":"call_service"},{"state":"on","entity_id":"`+lamp+`","when":"$last","context_user_id":"$me","context_domain":"light","context_service":"turn_on","context_event_type":"call_service"}],"...":0}`)
	eventually(t, c, "logbook/get_events", map[string]any{"start_time": isoOf(begin + 0.001), "entity_ids": []string{lamp}}, want, known)
	want = parse(t, `{"success":true,"result":[{"state":"on","entity_id":"`+lamp+`","when":"$last","context_user_id":"$me","context_domain":"light","context_service":"turn_on","context_event_type":"call_service"}],"...":0}`)
	eventually(t, c, "logbook/get_events", map[string]any{"start_time": start, "context_id": known["ctx_turn_on"]}, want, known)
	code, v := h.rest(t, h.hearth, "GET", "/api/history/period/"+url.PathEscape(start)+"?filter_entity_id="+lamp+"&minimal_response&no_attributes", nil)
	wantRest := parse(t, `[["<object>",{"state":"off","last_changed":"<iso>"},{"state":"on","last_changed":"<iso>"}]]`)
	if err := match(wantRest, v, "history", known); err != nil || code != 200 {
		t.Errorf("%d %v", code, err)
	}
}

// eventually asks again until the recorder has written what was just done.
func eventually(t *testing.T, c *client, kind string, fields map[string]any, want any, known vars) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if err = match(want, any(c.send(kind, fields)), kind, known); err == nil {
			return
		}
		if _, werr := c.wait(200 * time.Millisecond); werr == nil {
			continue
		}
	}
	t.Error(err)
}
