package hass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// fake is a server that answers the link's commands as a very small Home
// Assistant does, over pipes in memory, and lets a test misbehave in its place.
type fake struct {
	t     testing.TB
	token string
	admin bool
	begin time.Time

	mu       sync.Mutex
	refuse   error          // the dialer's answer, when not nil
	silent   bool           // accept and never greet
	dials    []time.Time    // when somebody dialled
	sent     map[string]int // commands received, by type
	times    map[string][]time.Time
	lastID   map[*peer]int64
	peers    []*peer
	hooks    map[string]func(p *peer, id int64, msg map[string]json.RawMessage) bool
	states   string // the object of subscribe_entities' first event
	entities map[string]string
	accept   chan net.Conn
	server   *http.Server
}

// peer is one connection, seen from the server.
type peer struct {
	f    *fake
	conn *websocket.Conn
	wmu  sync.Mutex
	subs map[string]int64 // event type → subscription
	live int64            // the states' subscription
}

func newFake(t testing.TB) *fake {
	f := &fake{
		t: t, token: "right", admin: true, begin: time.Now(),
		sent: map[string]int{}, times: map[string][]time.Time{}, lastID: map[*peer]int64{},
		hooks:  map[string]func(*peer, int64, map[string]json.RawMessage) bool{},
		accept: make(chan net.Conn, 16),
		states: `{"light.kitchen":{"s":"on","a":{"brightness":120,"friendly_name":"Kitchen"},"c":"ctx1","lc":1796052860.9447236},` +
			`"automation.wake":{"s":"on","a":{"id":"wake"},"c":"ctx2","lc":1796052861,"lu":1796052862.5}}`,
		entities: map[string]string{
			"light.kitchen":   `{"entity_id":"light.kitchen","id":"r1","unique_id":"u1","platform":"hue","device_id":"d1","area_id":null,"labels":["warm"],"aliases":["cooker",null],"name":null,"original_name":"Kitchen","next_name_part":"device","options":{},"device_class":null}`,
			"automation.wake": `{"entity_id":"automation.wake","id":"r2","unique_id":"wake","platform":"automation","labels":[],"aliases":[]}`,
			"person.ann":      `{"entity_id":"person.ann","id":"r3","unique_id":"p_ann","platform":"person","labels":[],"aliases":[]}`,
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/websocket", f.socket)
	f.server = &http.Server{Handler: mux}
	return f
}

// Accept, Close and Addr make the fake a listener.
func (f *fake) Accept() (net.Conn, error) {
	c, ok := <-f.accept
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (f *fake) Close() error   { return nil }
func (f *fake) Addr() net.Addr { return &net.UnixAddr{Name: "fake"} }

// dial is the link's dialer.
func (f *fake) dial(context.Context, string, string) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, time.Now())
	refuse := f.refuse
	f.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	ours, theirs := net.Pipe()
	f.accept <- ours
	return theirs, nil
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// on lets a test answer a command; false leaves it to the fake.
func (f *fake) on(kind string, hook func(p *peer, id int64, msg map[string]json.RawMessage) bool) {
	f.set(func() { f.hooks[kind] = hook })
}

func (f *fake) count(kind string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[kind]
}

func (f *fake) peer() *peer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peers[len(f.peers)-1]
}

func (f *fake) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	p := &peer{f: f, conn: conn, subs: map[string]int64{}}
	f.mu.Lock()
	silent := f.silent
	f.mu.Unlock()
	if silent {
		_, _, _ = conn.Read(r.Context())
		return
	}
	p.send(`{"type":"auth_required","ha_version":"2026.11.0"}`)
	_, raw, err := conn.Read(r.Context())
	if err != nil {
		return
	}
	f.mu.Lock()
	ok := strings.Contains(string(raw), `"`+f.token+`"`)
	f.mu.Unlock()
	if !ok {
		p.send(`{"type":"auth_invalid","message":"Invalid access token or password"}`)
		return
	}
	p.send(`{"type":"auth_ok","ha_version":"2026.11.0"}`)
	f.set(func() { f.peers = append(f.peers, p) })
	for {
		_, raw, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		p.handle(raw)
	}
}

