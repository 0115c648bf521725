package mcpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// post sends a modern request and gives its answer.
func (h *testHouse) post(t *testing.T, ctx context.Context, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/mcp", strings.NewReader(strings.ReplaceAll(body, "META", aboutClient)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer actor-token")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func callHeaders(name string) []string {
	return []string{"Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", name}
}

// TestShortWayAnswersLikeTheSDK holds the short way to the long one: an id of
// sixteen digits takes the long way.
func TestShortWayAnswersLikeTheSDK(t *testing.T) {
	h := newHouse(t, nil)
	session := h.openSession(t)
	for _, tc := range []struct{ name, tool, args string }{
		{"an answer", "entity_get", `{"entity_id":"light.kitchen"}`},
		{"text that needs quoting", "entity_list", `{"area":"kitchen"}`},
		{"an error", "entity_get", `{"entity_id":"light.x"}`},
		{"arguments that do not fit", "entity_get", `{"entity_id":[1]}`},
		{"arguments that are no object", "entity_get", `"light.kitchen"`},
		{"null arguments", "house_overview", `null`},
	} {
		for _, era := range []string{"modern", "legacy", "session"} {
			t.Run(tc.name+" "+era, func(t *testing.T) {
				var got [2]map[string]any
				for i, id := range []string{"7", "1000000000000007"} {
					body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s`, id, tc.tool, tc.args)
					var head []string
					if era == "modern" {
						body, head = body+",META", callHeaders(tc.tool)
					}
					if era == "session" {
						head = []string{headSession, session, headVersion, "2025-11-25"}
					}
					r := h.post(t, t.Context(), body+"}}", head...)
					b, err := io.ReadAll(r.Body)
					if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
						t.Fatalf("%d %v %q %s", r.StatusCode, err, r.Header.Get("Content-Type"), b)
					}
					_, data, _ := bytes.Cut(b, []byte("data: "))
					if err := json.Unmarshal(data, &got[i]); err != nil {
						t.Fatal(err)
					}
					delete(got[i], "id")
				}
				if !reflect.DeepEqual(got[0], got[1]) {
					t.Errorf("short way %v\nlong way %v", got[0], got[1])
				}
			})
		}
	}
}

// TestClosedConnectionCancels shows that a call nobody can hear the end of is
// cancelled, on the short way and on the SDK's, in both eras.
// TestLooseNames calls tools the way clients spell them: by the short way, by
// the SDK's, in a session and in the modern era.
func TestLooseNames(t *testing.T) {
	h := newHouse(t, nil)
	session := h.openSession(t)
	for _, name := range []string{"house-overview", "houseOverview", "House_Overview", "mcp__hearth__house_overview"} {
		call := func(id, meta string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":{}` + meta + `}}`
		}
		for way, ask := range map[string]struct {
			body   string
			header []string
		}{
			"short":            {call("1", ""), nil},
			"SDK":              {call("-1", ""), nil}, // an id the short way leaves alone
			"session":          {call("1", ""), []string{headSession, session}},
			"modern and short": {call("1", ","+aboutClient), callHeaders(name)},
			"modern":           {call("-1", ","+aboutClient), callHeaders(name)},
		} {
			r := h.post(t, t.Context(), ask.body, ask.header...)
			got, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || !strings.Contains(string(got), "light.kitchen") || strings.Contains(string(got), `"error"`) {
				t.Errorf("%s, %s: %d %s %v", name, way, r.StatusCode, got, err)
			}
		}
	}
}

func TestClosedConnectionCancels(t *testing.T) {
	h := newHouse(t, nil)
	for _, tc := range []struct {
		name, body string
		head       []string
	}{
		{"modern", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold",META}}`, callHeaders("hold")},
		{"modern by the SDK", `{"jsonrpc":"2.0","id":1000000000000001,"method":"tools/call","params":{"name":"hold",META}}`, callHeaders("hold")},
		{"legacy alone", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hold"}}`, nil},
		{"legacy alone by the SDK", `{"jsonrpc":"2.0","id":1000000000000001,"method":"tools/call","params":{"name":"hold"}}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/mcp", strings.NewReader(strings.ReplaceAll(tc.body, "META", aboutClient)))
				if err != nil {
					return
				}
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer reader-token")
				for i := 0; i+1 < len(tc.head); i += 2 {
					r.Header.Set(tc.head[i], tc.head[i+1])
				}
				if resp, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			<-h.started
			cancel()
			<-done
			if err := <-h.ended; err != context.Canceled {
				t.Errorf("the call ended with %v", err)
			}
		})
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

// open opens a session and gives its id.
func (h *testHouse) openSession(t *testing.T) string {
	t.Helper()
	r := h.post(t, t.Context(), hello)
	_, _ = io.Copy(io.Discard, r.Body)
	id := r.Header.Get(headSession)
	if id == "" {
		t.Fatal("no session")
	}
	return id
}

// listen opens the stream of a session and waits until it is open.
func (h *testHouse) listen(t *testing.T, id string) (*bufio.Reader, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer actor-token")
	r.Header.Set(headSession, id)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); resp.Body.Close() })
	in := bufio.NewReader(resp.Body)
	if line, err := in.ReadString('\n'); err != nil || line != ": ok\n" {
		t.Fatalf("%q %v", line, err)
	}
	return in, cancel
}

// TestSessionCalls shows what ends a running call of a session: its client's
// word and the session's end, on the short way and on the SDK's.
func TestSessionCalls(t *testing.T) {
	h := newHouse(t, nil)
	for _, call := range []string{"9", "1000000000000009"} {
		for _, end := range []string{"cancelled", "DELETE"} {
			if end == "DELETE" && call != "9" {
				continue // the SDK lets it finish, and the deadline ends it
			}
			t.Run(end+" "+call, func(t *testing.T) {
				id := h.openSession(t)
				done := make(chan struct{})
				go func() {
					defer close(done)
					h.postQuietly(`{"jsonrpc":"2.0","id":`+call+`,"method":"tools/call","params":{"name":"hold"}}`, id)
				}()
				<-h.started
				if end == "DELETE" {
					r, err := http.NewRequest(http.MethodDelete, h.url+"/mcp", nil)
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Authorization", "Bearer actor-token")
					r.Header.Set(headSession, id)
					resp, err := http.DefaultClient.Do(r)
					if err != nil || resp.StatusCode != http.StatusNoContent {
						t.Errorf("%v %v", resp, err)
					}
				} else if r := h.post(t, t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+call+`}}`, headSession, id); r.StatusCode != http.StatusAccepted {
					t.Errorf("status %d", r.StatusCode)
				}
				<-h.ended
				<-done
			})
		}
	}
}

// postQuietly sends a message of a session from a goroutine and drops the answer.
func (h *testHouse) postQuietly(body, session string) {
	r, err := http.NewRequest(http.MethodPost, h.url+"/mcp", strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer actor-token")
	r.Header.Set(headSession, session)
	if resp, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// TestIdleSessionsEnd shows what counts as use: a request, and an open stream.
func TestIdleSessionsEnd(t *testing.T) {
	h := newHouse(t, nil)
	quiet, listening := h.openSession(t), h.openSession(t)
	_, hangUp := h.listen(t, listening)
	later := time.Now().Add(time.Hour)
	ids := h.sessions.idle(later)
	if len(ids) != 1 || ids[0] != quiet {
		t.Fatalf("idle are %v, want only %s", ids, quiet)
	}
	h.closeSessions(ids)
	if r := h.post(t, t.Context(), `{"jsonrpc":"2.0","id":2,"method":"ping"}`, headSession, quiet); r.StatusCode != http.StatusNotFound {
		t.Errorf("the ended session answered %d", r.StatusCode)
	}
	if r := h.post(t, t.Context(), `{"jsonrpc":"2.0","id":2,"method":"ping"}`, headSession, listening); r.StatusCode != http.StatusOK {
		t.Errorf("the listening session answered %d", r.StatusCode)
	}
	hangUp()
	for ids = nil; len(ids) == 0; ids = h.sessions.idle(later) {
		runtime.Gosched() // until the server sees the closed stream
	}
	h.closeSessions(ids)
	if h.holds(quiet) || h.holds(listening) || h.sessions.count() != 0 {
		t.Error("the SDK still holds a session")
	}
}

// TestRunEndsStreams shows that stopping ends what would wait for ever.
func TestRunEndsStreams(t *testing.T) {
	h := newHouse(t, nil)
	in, _ := h.listen(t, h.openSession(t))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("Run ended with %v", err)
	}
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the stream broke: %v", err)
	}
	if r := h.post(t, t.Context(), hello); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a stopped server answered %d", r.StatusCode)
	}
}

// TestRevokedTokenLosesItsStream shows that a stream does not outlive its token.
func TestRevokedTokenLosesItsStream(t *testing.T) {
	h := newHouse(t, nil)
	h.heartbeat = time.Millisecond
	in, _ := h.listen(t, h.openSession(t))
	if line, err := in.ReadString(':'); err != nil {
		t.Fatalf("no comment came: %q %v", line, err)
	}
	h.revoke("actor-token")
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the stream broke: %v", err)
	}
}

func TestBrake(t *testing.T) {
	var b brake
	now := time.Unix(1000, 0)
	bad, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range brakeTries {
		if wait := b.fail(bad, now); wait != 0 {
			t.Fatalf("try %d has to wait %v", i, wait)
		}
	}
	if wait := b.fail(bad, now); wait <= 0 || wait > brakeRefill {
		t.Errorf("one try too many waits %v", wait)
	}
	if wait := b.fail(other, now); wait != 0 {
		t.Errorf("a neighbour waits %v", wait)
	}
	if wait := b.fail(bad, now.Add(brakeRefill)); wait != 0 {
		t.Errorf("after the wait it still waits %v", wait)
	}
	one, two := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for range brakeTries {
		b.fail(one, now)
	}
	if b.fail(two, now) == 0 {
		t.Error("addresses of one /64 are not taken together")
	}
	for i := range 5000 {
		b.fail(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), now)
	}
	if len(b.addrs) > brakeAddrs {
		t.Errorf("%d addresses are kept", len(b.addrs))
	}
}

// TestBrakeAnswers shows the brake from outside: 429 for wrong tokens, and no
// harm to right ones.
func TestBrakeAnswers(t *testing.T) {
	h := newHouse(t, nil)
	last := 0
	for range brakeTries + 1 {
		r := h.post(t, t.Context(), hello, "Authorization", "Bearer guess")
		last = r.StatusCode
		if last == http.StatusTooManyRequests && r.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last guess got %d", last)
	}
	if r := h.post(t, t.Context(), hello); r.StatusCode != http.StatusOK {
		t.Errorf("a right token got %d", r.StatusCode)
	}
}

// TestLogKeepsSecretsOut looks for the token, the query and the body in the log.
func TestLogKeepsSecretsOut(t *testing.T) {
	h := newHouse(t, nil)
	var log bytes.Buffer
	h.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, bearer := range []string{"Bearer actor-token", "Bearer wrong-secret"} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp?key=query-secret", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"entity_get","arguments":{"entity_id":"body-secret"}}}`))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", bearer)
		h.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, bad := range []string{"actor-token", "secret"} {
		if strings.Contains(log.String(), bad) {
			t.Errorf("%q is in the log:\n%s", bad, log.String())
		}
	}
	for _, good := range []string{"request=req_", "rpc=tools/call", "status=200", "status=401", "wrong token"} {
		if !strings.Contains(log.String(), good) {
			t.Errorf("%q is not in the log:\n%s", good, log.String())
		}
	}
}

// TestCommentsOnASilentStream lets time pass over a stream nothing is said on.
func TestCommentsOnASilentStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		s := newStream(rec, 20*time.Second)
		s.Header().Set("Content-Type", "text/event-stream")
		s.arm()
		s.Header().Set("Content-Type", "application/json") // as the SDK does for an error
		<-time.After(50 * time.Second)
		s.WriteHeader(http.StatusBadRequest)
		_, _ = s.Write([]byte(`{"late":"error"}`))
		<-time.After(15 * time.Second)
		s.end()
		<-time.After(time.Minute)
		want := ":\n\n:\n\nevent: message\ndata: {\"late\":\"error\"}\n\n"
		if got := rec.Body.String(); got != want || rec.Code != http.StatusOK || rec.Result().Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%d %v %q", rec.Code, rec.Result().Header, got)
		}
	})
}

