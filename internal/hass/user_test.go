package hass

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/secret"
)

func TestMakeUserInTheSimulatedHouse(t *testing.T) {
	h, s := simulated(t)
	s.Start()
	owner := Config{URL: s.URL, Token: secret.New(h.OwnerToken())}
	token, user, err := MakeUser(t.Context(), owner, "Hearth", "hearth2", "a long password")
	if err != nil || token.Empty() || user == "" {
		t.Fatalf("user %q, error %v", user, err)
	}
	last(t, Probe(t.Context(), Config{URL: s.URL, Token: token}), "clock", true)
	_, _, err = MakeUser(t.Context(), Config{URL: s.URL, Token: secret.New(h.UserToken())}, "Hearth", "hearth3", "pw")
	code(t, err, home.Denied)
	if !strings.Contains(err.Error(), "token of an administrator") || strings.Contains(err.Error(), "make Hearth") {
		t.Errorf("who is not an administrator is sent in a circle: %v", err)
	}
	_, _, err = MakeUser(t.Context(), owner, "", "", "")
	code(t, err, home.Invalid)
	_, _, err = MakeUser(t.Context(), Config{URL: s.URL, Token: secret.New("wrong")}, "Hearth", "hearth4", "pw")
	code(t, err, home.Denied)
}

// accounts is a fake whose users and login flow can break at a leg.
type accounts struct {
	*fake
	users  map[string]bool
	breaks string
	form   string
}

func newAccounts(t *testing.T) *accounts {
	a := &accounts{fake: newFake(t), users: map[string]bool{}}
	a.token = "right" // the owner's; the new user's is let in too, as both contain it
	a.on("config/auth/create", a.leg("create", func(map[string]json.RawMessage) string {
		a.users["u9"] = true
		return `{"user":{"id":"u9"}}`
	}))
	a.on("config/auth_provider/homeassistant/create", a.leg("credentials", func(map[string]json.RawMessage) string { return `null` }))
	a.on("config/auth/delete", a.leg("delete", func(m map[string]json.RawMessage) string {
		var id string
		_ = json.Unmarshal(m["user_id"], &id)
		delete(a.users, id)
		return `null`
	}))
	a.on("auth/long_lived_access_token", a.leg("token", func(map[string]json.RawMessage) string { return `"long-lived"` }))
	mux := a.server.Handler.(*http.ServeMux)
	serve := func(path, leg, answer string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			a.set(func() { a.form += string(body) + "\n" })
			if a.breaks == leg {
				http.Error(w, `{"message":"broken"}`, http.StatusInternalServerError)
				return
			}
			_, _ = io.WriteString(w, answer)
		})
	}
	serve("POST /auth/login_flow", "flow", `{"type":"form","flow_id":"f1"}`)
	serve("POST /auth/login_flow/f1", "login", `{"type":"create_entry","result":"code1"}`)
	serve("POST /auth/token", "grant", `{"access_token":"right","refresh_token":"refresh1"}`)
	serve("POST /auth/revoke", "revoke", ``)
	return a
}

// leg answers a command, or breaks there.
func (a *accounts) leg(name string, do func(map[string]json.RawMessage) string) func(*peer, int64, map[string]json.RawMessage) bool {
	return func(p *peer, id int64, m map[string]json.RawMessage) bool {
		if a.breaks == name {
			p.fail(id, "home_assistant_error", "broken")
			return true
		}
		a.fake.mu.Lock()
		answer := do(m)
		a.fake.mu.Unlock()
		p.result(id, answer)
		return true
	}
}

func TestMakeUserTakesTheUserBack(t *testing.T) {
	for _, c := range []struct {
		breaks string
		code   home.Code
		left   int
	}{
		{"", "", 1}, {"create", home.Internal, 0}, {"credentials", home.Conflict, 0}, {"flow", home.Offline, 0}, {"login", home.Offline, 0},
		{"grant", home.Offline, 0}, {"token", home.Internal, 0}, {"revoke", "", 1},
	} {
		t.Run("breaks at "+c.breaks, func(t *testing.T) {
			a := newAccounts(t)
			a.breaks = c.breaks
			config := Config{URL: serveFake(t, a.fake), Token: secret.New("right")}
			token, user, err := MakeUser(t.Context(), config, "Hearth", "hearth", "pass word")
			if home.CodeOf(err) != c.code {
				t.Errorf("error %v, want code %q", err, c.code)
			}
			if len(a.users) != c.left {
				t.Errorf("left behind: %v", a.users)
			}
			if c.code == "" && (token.Reveal() != "long-lived" || user != "u9" || !strings.Contains(a.form, "grant_type=authorization_code") || !strings.Contains(a.form, "refresh1")) {
				t.Errorf("token %v, user %s, forms %s", token, user, a.form)
			}
			if c.code != "" && (!token.Empty() || user != "") {
				t.Errorf("a failure gave %v %q", token, user)
			}
			if err != nil && strings.Contains(fmt.Sprint(err), "pass word") {
				t.Errorf("the password is in %v", err)
			}
		})
	}
}

func TestMakeUserSaysWhatItLeft(t *testing.T) {
	a := newAccounts(t)
	a.breaks = "flow"
	a.on("config/auth/delete", func(p *peer, id int64, _ map[string]json.RawMessage) bool {
		p.fail(id, "home_assistant_error", "no")
		return true
	})
	_, user, err := MakeUser(t.Context(), Config{URL: serveFake(t, a.fake), Token: secret.New("right")}, "Hearth", "hearth", "pw")
	if user != "u9" || !strings.Contains(fmt.Sprint(err), "could not be removed") {
		t.Errorf("user %q, error %v", user, err)
	}
}

func TestLocal(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:8123": true, "http://192.168.1.4:8123": true, "http://homeassistant.local:8123": true, "http://homeassistant:8123": true,
		"http://[::1]:8123": true, "http://203.0.113.9:8123": false, "https://house.example": false,
	} {
		u, err := Config{URL: url}.base()
		if err != nil {
			t.Fatal(err)
		}
		if local(u) != want {
			t.Errorf("local(%s) is %v", url, !want)
		}
	}
}
