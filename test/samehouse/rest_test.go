package samehouse

import (
	"net/url"
	"testing"
)

// request is one REST request and its answer.
type request struct {
	route  string // as simhome.Routes names it
	method string
	path   string
	body   any // nil, a JSON value, or a string sent as a form
	code   int
	want   string
	open   bool // sent without a token
}

func restCases() []request {
	none := map[string]any{}
	return []request{
		{"/api/", "GET", "/api/", nil, 200, `{"message":"API running."}`, false},
		{"/api/", "GET", "/api/", nil, 401, `"401: Unauthorized"`, true},
		{"/api/config", "GET", "/api/config", nil, 200, `{"version":"2026.11.0","time_zone":"Europe/Amsterdam","state":"RUNNING","...":0}`, false},
		{"/api/states", "GET", "/api/states", nil, 200, `"<list>"`, false},
		{"/api/states/<id>", "GET", "/api/states/switch.ac", nil, 200, `{"entity_id":"switch.ac","state":"<string>","attributes":{"device_class":"outlet","friendly_name":"AC"},"last_changed":"<iso>","last_reported":"<iso>","last_updated":"<iso>","context":{"id":"<ulid>","parent_id":null,"user_id":"<any>"}}`, false},
		{"/api/states/<id>", "GET", "/api/states/light.nope", nil, 404, `{"message":"Entity not found."}`, false},
		{"/api/services", "GET", "/api/services", nil, 200, `"<list>"`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/counter/increment", map[string]any{"entity_id": "counter.visitors"}, 200, `[{"entity_id":"counter.visitors","state":"1","...":0}]`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/counter/reset", map[string]any{"entity_id": "counter.visitors"}, 200, `[{"entity_id":"counter.visitors","state":"0","...":0}]`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/light/nope", none, 400, `"400: Bad Request"`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/todo/get_items?return_response", map[string]any{"entity_id": "todo.groceries"}, 200, `{"changed_states":[],"service_response":{"todo.groceries":{"items":[]}}}`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/todo/get_items", map[string]any{"entity_id": "todo.groceries"}, 400, `{"message":"Service call requires responses but caller did not ask for responses. Add ?return_response to query parameters."}`, false},
		{"/api/services/<domain>/<service>", "POST", "/api/services/media_player/volume_set", map[string]any{"entity_id": "media_player.lounge_room", "volume_level": 0.3}, 400, `{"message":"Entity media_player.lounge_room does not support action media_player.volume_set"}`, false},
		{"/api/template", "POST", "/api/template", map[string]any{"template": "{{ 1 + 1 }}"}, 200, `2`, false},
		{"/api/template", "POST", "/api/template", map[string]any{"template": "plain words"}, 200, `"plain words"`, false},
		{"/api/template", "POST", "/api/template", map[string]any{"template": "{{ 1 +"}, 400, `{"message":"<~Error rendering template: TemplateSyntaxError>"}`, false},
		{"/api/history/period", "GET", "/api/history/period", nil, 400, `{"message":"filter_entity_id is missing"}`, false},
		{"/api/history/period", "GET", "/api/history/period/nonsense?filter_entity_id=sun.sun", nil, 400, `{"message":"Invalid datetime"}`, false},
		{"/api/config/<kind>/config/<id>", "GET", "/api/config/automation/config/humid", nil, 200, `{"id":"humid","alias":"Humidity follows target","triggers":[{"trigger":"numeric_state","entity_id":"input_number.target_humidity","above":60}],"actions":[{"action":"input_text.set_value","target":{"entity_id":"input_text.note"},"data":{"value":"humid"}}]}`, false},
		{"/api/config/<kind>/config/<id>", "GET", "/api/config/automation/config/yaml_only", nil, 404, `{"message":"Resource not found"}`, false},
		{"/api/config/<kind>/config/<id>", "GET", "/api/config/script/config/announce", nil, 200, `{"alias":"Announce","sequence":"<list>"}`, false},
		{"/api/config/<kind>/config/<id>", "GET", "/api/config/scene/config/movie", nil, 200, `{"id":"movie","name":"Movie","entities":{"light.ceiling_lights":{"state":"on","brightness":40},"light.bed_light":{"state":"off"}}}`, false},
		{"/auth/login_flow", "", "", nil, 0, "", true}, {"/auth/login_flow/<id>", "", "", nil, 0, "", true}, {"/auth/token", "", "", nil, 0, "", true}, {"/auth/revoke", "", "", nil, 0, "", true}, // login
	}
}

func rest(t *testing.T, h *home) {
	for _, r := range restCases() {
		if r.path == "" {
			continue
		}
		token := h.hearth
		if r.open {
			token = ""
		}
		code, got := h.rest(t, token, r.method, r.path, r.body)
		if err := match(parse(t, r.want), got, r.path, vars{}); err != nil || code != r.code {
			t.Errorf("%s %s: %d, want %d: %v", r.method, r.path, code, r.code, err)
		}
	}
}

// login signs in like a person; it gives an access token and how to sign out.
func login(t *testing.T, h *home, name, password string) (token string, signOut func()) {
	t.Helper()
	client := h.base + "/"
	known := vars{}
	code, v := h.rest(t, "", "POST", "/auth/login_flow", map[string]any{"client_id": client, "handler": []any{"homeassistant", nil}, "redirect_uri": client})
	if err := match(parse(t, `{"type":"form","flow_id":"<$flow>","handler":["homeassistant",null],"step_id":"init","errors":{},"data_schema":"<list>","...":0}`), v, "login_flow", known); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	flow := "/auth/login_flow/" + known["flow"].(string)
	code, v = h.rest(t, "", "POST", flow, map[string]any{"client_id": client, "username": name, "password": "wrong"})
	if err := match(parse(t, `{"type":"form","errors":{"base":"invalid_auth"},"...":0}`), v, "login_flow", known); err != nil || code != 200 {
		t.Error(code, err)
	}
	code, v = h.rest(t, "", "POST", flow, map[string]any{"client_id": client, "username": name, "password": password})
	if err := match(parse(t, `{"type":"create_entry","result":"<$code>","...":0}`), v, "login_flow", known); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {known["code"].(string)}, "client_id": {client}}.Encode()
	code, v = h.rest(t, "", "POST", "/auth/token", form)
	if err := match(parse(t, `{"access_token":"<$token>","token_type":"Bearer","refresh_token":"<$refresh>","expires_in":1800,"ha_auth_provider":"homeassistant"}`), v, "token", known); err != nil || code != 200 {
		t.Fatal(code, err)
	}
	code, v = h.rest(t, "", "POST", "/auth/token", form)
	if err := match(parse(t, `{"error":"invalid_request","error_description":"Invalid code"}`), v, "token", known); err != nil || code != 400 {
		t.Error(code, err)
	}
	return known["token"].(string), func() {
		code, v := h.rest(t, "", "POST", "/auth/revoke", url.Values{"token": {known["refresh"].(string)}}.Encode())
		if code != 200 || v != "" {
			t.Errorf("revoke: %d %v", code, v)
		}
		if code, _ := h.rest(t, known["token"].(string), "GET", "/api/", nil); code != 401 {
			t.Errorf("after revoking: %d", code)
		}
	}
}

