package hass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"hearth/internal/home"
)

// The numbers of a session.
const (
	connectTime = 15 * time.Second // connect and authenticate
	commandTime = 30 * time.Second // one command
	pingEvery   = 30 * time.Second
	pongWithin  = 5 * time.Second
	trustFor    = 5 * time.Second // so long after something was heard the link counts as alive
	aliveWithin = time.Second     // for the answer to a ping that somebody waits for
	readLimit   = 64 << 20
	pieceSize   = 1 << 20   // a frame above this is gathered in pieces
	keepBuffer  = pieceSize // a larger read buffer is not kept
	giveAway    = 32 << 10  // a result above this keeps the frame's memory instead of a copy
	writeWithin = 10 * time.Second
)

// answer is what a command came to: its result, or the reason it failed.
type answer struct {
	result []byte
	fault  []byte // Home Assistant's own error object
	err    error  // the session's: closed, timed out
}

// session is one authenticated connection. Its goroutines are started and
// waited for in (*Client).serve; the first error ends it.
type session struct {
	c    *Client
	conn *websocket.Conn
	ctx  context.Context // of this session; ended by stop

	writing chan struct{} // holds one token: who has it writes, so that ids increase on the wire
	lastID  int64         // owned by the holder of writing

	mu      sync.Mutex
	pending map[int64]*command
	subs    map[int64]subscription
	closed  error // why, once it is over
	stop    context.CancelCauseFunc

	lastByte atomic.Int64 // when something was last read, in Unix nanoseconds
	flow     flow
	keeper   *keeper
}

// command is one command on its way.
type command struct {
	id   int64
	kind string
	sent time.Time
	done chan answer // takes one
}

// subscription says what the events under an id are.
type subscription struct {
	event  string // the event type; "" for the states
	states bool
	full   <-chan []home.Patch // of the states: where the full state will come
}

func newSession(ctx context.Context, c *Client, conn *websocket.Conn, sink func(home.Report)) *session {
	ctx, stop := context.WithCancelCause(ctx)
	s := &session{
		c: c, conn: conn, ctx: ctx, stop: stop,
		writing: make(chan struct{}, 1),
		pending: map[int64]*command{},
		subs:    map[int64]subscription{},
		flow:    flow{sink: sink, decoder: newDecoder(), count: c.count},
	}
	s.writing <- struct{}{}
	s.lastByte.Store(time.Now().UnixNano())
	s.keeper = newKeeper(s)
	return s
}

// end closes the session once and fails everything pending with the reason.
func (s *session) end(why error) {
	s.mu.Lock()
	if s.closed != nil {
		s.mu.Unlock()
		return
	}
	s.closed = why
	failed := s.pending
	s.pending = map[int64]*command{}
	s.mu.Unlock()
	for _, c := range failed {
		c.done <- answer{err: why}
	}
	s.stop(why)
	s.conn.CloseNow()
}

// over is why the session ended, nil while it lives.
func (s *session) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// notSent marks an error that came before anything went out.
type notSent struct{ err error }

func (e notSent) Error() string { return e.err.Error() }
func (e notSent) Unwrap() error { return e.err }

// start sends a command and gives the place where its answer will come. sub is
// what its events are, nil for a command without. An error is notSent when
// nothing went out; any other means that part of it may have.
func (s *session) start(ctx context.Context, kind string, fields map[string]any, sub *subscription) (*command, error) {
	select {
	case <-s.writing:
	case <-ctx.Done():
		return nil, notSent{context.Cause(ctx)}
	case <-s.ctx.Done():
		return nil, notSent{context.Cause(s.ctx)}
	}
	defer func() { s.writing <- struct{}{} }()
	id := s.lastID + 1
	body := make(map[string]any, len(fields)+2)
	maps.Copy(body, fields)
	body["id"], body["type"] = id, kind
	text, err := json.Marshal(body)
	if err != nil {
		return nil, notSent{home.Wrap(home.Invalid, err, "write the command "+kind)}
	}
	c := &command{id: id, kind: kind, sent: time.Now(), done: make(chan answer, 1)}
	s.mu.Lock()
	if s.closed != nil {
		s.mu.Unlock()
		return nil, notSent{s.closed}
	}
	s.pending[id] = c
	if sub != nil {
		if sub.states {
			sub.full = s.flow.expect(id)
		}
		s.subs[id] = *sub
	}
	s.mu.Unlock()
	s.lastID = id
	// The caller's context must not reach the write: cancelling it halfway would close the connection.
	within, cancel := context.WithTimeout(s.ctx, writeWithin)
	defer cancel()
	if err := s.conn.Write(within, websocket.MessageText, text); err != nil {
		s.end(silent(fmt.Errorf("writing failed: %w", plain(err))))
		return c, s.over()
	}
	return c, nil
}

