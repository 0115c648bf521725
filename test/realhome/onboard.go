package realhome

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// Accounts the onboarding makes.
const (
	ownerName, ownerPassword   = "test", "test-house-1"
	hearthName, hearthPassword = "hearth", "hearth-house-1"
)

// onboard makes the owner, Hearth's own administrator user, floors, areas,
// labels and lists, the way the first-run pages and the settings do.
func (h *Home) onboard(ctx context.Context) error {
	client := h.URL + "/"
	var made struct {
		AuthCode string `json:"auth_code"`
	}
	err := h.post(ctx, "/api/onboarding/users", "", map[string]any{
		"client_id": client, "name": "Test Owner", "username": ownerName, "password": ownerPassword, "language": "en",
	}, &made)
	if err != nil {
		return err
	}
	token, err := h.exchange(ctx, made.AuthCode)
	if err != nil {
		return err
	}
	// The core_config step stays away: it would add a weather service that looks for the internet.
	if err := h.post(ctx, "/api/onboarding/analytics", token, map[string]any{}, nil); err != nil {
		return err
	}
	if err := h.post(ctx, "/api/onboarding/integration", token, map[string]any{"client_id": client, "redirect_uri": client}, nil); err != nil {
		return err
	}
	ws, err := Dial(ctx, h.URL, token)
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := waitRunning(ctx, ws); err != nil {
		return err
	}
	// A fresh http block is on trial: unconfirmed, Home Assistant moves to port 8123 after five minutes.
	if _, err := ws.Command(ctx, "http/config/promote", nil); err != nil {
		return err
	}
	if err := h.accounts(ctx, ws); err != nil {
		return err
	}
	if err := furnish(ctx, ws); err != nil {
		return err
	}
	if err := h.flow(ctx, "local_todo", map[string]any{"todo_list_name": "Groceries"}); err != nil {
		return err
	}
	return h.flow(ctx, "local_calendar", map[string]any{"calendar_name": "Family", "import": "create_empty"})
}

func waitRunning(ctx context.Context, ws *Socket) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var cfg struct{ State string }
		if err := ws.Into(ctx, "get_config", nil, &cfg); err != nil {
			return err
		}
		if cfg.State == "RUNNING" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// accounts makes the owner's long-lived token and Hearth's own user with its token.
func (h *Home) accounts(ctx context.Context, ws *Socket) error {
	if err := ws.Into(ctx, "auth/long_lived_access_token", map[string]any{"client_name": "tests", "lifespan": 3650}, &h.OwnerToken); err != nil {
		return err
	}
	var me struct{ ID string }
	if err := ws.Into(ctx, "auth/current_user", nil, &me); err != nil {
		return err
	}
	h.OwnerUser = me.ID
	var created struct{ User struct{ ID string } }
	if err := ws.Into(ctx, "config/auth/create", map[string]any{"name": "Hearth", "group_ids": []string{"system-admin"}, "local_only": true}, &created); err != nil {
		return err
	}
	h.HearthUser = created.User.ID
	if _, err := ws.Command(ctx, "config/auth_provider/homeassistant/create", map[string]any{
		"user_id": h.HearthUser, "username": hearthName, "password": hearthPassword}); err != nil {
		return err
	}
	token, err := h.login(ctx, hearthName, hearthPassword)
	if err != nil {
		return err
	}
	own, err := Dial(ctx, h.URL, token)
	if err != nil {
		return err
	}
	defer own.Close()
	return own.Into(ctx, "auth/long_lived_access_token", map[string]any{"client_name": "hearth", "lifespan": 3650}, &h.HearthToken)
}

// login signs in as the login page does and gives an access token.
func (h *Home) login(ctx context.Context, name, password string) (string, error) {
	client := h.URL + "/"
	var step struct {
		FlowID string `json:"flow_id"`
	}
	if err := h.post(ctx, "/auth/login_flow", "", map[string]any{"client_id": client, "handler": []any{"homeassistant", nil}, "redirect_uri": client}, &step); err != nil {
		return "", err
	}
	var end struct{ Result string }
	if err := h.post(ctx, "/auth/login_flow/"+step.FlowID, "", map[string]any{"client_id": client, "username": name, "password": password}, &end); err != nil {
		return "", err
	}
	return h.exchange(ctx, end.Result)
}

func (h *Home) exchange(ctx context.Context, code string) (string, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {h.URL + "/"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+"/auth/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	return grant.AccessToken, do(req, &grant)
}

// flow adds an integration as the settings page does: start its flow, answer the one form.
func (h *Home) flow(ctx context.Context, handler string, answer map[string]any) error {
	var step struct {
		FlowID string `json:"flow_id"`
		Type   string
	}
	if err := h.post(ctx, "/api/config/config_entries/flow", h.OwnerToken, map[string]any{"handler": handler}, &step); err != nil {
		return err
	}
	if err := h.post(ctx, "/api/config/config_entries/flow/"+step.FlowID, h.OwnerToken, answer, &step); err != nil {
		return err
	}
	if step.Type != "create_entry" {
		return fmt.Errorf("the flow of %s ended with %q", handler, step.Type)
	}
	return nil
}

func (h *Home) post(ctx context.Context, path, token string, body, out any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return do(req, out)
}

func do(req *http.Request, out any) error {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s: %s", req.Method, req.URL.Path, res.Status, b)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// Socket is a plain WebSocket client of a test's own, one command at a time. It
// shares nothing with Hearth's link, so that a fault there cannot hide here.
type Socket struct {
	c  *websocket.Conn
	id int
}

// Dial connects and signs in.
func Dial(ctx context.Context, base, token string) (*Socket, error) {
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(base, "http")+"/api/websocket", nil)
	if err != nil {
		return nil, err
	}
	c.SetReadLimit(64 << 20)
	s := &Socket{c: c}
	var msg struct{ Type, Message string }
	for _, want := range []string{"auth_required", "auth_ok"} {
		if err := wsjson.Read(ctx, c, &msg); err != nil {
			c.CloseNow()
			return nil, err
		}
		if msg.Type != want {
			c.CloseNow()
			return nil, fmt.Errorf("got %s (%s), want %s", msg.Type, msg.Message, want)
		}
		if want == "auth_required" {
			if err := wsjson.Write(ctx, c, map[string]any{"type": "auth", "access_token": token}); err != nil {
				c.CloseNow()
				return nil, err
			}
		}
	}
	return s, nil
}

// Close ends the connection.
func (s *Socket) Close() { s.c.CloseNow() }

// Command sends a command and waits for its result; events in between are dropped.
func (s *Socket) Command(ctx context.Context, kind string, fields map[string]any) (json.RawMessage, error) {
	s.id++
	msg := map[string]any{"id": s.id, "type": kind}
	for k, v := range fields {
		msg[k] = v
	}
	if err := wsjson.Write(ctx, s.c, msg); err != nil {
		return nil, err
	}
	for {
		var in struct {
			ID      int
			Type    string
			Success bool
			Result  json.RawMessage
			Error   struct{ Code, Message string }
		}
		if err := wsjson.Read(ctx, s.c, &in); err != nil {
			return nil, err
		}
		if in.ID != s.id || in.Type != "result" {
			continue
		}
		if !in.Success {
			return nil, fmt.Errorf("%s: %s: %s", kind, in.Error.Code, in.Error.Message)
		}
		return in.Result, nil
	}
}

// Into is Command with its result decoded into out.
func (s *Socket) Into(ctx context.Context, kind string, fields map[string]any, out any) error {
	b, err := s.Command(ctx, kind, fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}