// rights checks what somebody who is no administrator may not do; the account
// was made by "who is there".
func rights(t *testing.T, h *home) {
	token, signOut := login(t, h, "guest", "guest-house-1")
	defer signOut()
	c := open(t, h, token)
	for _, s := range []struct{ kind, send, want string }{
		{"auth/current_user", `{}`, `{"success":true,"result":{"name":"Guest","is_admin":false,"...":0},"...":0}`},
		{"subscribe_events", `{"event_type":"call_service"}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"subscribe_events", `{}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"subscribe_events", `{"event_type":"area_registry_updated"}`, `{"success":true,"...":0}`},
		{"subscribe_entities", `{"entity_ids":["switch.ac"]}`, `{"success":true,"...":0}`},
		{"get_states", `{}`, `{"success":true,"...":0}`},
		{"config/entity_registry/list", `{}`, `{"success":true,"...":0}`},
		{"config/area_registry/create", `{"name":"x"}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"trace/list", `{"domain":"automation"}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"automation/config", `{"entity_id":"automation.guests_gone"}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"config/auth/list", `{}`, `{"success":false,"error":{"code":"unauthorized","message":"Unauthorized"},"...":0}`},
		{"call_service", `{"domain":"switch","service":"turn_on","target":{"entity_id":"switch.ac"}}`, `{"success":true,"...":0}`},
	} {
		if err := match(parse(t, s.want), any(c.send(s.kind, parse(t, s.send).(map[string]any))), s.kind, vars{}); err != nil {
			t.Errorf("%s %s: %v", s.kind, s.send, err)
		}
	}
	if code, v := h.rest(t, token, "POST", "/api/template", map[string]any{"template": "x"}); code != 401 {
		t.Errorf("template: %d %v", code, v)
	}
	if code, v := h.rest(t, token, "GET", "/api/config/automation/config/humid", nil); code != 401 {
		t.Errorf("config: %d %v", code, v)
	}
}

// restart asks for one; the socket ends and the house comes back.
func restart(t *testing.T, h *home) {
	c := open(t, h, h.hearth)
	c.id++
	c.raw(map[string]any{"id": c.id, "type": "call_service", "domain": "homeassistant", "service": "restart"})
	for {
		if m := c.next(); m == nil {
			break
		}
	}
	waitUp(t, h)
	c = open(t, h, h.hearth)
	if m := c.send("get_states", nil); len(m["result"].([]any)) < 140 {
		t.Errorf("only %d states after the restart", len(m["result"].([]any)))
	}
}