// handle checks the id and answers.
func (p *peer) handle(raw []byte) {
	var msg map[string]json.RawMessage
	if err := json.Unmarshal(raw, &msg); err != nil {
		p.f.t.Errorf("the link sent %s: %v", raw, err)
		return
	}
	var id int64
	var kind string
	_ = json.Unmarshal(msg["id"], &id)
	_ = json.Unmarshal(msg["type"], &kind)
	f := p.f
	f.mu.Lock()
	if id <= f.lastID[p] {
		f.t.Errorf("id %d after %d (%s)", id, f.lastID[p], kind)
	}
	f.lastID[p] = id
	f.sent[kind]++
	f.times[kind] = append(f.times[kind], time.Now())
	hook := f.hooks[kind]
	f.mu.Unlock()
	if hook != nil && hook(p, id, msg) {
		return
	}
	p.usual(kind, id, msg)
}

// usual answers as the small house does.
func (p *peer) usual(kind string, id int64, msg map[string]json.RawMessage) {
	f := p.f
	f.mu.Lock()
	states, admin := f.states, f.admin
	f.mu.Unlock()
	switch kind {
	case "ping":
		p.send(fmt.Sprintf(`{"id":%d,"type":"pong"}`, id))
	case "supported_features", "unsubscribe_events":
		p.result(id, `null`)
	case "auth/current_user":
		p.result(id, fmt.Sprintf(`{"id":"me","name":"Hearth","is_admin":%v}`, admin))
	case "subscribe_events":
		var event string
		_ = json.Unmarshal(msg["event_type"], &event)
		if !admin && !strings.Contains(strings.Join(openEvents(), " "), event) {
			p.fail(id, "unauthorized", "Unauthorized")
			return
		}
		f.set(func() { p.subs[event] = id })
		p.result(id, `null`)
	case "get_config":
		p.result(id, `{"location_name":"Home","version":"2026.11.0","time_zone":"Europe/Amsterdam","state":"RUNNING","components":["light"],"unit_system":{"temperature":"°C"},"latitude":52.1}`)
	case "config/entity_registry/list":
		var rows []string
		f.mu.Lock()
		for _, r := range f.entities {
			rows = append(rows, r)
		}
		f.mu.Unlock()
		p.result(id, "["+strings.Join(rows, ",")+"]")
	case "config/entity_registry/get_entries":
		p.result(id, f.entries(msg["entity_ids"]))
	case "config/device_registry/list":
		p.result(id, `[{"id":"d1","name":"Hue lamp","name_by_user":null,"manufacturer":"Signify","area_id":"kitchen","parent_device_id":null,"labels":[]}]`)
	case "config/device_registry/list_composite_splits":
		p.result(id, `{"old":{"split_ids":["d1"],"primary_id":null}}`)
	case "config/area_registry/list":
		p.result(id, `[{"area_id":"kitchen","name":"Kitchen","aliases":["cooking"],"floor_id":"ground","labels":[]}]`)
	case "config/floor_registry/list":
		p.result(id, `[{"floor_id":"ground","name":"Ground floor","level":0,"aliases":[]}]`)
	case "config/label_registry/list":
		p.result(id, `[{"label_id":"warm","name":"Warm","color":null}]`)
	case "config/auth/list":
		if !admin {
			p.fail(id, "unauthorized", "Unauthorized")
			return
		}
		p.result(id, `[{"id":"u_ann","name":"Ann","system_generated":false},{"id":"me","name":"Hearth","system_generated":false}]`)
	case "person/list":
		p.result(id, `{"storage":[{"id":"p_ann","name":"Ann","user_id":"u_ann"}],"config":[]}`)
	case "get_services":
		p.result(id, `{"light":{"turn_on":{"name":"Turn on","description":"…","fields":{"brightness_pct":{"required":false,"selector":{"number":{}}},"more":{"fields":{"flash":{"selector":{}}}}},"target":{"entity":[{"domain":["light"]}]}}}}`)
	case "subscribe_entities":
		f.set(func() { p.live = id })
		p.result(id, `null`)
		p.send(fmt.Sprintf(`{"id":%d,"type":"event","event":{"a":%s}}`, id, states))
	case "automation/config", "script/config":
		p.result(id, `{"config":{"alias":"Wake"}}`)
	case "call_service":
		p.result(id, `{"context":{"id":"ctx9","parent_id":null,"user_id":"me"},"response":null}`)
	default:
		p.fail(id, "unknown_command", "Unknown command.")
	}
}

func (f *fake) entries(raw json.RawMessage) string {
	var ids []string
	_ = json.Unmarshal(raw, &ids)
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []string
	for _, id := range ids {
		row, ok := f.entities[id]
		if !ok {
			row = "null"
		}
		rows = append(rows, fmt.Sprintf("%q:%s", id, row))
	}
	return "{" + strings.Join(rows, ",") + "}"
}