// startStates subscribes to the states and gives the place where the full state
// will come.
func (s *session) startStates(ctx context.Context) (*command, <-chan []home.Patch, error) {
	sub := subscription{states: true}
	c, err := s.start(ctx, "subscribe_entities", nil, &sub)
	return c, sub.full, err
}

// unsubscribe forgets a subscription that was given up.
func (s *session) unsubscribe(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, id)
}

// wait gives the answer of a command, at most commandTime after it was sent.
func (s *session) wait(ctx context.Context, c *command) answer {
	limit := time.NewTimer(commandTime - time.Since(c.sent))
	defer limit.Stop()
	select {
	case a := <-c.done:
		return a
	case <-limit.C:
		s.forget(c.id)
		return answer{err: home.Errorf(home.Timeout, "Home Assistant did not answer %s within %s", c.kind, commandTime).WithHint("ask for less, or try again; hearth_status shows the link")}
	case <-ctx.Done():
		s.forget(c.id)
		return answer{err: home.Wrap(home.Timeout, context.Cause(ctx), "wait for the answer to "+c.kind)}
	}
}

func (s *session) forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
}

// do sends a command and waits for its result.
func (s *session) do(ctx context.Context, kind string, fields map[string]any) ([]byte, error) {
	c, err := s.start(ctx, kind, fields, nil)
	if err != nil {
		return nil, s.lost(kind, err)
	}
	return s.result(ctx, c)
}

// result waits for c and turns Home Assistant's own error into ours.
func (s *session) result(ctx context.Context, c *command) ([]byte, error) {
	a := s.wait(ctx, c)
	switch {
	case a.err != nil:
		return nil, s.lost(c.kind, a.err)
	case a.fault != nil:
		return nil, refused(c.kind, a.fault)
	}
	return a.result, nil
}

// lost says that the link broke under a reading command.
func (s *session) lost(kind string, err error) error {
	var e *home.Error
	if errors.As(err, &e) {
		return err
	}
	return offline(fmt.Sprintf("the link to Home Assistant broke during %s: %s", kind, err), err)
}

// read is the reader: it ends with the reason the connection did.
func (s *session) read() error {
	var buf []byte
	for {
		frame, err := s.frame(buf[:0])
		if err != nil {
			return s.readError(err, len(frame))
		}
		buf = frame
		if s.take(frame, time.Now()) || cap(buf) > keepBuffer {
			buf = nil
		}
	}
}

