package simhome

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// version is the Home Assistant that is simulated.
const version = "2026.11.0"

const (
	authTimeout = 10 * time.Second
	maxPending  = 4096 // messages a client may leave unread before it is dropped
	maxJoined   = 256  // messages that go out in one coalesced frame
)

// conn is one authenticated WebSocket.
type conn struct {
	h        *House
	ws       *websocket.Conn
	user     *user
	last     int  // the newest id seen
	coalesce bool // guarded by mu

	mu      sync.Mutex
	queue   []outgoing
	stashed []byte // a result held back by Reordered
	closed  bool
	ready   chan struct{}
	end     context.CancelCauseFunc
}

// outgoing is one message, or a whole frame made by Flood.
type outgoing struct {
	data  []byte
	whole bool // already an array of messages
	huge  bool // stands for a frame over 64 MiB
}

var (
	errSlowClient = errors.New("client unable to keep up with pending messages")
	errRevoked    = errors.New("token revoked")
	errCut        = errors.New("cut on call")
	errRestart    = errors.New("restart")
)

// serveWS is the whole life of one WebSocket; its writer ends with it.
func (h *House) serveWS(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(64 << 20)
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if h.blocked(ctx) != nil {
		return
	}
	u := h.authenticate(ctx, ws)
	if u == nil {
		ws.Close(websocket.StatusNormalClosure, "")
		return
	}
	c := &conn{h: h, ws: ws, user: u, ready: make(chan struct{}, 1), end: cancel}
	h.mu.Lock()
	h.conns[c] = struct{}{} // before the client may know, so that a fault finds it
	h.mu.Unlock()
	tell(ctx, ws, map[string]any{"type": "auth_ok", "ha_version": version})
	var wg sync.WaitGroup
	wg.Go(func() { c.writeAll(ctx) }) // ends when ctx does, below
	c.readAll(ctx)
	h.forget(c)
	cancel(nil)
	wg.Wait()
}