// TestNoCommentsElsewhere shows that a plain answer never gets one.
func TestNoCommentsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		s := newStream(rec, 20*time.Second)
		s.Header().Set("Content-Type", "application/json")
		s.arm()
		<-time.After(time.Minute)
		s.WriteHeader(http.StatusNotFound)
		_, _ = s.Write([]byte("{}"))
		<-time.After(time.Minute)
		s.end()
		if got := rec.Body.String(); got != "{}" || rec.Code != http.StatusNotFound {
			t.Errorf("%d %q", rec.Code, got)
		}
	})
}

func TestPlaces(t *testing.T) {
	p := newPlaces([]string{"Hearth.example", "panel:8080"}, []string{"https://Panel.example/"})
	for host, want := range map[string]bool{
		"localhost": true, "localhost:4663": true, "LOCALHOST": true, "localhost.": true, "127.0.0.1": true, "127.8.8.8:1": true,
		"[::1]": true, "[::1]:4663": true, "hearth.example": true, "hearth.example:99": true, "panel:8080": true,
		"panel": false, "panel:80": false, "evil.example": false, "": false, ":80": false, "127.0.0.1.evil.example": false,
		"192.168.1.5": false, "[fe80::1]": false, "[": false, "localhost@evil": false, "0.0.0.0": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Host = host
		if got := p.host(r); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	for origin, want := range map[string]bool{
		"https://panel.example": true, "http://localhost:4663": true, "http://localhost": false, "https://panel.example:444": false,
		"https://evil.example": false, "null": false, "file://": false, "http://localhost:4663/x": false, "localhost:4663": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		r.Host = "localhost:4663"
		r.Header.Set("Origin", origin)
		if got := p.origin(r); got != want {
			t.Errorf("origin %q: %v", origin, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for _, s := range []string{"", "plain", `"\`, "a\nb\x00\x1f", "Küche 厨房 <b>&", "\xff broken", "\u2028"} {
		var back string
		if err := json.Unmarshal(appendQuoted(nil, []byte(s)), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") {
			t.Errorf("%q came back as %q (%v)", s, back, err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add("hearth://entity/{entity_id}", "hearth://entity/light.kitchen")
	f.Add("hearth://{a}/x/{b}", "hearth://1/x/%2f")
	f.Fuzz(func(t *testing.T, pattern, uri string) {
		if args, ok := arguments(pattern, uri); ok && !json.Valid(args) {
			t.Errorf("%q", args)
		}
	})
}

func TestArguments(t *testing.T) {
	for _, tc := range []struct {
		pattern, uri, want string
		ok                 bool
	}{
		{"hearth://house", "hearth://house", "{}", true},
		{"hearth://e/{id}", "hearth://e/light.x", `{"id":"light.x"}`, true},
		{"hearth://e/{id}", "hearth://e/a%20b", `{"id":"a b"}`, true},
		{"hearth://e/{id}/s", "hearth://e/1/s", `{"id":"1"}`, true},
		{"hearth://e/{id}", "hearth://e/", "", false},
		{"hearth://e/{id}", "hearth://e/a/b", "", false},
		{"hearth://e/{id}", "hearth://e/%zz", "", false},
		{"hearth://house", "hearth://house2", "", false},
	} {
		got, ok := arguments(tc.pattern, tc.uri)
		if ok != tc.ok || ok && string(got) != tc.want {
			t.Errorf("%s of %s: %s %v", tc.pattern, tc.uri, got, ok)
		}
	}
}

// A panic on the way must not keep the place that was reserved for a session.
func TestAPanicGivesTheSessionsPlaceBack(t *testing.T) {
	h := newHouse(t, nil)
	h.stateful = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("inside the SDK") })
	for range maxSessions + 1 {
		r, err := http.NewRequest(http.MethodPost, h.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer actor-token")
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != http.StatusInternalServerError {
			t.Fatalf("status %d, want 500", a.StatusCode)
		}
	}
	if n := h.sessions.count(); n != 0 {
		t.Errorf("%d places are taken by sessions that never opened", n)
	}
}
