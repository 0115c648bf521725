package mcpd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A method there is not is an answer in JSON-RPC, with and without a session.
func TestNoMethod(t *testing.T) {
	h := newHouse(t, nil)
	for name, header := range map[string][]string{"alone": nil, "in a session": {headSession, h.openSession(t)}} {
		for _, c := range []struct {
			method string
			code   int
		}{
			{"tools/burn", -32601}, {"tasks/list", -32601}, {"nothing", -32601}, {"tools/list", 0}, {"ping", 0},
		} {
			r := h.post(t, t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":{}}`, c.method), header...)
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(string(body))
			if at := strings.Index(text, "data: "); at >= 0 {
				text = text[at+len("data: "):]
			}
			var a struct {
				ID    string
				Error struct{ Code int }
			}
			if err := json.Unmarshal([]byte(text), &a); err != nil || r.StatusCode != http.StatusOK || a.ID != "q" || a.Error.Code != c.code {
				t.Errorf("%s, %s: %d %s", name, c.method, r.StatusCode, body)
			}
		}
	}
}

// What we take for a method is one for the SDK, too.
func TestLegacyMethodsAreTheSDKs(t *testing.T) {
	h := newHouse(t, nil)
	for _, m := range []string{"initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
		"resources/read", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "completion/complete", "server/discover"} {
		if !legacyMethod(m) {
			t.Errorf("%s is refused", m)
		}
		r := h.post(t, t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, m))
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || strings.Contains(string(body), "not handled") {
			t.Errorf("%s: %d %s, %v", m, r.StatusCode, body, err)
		}
	}
}