func (p *peer) send(text string) {
	p.wmu.Lock()
	defer p.wmu.Unlock()
	_ = p.conn.Write(context.Background(), websocket.MessageText, []byte(text))
}

func (p *peer) result(id int64, result string) {
	p.send(fmt.Sprintf(`{"id":%d,"type":"result","success":true,"result":%s}`, id, result))
}

func (p *peer) fail(id int64, code, message string) {
	p.send(fmt.Sprintf(`{"id":%d,"type":"result","success":false,"error":{"code":%q,"message":%q}}`, id, code, message))
}

// event sends an event of a type the link subscribed to.
func (p *peer) event(kind, data string) {
	p.f.mu.Lock()
	id := p.subs[kind]
	p.f.mu.Unlock()
	p.send(fmt.Sprintf(`{"type":"event","event":{"event_type":%q,"data":%s,"origin":"LOCAL","time_fired":"2026-11-30T15:34:20.944442+00:00","context":{"id":"c1","parent_id":null,"user_id":"u_ann"}},"id":%d}`, kind, data, id))
}

// differ sends a difference of states.
func (p *peer) differ(event string) {
	p.f.mu.Lock()
	id := p.live
	p.f.mu.Unlock()
	p.send(fmt.Sprintf(`{"type":"event","event":%s,"id":%d}`, event, id))
}

func (p *peer) drop() { p.conn.CloseNow() }

// rig is a link to a fake inside a bubble.
type rig struct {
	*fake
	client *Client
	actor  *Actor
	health *health.Registry
	log    *strings.Builder

	mu      sync.Mutex
	reports []home.Report
	busy    bool
	onSink  func(home.Report)
	stop    context.CancelFunc
	done    chan error
}

// bubble runs a test in synthetic time, with a link that is not started yet.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fake: newFake(t), health: &health.Registry{}, log: &strings.Builder{}}
		go func() { _ = r.server.Serve(r.fake) }()
		var err error
		r.client, r.actor, err = New(Config{URL: "http://fake:8123", Token: secret.New("right"), Dial: r.dial},
			slog.New(slog.NewTextHandler(&lockedWriter{w: r.log}, nil)), r.health)
		if err != nil {
			t.Fatal(err)
		}
		test(t, r)
		if r.stop != nil {
			r.stop()
			if err := <-r.done; err != nil {
				t.Errorf("Run ended with %v", err)
			}
		}
		close(r.accept)
		_ = r.server.Close()
		synctest.Wait()
	})
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// start starts Run.
func (r *rig) start() {
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	r.done = make(chan error, 1)
	go func() { r.done <- r.client.Run(ctx, r.sink) }()
}

// up starts Run and waits for the snapshot.
func (r *rig) up() {
	r.start()
	synctest.Wait()
	if up, why := r.client.Online(); !up {
		r.t.Fatalf("the link is not up: %s", why)
	}
}

func (r *rig) sink(report home.Report) {
	r.mu.Lock()
	if r.busy {
		r.t.Error("the sink was called twice at once")
	}
	r.busy = true
	hook := r.onSink
	r.reports = append(r.reports, report)
	r.mu.Unlock()
	if hook != nil {
		hook(report)
	}
	r.mu.Lock()
	r.busy = false
	r.mu.Unlock()
}

// took gives the reports since the last call.
func (r *rig) took() []home.Report {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.reports
	r.reports = nil
	return out
}

// kinds names reports in short.
func kinds(rs []home.Report) string {
	var out []string
	for _, r := range rs {
		out = append(out, [...]string{"", "link", "snapshot", "states", "entities", "registry", "event", "services", "bodies", "info"}[r.Kind])
	}
	return strings.Join(out, " ")
}

func find(rs []home.Report, k home.ReportKind) *home.Report {
	for i := range rs {
		if rs[i].Kind == k {
			return &rs[i]
		}
	}
	return nil
}

var errRefused = errors.New("connection refused")

// serveFake serves a fake over a real socket, for what does not need time.
func serveFake(t *testing.T, f *fake) string {
	s := httptest.NewServer(f.server.Handler)
	t.Cleanup(s.Close)
	return s.URL
}

// pass lets the bubble's clock go on.
func pass(d time.Duration) { <-time.After(d) }
