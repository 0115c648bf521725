package simhome

import (
	"encoding/json"
	"io"
	"net/http"
)

// The way a person signs in: start a flow, answer its one form, trade the code
// for a token, and sign out by revoking it.

func flowForm(id string, errs map[string]string) map[string]any {
	if errs == nil {
		errs = map[string]string{}
	}
	return map[string]any{"type": "form", "flow_id": id, "handler": []any{"homeassistant", nil}, "step_id": "init",
		"data_schema": []any{
			map[string]any{"name": "username", "required": true, "type": "string"},
			map[string]any{"name": "password", "required": true, "type": "string"},
		}, "errors": errs, "description_placeholders": nil, "last_step": nil, "preview": nil}
}

func (h *House) restFlow(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Client   string `json:"client_id"`
		Redirect string `json:"redirect_uri"`
		Handler  []any  `json:"handler"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&in) != nil || in.Client == "" || len(in.Handler) == 0 {
		message(w, 400, "Message format incorrect: required key not provided")
		return
	}
	id := h.hexID()
	h.flows[id] = true
	reply(w, 200, flowForm(id, nil))
}

func (h *House) restLogin(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !h.flows[id] {
		message(w, 404, "Invalid flow specified")
		return
	}
	var in struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&in)
	u := find(h.users, func(u *user) bool { return u.Username != "" && u.Username == in.Username && u.password == in.Password })
	if u == nil {
		reply(w, 200, flowForm(id, map[string]string{"base": "invalid_auth"}))
		return
	}
	delete(h.flows, id)
	code := h.hexID()
	h.codes[code] = u
	reply(w, 200, map[string]any{"type": "create_entry", "flow_id": id, "handler": []any{"homeassistant", nil}, "title": "Home Assistant Local",
		"result": code, "version": 1, "minor_version": 1, "description": nil, "description_placeholders": nil, "context": map[string]any{}, "options": map[string]any{}, "data": map[string]any{}})
}

func (h *House) restToken(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("grant_type") != "authorization_code" {
		reply(w, 400, map[string]string{"error": "unsupported_grant_type"})
		return
	}
	u := h.codes[r.PostFormValue("code")]
	if u == nil {
		reply(w, 400, map[string]string{"error": "invalid_request", "error_description": "Invalid code"})
		return
	}
	delete(h.codes, r.PostFormValue("code"))
	access, refresh := h.newToken(u), h.hexID()+h.hexID()
	h.sessions[refresh] = access
	reply(w, 200, map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "expires_in": 1800, "ha_auth_provider": "homeassistant"})
}

// restRevoke ends a session; it answers 200 whatever it was told.
func (h *House) restRevoke(w http.ResponseWriter, r *http.Request) {
	refresh := r.PostFormValue("token")
	delete(h.tokens, h.sessions[refresh])
	delete(h.sessions, refresh)
	w.WriteHeader(http.StatusOK)
}
