package simhome

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// routes is everything the house serves over HTTP.
func (h *House) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/websocket", h.serveWS)
	open := map[string]http.HandlerFunc{
		"POST /auth/login_flow":      h.restFlow,
		"POST /auth/login_flow/{id}": h.restLogin,
		"POST /auth/token":           h.restToken,
		"POST /auth/revoke":          h.restRevoke,
	}
	for pattern, do := range open {
		mux.HandleFunc(pattern, h.locked(do))
	}
	kept := map[string]http.HandlerFunc{
		"GET /api/{$}": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 200, map[string]string{"message": "API running."})
		},
		"GET /api/config":                       func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, h.config) },
		"GET /api/states":                       func(w http.ResponseWriter, _ *http.Request) { replyRaw(w, 200, h.statesJSON()) },
		"GET /api/states/{id}":                  h.restState,
		"GET /api/services":                     h.restServices,
		"POST /api/services/{domain}/{service}": h.restCall,
		"POST /api/template":                    h.restTemplate,
		"GET /api/history/period":               h.restHistory,
		"GET /api/history/period/{from}":        h.restHistory,
		"GET /api/config/{kind}/config/{id}":    h.restBody,
	}
	for pattern, do := range kept {
		mux.HandleFunc(pattern, h.locked(h.asUser(do)))
	}
	return mux
}

// Routes are the REST routes the house knows, for the suite that checks each.
func Routes() []string {
	return []string{"/api/", "/api/config", "/api/states", "/api/states/<id>", "/api/services", "/api/services/<domain>/<service>",
		"/api/template", "/api/history/period", "/api/config/<kind>/config/<id>",
		"/auth/revoke", "/auth/login_flow", "/auth/login_flow/<id>", "/auth/token"}
}

// locked serves with the house locked and settles afterwards; a stalled house waits.
func (h *House) locked(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h.blocked(r.Context()) != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.faults.refuse { // over a connection kept alive from before
			panic(http.ErrAbortHandler)
		}
		do(w, r)
		h.settle()
	}
}

// asUser refuses requests without a good bearer token.
func (h *House) asUser(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || h.tokens[token] == nil || h.faults.authInvalid {
			plain(w, 401, "401: Unauthorized")
			return
		}
		do(w, r)
	}
}

func (h *House) caller(r *http.Request) *user {
	return h.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

// adminOnly answers 401 to whoever is no administrator.
func (h *House) adminOnly(w http.ResponseWriter, r *http.Request) bool {
	if h.caller(r).admin() {
		return true
	}
	plain(w, 401, "401: Unauthorized")
	return false
}

func plain(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	io.WriteString(w, text)
}

func reply(w http.ResponseWriter, code int, v any) { replyRaw(w, code, mustJSON(v)) }

func replyRaw(w http.ResponseWriter, code int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(b)
}

func message(w http.ResponseWriter, code int, text string) {
	reply(w, code, map[string]string{"message": text})
}

func (h *House) restState(w http.ResponseWriter, r *http.Request) {
	s := h.states[r.PathValue("id")]
	if s == nil {
		message(w, 404, "Entity not found.")
		return
	}
	replyRaw(w, 200, s.appendFull(nil))
}

func (h *House) restServices(w http.ResponseWriter, _ *http.Request) {
	all := []any{}
	for d, services := range h.serviceTable() {
		all = append(all, map[string]any{"domain": d, "services": services})
	}
	reply(w, 200, all)
}

// restCall calls a service; the answer lists the states that changed meanwhile.
func (h *House) restCall(w http.ResponseWriter, r *http.Request) {
	domain, name := r.PathValue("domain"), r.PathValue("service")
	data := map[string]any{}
	raw, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if len(raw) > 0 && json.Unmarshal(raw, &data) != nil {
		message(w, 400, "Data should be valid JSON.")
		return
	}
	h.calls[domain+"."+name]++
	_, respond := r.URL.Query()["return_response"]
	before := h.last
	ended := make(chan struct{})
	var response map[string]any
	var err *fault
	h.call(ask{domain: domain, name: name, data: data, ctx: h.newCause("", h.caller(r).ID), respond: respond}, func(resp map[string]any, f *fault) {
		response, err = resp, f
		close(ended)
	})
	h.settle()
	h.mu.Unlock()
	select {
	case <-ended:
	case <-r.Context().Done():
	}
	h.mu.Lock()
	switch {
	case err == nil:
	case err.key == "service_lacks_response_request":
		message(w, 400, "Service call requires responses but caller did not ask for responses. Add ?return_response to query parameters.")
		return
	case err.code == "service_validation_error":
		message(w, 400, trimValidation(err.message))
		return
	default:
		plain(w, 400, "400: Bad Request")
		return
	}
	changed := []json.RawMessage{}
	for _, id := range h.order {
		if s := h.states[id]; s.updated.After(before) {
			changed = append(changed, s.appendFull(nil))
		}
	}
	if respond {
		reply(w, 200, map[string]any{"changed_states": changed, "service_response": response})
		return
	}
	reply(w, 200, changed)
}

// templates is the table of literal templates and their answers: no engine.
func (h *House) template(text string) (string, bool) {
	switch strings.TrimSpace(text) {
	case "{{ 1 + 1 }}":
		return "2", true
	case "{{ states('light.bed_light') }}":
		return h.value("light.bed_light"), true
	case "{{ states | count }}":
		return string(mustJSON(len(h.states))), true
	case "{{ now().tzinfo }}":
		return "Europe/Amsterdam", true
	}
	if !strings.Contains(text, "{") {
		return text, true
	}
	return "", false
}

func (h *House) restTemplate(w http.ResponseWriter, r *http.Request) {
	if !h.adminOnly(w, r) {
		return
	}
	var in struct {
		Template string `json:"template"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&in) != nil {
		message(w, 400, "Invalid JSON specified")
		return
	}
	out, ok := h.template(in.Template)
	if !ok {
		message(w, 400, "Error rendering template: TemplateSyntaxError: unexpected 'end of template'")
		return
	}
	plain(w, 200, out)
}

// restBody is the stored body of an automation, script or scene by its own id.
func (h *House) restBody(w http.ResponseWriter, r *http.Request) {
	if !h.adminOnly(w, r) {
		return
	}
	kind, id := r.PathValue("kind"), r.PathValue("id")
	for _, m := range h.runs {
		if m.domain == kind && m.item == id && id != "yaml_only" {
			replyRaw(w, 200, m.raw)
			return
		}
	}
	for _, s := range h.reg.scenes {
		if kind == "scene" && s.ID == id {
			replyRaw(w, 200, s.raw)
			return
		}
	}
	message(w, 404, "Resource not found")
}

func (h *House) restHistory(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ids := texts(q.Get("filter_entity_id"))
	if q.Get("filter_entity_id") == "" {
		message(w, 400, "filter_entity_id is missing")
		return
	}
	for _, id := range ids {
		if !validID(id) {
			message(w, 400, "Invalid filter_entity_id")
			return
		}
	}
	now := h.now()
	from, to := now.Add(-24*time.Hour), now
	if text := r.PathValue("from"); text != "" {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			message(w, 400, "Invalid datetime")
			return
		}
		from, to = t, t.Add(24*time.Hour)
	}
	if t, err := time.Parse(time.RFC3339Nano, q.Get("end_time")); err == nil {
		to = t
	}
	h.replyHistory(w, ids, from, to, q)
}