func (h *House) forget(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	h.unsubscribe(c, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.queue = nil
}

// authenticate does the auth phase; nil means it failed and was said so.
func (h *House) authenticate(ctx context.Context, ws *websocket.Conn) *user {
	say := func(v map[string]any) { tell(ctx, ws, v) }
	say(map[string]any{"type": "auth_required", "ha_version": version})
	rctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	_, data, err := ws.Read(rctx)
	if err != nil {
		return nil
	}
	var m struct {
		Type  string `json:"type"`
		Token string `json:"access_token"`
		ID    any    `json:"id"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	if m.Type != "auth" || m.ID != nil {
		say(map[string]any{"type": "auth_invalid", "message": "Auth message incorrectly formatted: " + authFault(m.Type, m.ID)})
		return nil
	}
	h.mu.Lock()
	u := h.tokens[m.Token]
	if h.faults.authInvalid {
		u = nil
	}
	h.mu.Unlock()
	if u == nil {
		say(map[string]any{"type": "auth_invalid", "message": "Invalid access token or password"})
		return nil
	}
	return u
}

func tell(ctx context.Context, ws *websocket.Conn, v map[string]any) {
	ws.Write(ctx, websocket.MessageText, mustJSON(v))
}

func authFault(kind string, id any) string {
	fault := ""
	if id != nil {
		fault = "not a valid option at 'id'. Got " + string(mustJSON(id))
	}
	if kind != "auth" {
		if fault != "" {
			fault += "\n"
		}
		fault += "not a valid value at 'type'. Got '" + kind + "'"
	}
	return fault
}

// readAll handles commands until the socket ends.
func (c *conn) readAll(ctx context.Context) {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil || c.h.blocked(ctx) != nil {
			return
		}
		if !c.handleFrame(data) {
			c.ws.Close(websocket.StatusNormalClosure, "")
			return
		}
	}
}

// handleFrame handles one frame: a command or an array of them; false ends the connection.
func (c *conn) handleFrame(data []byte) bool {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	var many []json.RawMessage
	if json.Unmarshal(data, &many) != nil {
		if !json.Valid(data) {
			return false
		}
		many = []json.RawMessage{data}
	}
	for _, one := range many {
		c.handle(one)
		c.h.settle()
	}
	return true
}

// request is one command as it came.
type request struct {
	id     int
	kind   string
	fields map[string]json.RawMessage
}

// decode puts one field into v and reports whether it was there and fitted.
func (r request) decode(key string, v any) bool {
	raw, ok := r.fields[key]
	return ok && json.Unmarshal(raw, v) == nil
}

// text is a field as a string, "" when missing.
func (r request) text(key string) string {
	var s string
	r.decode(key, &s)
	return s
}

func (c *conn) handle(data []byte) {
	r := request{}
	json.Unmarshal(data, &r.fields)
	if !r.decode("id", &r.id) || r.id <= 0 || !r.decode("type", &r.kind) || r.kind == "" {
		id := any(nil)
		if r.fields == nil {
			id = 0
		} else {
			r.decode("id", &id)
		}
		c.send(mustJSON(map[string]any{"id": id, "type": "result", "success": false,
			"error": map[string]any{"code": "invalid_format", "message": "Message incorrectly formatted."}}))
		return
	}
	if r.id <= c.last {
		c.fail(r.id, &fault{code: "id_reuse", message: "Identifier values have to increase."})
		return
	}
	c.last = r.id
	cmd, ok := commands()[r.kind]
	if !ok {
		c.fail(r.id, &fault{code: "unknown_command", message: "Unknown command."})
		return
	}
	if err := cmd.check(c.user, r); err != nil {
		c.fail(r.id, err)
		return
	}
	cmd.do(c, r)
}

// fault is an error as Home Assistant words it.
type fault struct {
	code, message string
	key, domain   string         // of the translation, both or none
	with          map[string]any // placeholders
}

func (c *conn) fail(id int, f *fault) {
	e := map[string]any{"code": f.code, "message": f.message}
	if f.key != "" {
		e["translation_key"], e["translation_domain"], e["translation_placeholders"] = f.key, f.domain, f.with
	}
	c.answer(mustJSON(map[string]any{"id": id, "type": "result", "success": false, "error": e}))
}

// result answers with a value, resultJSON with JSON made elsewhere.
func (c *conn) result(id int, v any) { c.resultJSON(id, mustJSON(v)) }

func (c *conn) resultJSON(id int, payload []byte) {
	b := strconv.AppendInt([]byte(`{"id":`), int64(id), 10)
	b = append(append(b, `,"type":"result","success":true,"result":`...), payload...)
	c.answer(append(b, '}'))
}

// event sends a made-up event under a subscription's id.
func (c *conn) event(id int, payload []byte) {
	b := strconv.AppendInt([]byte(`{"id":`), int64(id), 10)
	b = append(append(b, `,"type":"event","event":`...), payload...)
	c.send(append(b, '}'))
}

// answer sends a result, late or out of order where a fault asks for it.
func (c *conn) answer(msg []byte) {
	f := &c.h.faults
	switch {
	case f.slow:
		c.h.after(slowAnswer, func() { c.send(msg) })
	case f.reordered && c.stashed == nil:
		c.stashed = msg
		c.h.after(50*time.Millisecond, c.unstash)
	case c.stashed != nil:
		c.send(msg)
		c.unstash()
	default:
		c.send(msg)
	}
}

func (c *conn) unstash() {
	if c.stashed != nil {
		c.send(c.stashed)
		c.stashed = nil
	}
}

// send queues one message.
func (c *conn) send(msg []byte) { c.push(outgoing{data: msg}) }

func (c *conn) push(o outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if len(c.queue) >= maxPending {
		c.closed, c.queue = true, nil
		c.end(errSlowClient)
		return
	}
	c.queue = append(c.queue, o)
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// writeAll writes what is queued until ctx ends.
func (c *conn) writeAll(ctx context.Context) {
	defer c.ws.CloseNow()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ready:
		}
		if c.h.blocked(ctx) != nil || c.flush(ctx) != nil {
			return
		}
	}
}

// flush writes the whole queue.
func (c *conn) flush(ctx context.Context) error {
	c.mu.Lock()
	queue, coalesce := c.queue, c.coalesce
	c.queue = nil
	c.mu.Unlock()
	for len(queue) > 0 {
		n := 1
		frame := queue[0].data
		switch {
		case queue[0].huge:
			if err := writeHuge(ctx, c.ws); err != nil {
				return err
			}
		case coalesce && !queue[0].whole:
			for n < len(queue) && n < maxJoined && !queue[n].whole && !queue[n].huge {
				n++
			}
			if n > 1 {
				frame = joined(queue[:n])
			}
			fallthrough
		default:
			if err := c.ws.Write(ctx, websocket.MessageText, frame); err != nil {
				return err
			}
		}
		queue = queue[n:]
	}
	return nil
}

// joined makes one array of several messages.
func joined(queue []outgoing) []byte {
	size := 2
	for _, o := range queue {
		size += len(o.data) + 1
	}
	b := append(make([]byte, 0, size), '[')
	for i, o := range queue {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.data...)
	}
	return append(b, ']')
}

// dropAll closes every socket without a word.
func (h *House) dropAll(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endAll(errors.New(why))
}

// endAll is dropAll with the house locked: each socket closes as its context ends.
func (h *House) endAll(why error) {
	for c := range h.conns {
		c.end(why)
	}
}