// frame reads one frame into buf, which grows as needed. A large one is gathered
// in pieces and put together once: doubling would need three times its size.
func (s *session) frame(buf []byte) ([]byte, error) {
	_, r, err := s.conn.Reader(s.ctx)
	if err != nil {
		return buf, err
	}
	var pieces [][]byte
	for {
		if len(buf) == cap(buf) {
			if cap(buf) < pieceSize {
				buf = append(make([]byte, 0, max(4096, 2*cap(buf))), buf...)
			} else {
				pieces, buf = append(pieces, buf), make([]byte, 0, pieceSize)
			}
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		s.lastByte.Store(time.Now().UnixNano())
		if err == nil {
			continue
		}
		if pieces != nil {
			buf = slices.Concat(append(pieces, buf)...)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return buf, err
	}
}

// readError says why reading ended, in words that name the real cause.
func (s *session) readError(err error, got int) error {
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return fmt.Errorf("a message of Home Assistant is larger than %d MiB (stopped after %d bytes)%s", readLimit>>20, got, s.awaiting())
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return fmt.Errorf("closed by Home Assistant (code %d %s)", closed.Code, quoted(closed.Reason))
	}
	return silent(fmt.Errorf("the connection broke: %w", plain(err)))
}

// awaiting names the commands in flight, for an answer that was too large.
func (s *session) awaiting() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := map[string]bool{}
	for _, c := range s.pending {
		kinds[c.kind] = true
	}
	if len(kinds) == 0 {
		return ""
	}
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	return ", perhaps the answer to " + strings.Join(names, ", ")
}

// plain takes the layers off an error of the network, down to its cause.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("closed by the other side")
	}
	return err
}

// take handles a frame. It reports whether the frame's memory was given away.
func (s *session) take(frame []byte, at time.Time) (kept bool) {
	if !utf8.Valid(frame) {
		frame = []byte(strings.ToValidUTF8(string(frame), "\uFFFD"))
	}
	s.flow.begin(at)
	s.c.count.frames.Add(1)
	eachMessage(frame, func(m message) {
		switch m.kind {
		case "event":
			s.event(m, at)
		case "result":
			s.flow.flush() // whoever gets the answer may look at what came before it
			kept = s.settle(m, len(frame)) || kept
		case "pong":
			s.flow.flush()
			s.settle(message{id: m.id, success: true}, 0)
		}
	}, func(raw []byte, why string) { s.c.badFrame(raw, why, at); s.keeper.resync() })
	s.flow.flush()
	return kept
}

// settle hands a result to whoever waits for it, if anybody still does.
func (s *session) settle(m message, size int) (kept bool) {
	s.mu.Lock()
	c := s.pending[m.id]
	delete(s.pending, m.id)
	if !m.success {
		delete(s.subs, m.id)
	}
	s.mu.Unlock()
	if c == nil { // it came after its time-out
		return false
	}
	a := answer{result: m.result}
	if !m.success {
		a = answer{fault: append([]byte("{}")[:0], m.fault...)}
		if m.fault == nil {
			a.fault = []byte("{}")
		}
	} else if size <= giveAway {
		a.result = append([]byte(nil), m.result...)
	} else {
		kept = true
	}
	c.done <- a
	return kept
}

// event sorts an event to the states or to the events.
func (s *session) event(m message, at time.Time) {
	s.mu.Lock()
	sub, ok := s.subs[m.id]
	s.mu.Unlock()
	switch {
	case !ok: // of a subscription that was given up
	case sub.states:
		if !s.flow.states(m.id, m.event, s.keeper) {
			s.c.badFrame(m.event, "not a difference of states", at)
			s.keeper.resync()
		}
	default:
		s.happened(sub.event, m.event, at)
	}
}

// ping asks for a pong every pingEvery and ends the session when none comes in
// time. While bytes still arrive, a long answer may stand before the pong.
func (s *session) ping() error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-tick.C:
		}
		sent := time.Now()
		c, err := s.start(s.ctx, "ping", nil, nil)
		if err != nil {
			return err
		}
		if err := s.pong(c); err != nil {
			return err
		}
		s.c.latency.Store(int64(time.Since(sent)))
	}
}

// quiet is how long ago something was last read.
func (s *session) quiet() time.Duration { return time.Since(time.Unix(0, s.lastByte.Load())) }

func (s *session) pong(c *command) error {
	for {
		limit := time.NewTimer(pongWithin)
		select {
		case a := <-c.done:
			limit.Stop()
			return a.err
		case <-limit.C:
		}
		if s.quiet() >= pongWithin {
			s.forget(c.id)
			return errSilent{fmt.Errorf("no answer of Home Assistant to a ping within %s", pongWithin)}
		}
	}
}
