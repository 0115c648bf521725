package daemon

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/simhome"
)

// living is a whole house on a simulated one, both in this process.
type living struct {
	sim    *simhome.House
	dir    string
	status Status
	client *Client
	stop   func() error // stops Hearth and waits for it
}

// live starts everything; the simulated house ends with the test.
func live(t *testing.T, dir string, log *slog.Logger) *living {
	t.Helper()
	h := &living{sim: simhome.New(simhome.Options{Seed: 1}), dir: dir}
	l, dial := simhome.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.sim.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	c := Defaults()
	c.HA.URL, c.HA.Token = "http://house:8123", secret.New(h.sim.HearthToken())
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started, done := make(chan Status, 1), make(chan error, 1)
	own, end := context.WithCancel(context.Background())
	go func() {
		done <- Run(own, Options{Dir: dir, Config: c, Version: "test", Log: log, Listen: tcp, Dial: dial, Started: func(s Status) { started <- s }})
	}()
	h.stop = func() error {
		end()
		return <-done
	}
	select {
	case h.status = <-started:
	case err := <-done:
		t.Fatalf("the house did not start: %v", err)
	}
	if h.client, err = Join(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if s, err := h.client.Live(t.Context()); err != nil || !s.Live {
		t.Fatalf("the house does not live: %+v, %v", s, err)
	}
	return h
}

// ask calls a tool and decodes its answer.
func (h *living) ask(t *testing.T, tool, args string) map[string]any {
	t.Helper()
	a, err := h.client.Call(t.Context(), tool, json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	if a.Error != nil {
		t.Fatalf("%s: %v", tool, a.Error.Err())
	}
	var out map[string]any
	if err := json.Unmarshal(a.JSON, &out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, a.JSON)
	}
	return out
}

func TestHouse_ActsAndKnowsWhy(t *testing.T) {
	before := runtime.NumGoroutine()
	var log strings.Builder
	h := live(t, t.TempDir(), NewLog(Log{Level: "debug", Format: "json"}, &log))

	h.ask(t, "service_call", `{"service":"light.turn_off","entity_id":["light.kitchen_lights"]}`)
	done := h.ask(t, "service_call", `{"service":"light.turn_on","entity_id":["light.kitchen_lights"]}`)
	if done["outcome"] != "done" {
		t.Fatalf("outcome %v", done)
	}
	call, _ := done["call"].(string)
	if !strings.HasPrefix(call, "call_") {
		t.Errorf("no id of the call in %v", done)
	}

	why, err := json.Marshal(h.ask(t, "journal_why", `{"entity_id":"light.kitchen_lights"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{call, "service_call", "light.turn_on", "light.kitchen_lights"} {
		if !strings.Contains(string(why), want) {
			t.Errorf("why does not name %s: %s", want, why)
		}
	}
	rows, err := json.Marshal(h.ask(t, "journal_query", `{"entity_id":["light.kitchen_lights"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(rows), call) && !strings.Contains(string(rows), `"on"`) {
		t.Errorf("the journal does not know the light: %s", rows)
	}

	status := h.ask(t, "hearth_status", `{}`)
	if all, err := h.client.Status(t.Context()); err != nil || status["mirror"].(map[string]any)["entities"] != float64(all.Entities) {
		t.Errorf("the doctor counts %d entities, the tools say %v (%v)", all.Entities, status["mirror"], err)
	}
	if status["up"] == nil {
		t.Error("the status does not say how long this process has run")
	}
	if links, _ := json.Marshal(status["links"]); !strings.Contains(string(links), `"site":"ha"`) {
		t.Errorf("the status does not name the site: %s", links)
	}

	h.client.Close()
	if err := h.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
	if strings.Contains(log.String(), h.sim.HearthToken()) {
		t.Error("the token is in the log")
	}
	settle(t, before+4) // the simulated house still serves
}

// settle waits until no more than n goroutines run.
func settle(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 250 {
		if runtime.NumGoroutine() <= n {
			return
		}
		<-tick.C
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines are left, want at most %d\n%s", runtime.NumGoroutine(), n, stacks[:runtime.Stack(stacks, true)])
}

func TestHouse_KeepsTheJournalOverARestart(t *testing.T) {
	dir := t.TempDir()
	h := live(t, dir, slog.New(slog.DiscardHandler))
	out := h.ask(t, "service_call", `{"service":"light.toggle","entity_id":["light.bed_light"]}`)
	call, _ := out["call"].(string)
	h.client.Close()
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h = live(t, dir, slog.New(slog.DiscardHandler))
	defer h.stop()
	rows, err := json.Marshal(h.ask(t, "journal_query", `{"kinds":["hearth"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if call == "" || !strings.Contains(string(rows), call) {
		t.Errorf("call %q is gone: %s", call, rows)
	}
}

func TestHouse_RefusesWhatTheDoorRefuses(t *testing.T) {
	h := live(t, t.TempDir(), slog.New(slog.DiscardHandler))
	defer h.stop()
	for _, c := range []struct {
		name, tool, args string
		want             home.Code
	}{
		{"an unknown tool", "entity_gte", `{}`, home.NotFound},
		{"an unknown argument", "entity_get", `{"entity_id":"light.bed_light","colour":"red"}`, home.Invalid},
		{"an unknown entity", "entity_get", `{"entity_id":"light.nowhere"}`, home.NotFound},
		{"broken arguments", "entity_get", `[`, home.Invalid},
		{"a service that is not on the list", "service_call", `{"service":"homeassistant.restart"}`, home.Denied},
	} {
		a, err := h.client.Call(t.Context(), c.tool, json.RawMessage(c.args))
		if c.args == "[" {
			if err == nil {
				t.Errorf("%s: was sent", c.name)
			}
			continue
		}
		if err != nil || a.Error == nil || a.Error.Code != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.name, a.Error, err, c.want)
		}
	}
}

func TestHouse_DoctorShowsWhatCouldNotBeRead(t *testing.T) {
	h := live(t, t.TempDir(), slog.New(slog.DiscardHandler))
	defer h.stop()
	h.sim.Inject(simhome.Malformed)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var lit, shown bool
		for _, f := range Examine(t.Context(), Sources{Data: h.dir, Lookup: func(string) (string, bool) { return "", false }}) {
			lit = lit || f.Name == string(health.HassFrames) && f.Warn
			shown = shown || f.Name == "frame" && strings.Contains(f.Detail, "bytes: ")
		}
		if lit && shown {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the doctor shows nothing")
		}
	}
}

func TestHouse_ResyncNeedsALink(t *testing.T) {
	h := live(t, t.TempDir(), slog.New(slog.DiscardHandler))
	defer h.stop()
	if err := h.client.Resync(t.Context()); err != nil {
		t.Errorf("with a link: %v", err)
	}
	h.sim.Revoke(h.sim.HearthToken()) // it is thrown out, and not let in again
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := h.client.Resync(t.Context()); err != nil {
			if home.CodeOf(err) != home.Offline || !strings.Contains(err.Error(), "when the link is back") {
				t.Errorf("without a link: %v", err)
			}
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it claims to read a house that is away")
		}
	}
}

func TestHouse_HTTPEdge(t *testing.T) {
	h := live(t, t.TempDir(), slog.New(slog.DiscardHandler))
	defer h.stop()
	for _, c := range []struct {
		method, path string
		status       int
		challenge    bool
	}{
		{"GET", "/health", 200, false}, {"HEAD", "/health", 200, false}, {"GET", "/ready", 200, false}, {"HEAD", "/ready", 200, false},
		{"GET", "/", 401, true}, {"GET", "/x/../health", 401, true}, {"POST", "/", 401, true}, {"POST", "/mcp", 401, true}, {"GET", "/metrics", 401, true}, {"DELETE", "/", 401, true},
	} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+h.status.Listen+c.path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		q.URL.Opaque = "" // the path as it stands
		a, err := http.DefaultTransport.RoundTrip(q)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, a.Body)
		a.Body.Close()
		if a.StatusCode != c.status || (a.Header.Get("WWW-Authenticate") != "") != c.challenge {
			if a.StatusCode == http.StatusTemporaryRedirect || a.StatusCode == http.StatusMovedPermanently {
				continue // the mux cleans the path first
			}
			t.Errorf("%s %s: %d, challenge %q", c.method, c.path, a.StatusCode, a.Header.Get("WWW-Authenticate"))
		}
	}
}

func TestReady_SaysWhyAfterFiveMinutes(t *testing.T) {
	r := &rooms{health: &health.Registry{}}
	check := func(want int) string {
		t.Helper()
		w := &recorder{header: http.Header{}}
		r.ready(w, nil)
		if w.status != want {
			t.Errorf("status %d, want %d: %s", w.status, want, w.body.String())
		}
		return w.body.String()
	}
	check(http.StatusOK)
	r.health.Light("hass.offline", "secret detail")
	check(http.StatusOK) // not yet
	r.now = func() time.Time { return time.Now().Add(6 * time.Minute) }
	if body := check(http.StatusServiceUnavailable); !strings.Contains(body, "hass.offline") || strings.Contains(body, "secret detail") {
		t.Errorf("body %s", body)
	}
	r.health.Clear("hass.offline")
	r.health.Light("hass.not_admin", "") // this one does not make the house unusable
	check(http.StatusOK)
}

type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(s int)           { r.status = s }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func TestRun_RefusesATakenPortBeforeTouchingTheHouse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := Defaults()
	c.Listen, c.HA.URL, c.HA.Token = l.Addr().String(), "http://house", secret.New("x")
	err = Run(t.Context(), Options{Dir: t.TempDir(), Config: c, Log: slog.New(slog.DiscardHandler), Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("the house was touched")
		return nil, io.EOF
	}})
	if home.CodeOf(err) != home.Conflict || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got %v", err)
	}
}
