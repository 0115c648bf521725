package mcpd

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// The bounds of legacy sessions.
const (
	maxSessions = 16
	idleSession = 30 * time.Minute
	sweepEvery  = time.Minute
)

// sessions counts the legacy sessions the SDK holds: who opened them, whether
// a stream of theirs is open, and when they were last used. The SDK's own
// timeout looks at POST only and would end a session whose stream listens.
type sessions struct {
	on      bool
	mu      sync.Mutex
	m       map[string]*session
	opening int
}

type session struct {
	token string
	open  int // requests and streams running now
	last  time.Time
	calls map[string]func() // cancel the calls on the short way, by id
}

// end cancels what a dropped session still runs.
func (e *session) end() {
	for _, cancel := range e.calls {
		cancel()
	}
}

// reserve takes one of the places for a session about to be opened.
func (t *sessions) reserve() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.m)+t.opening >= maxSessions {
		return false
	}
	t.opening++
	return true
}

// opened turns a reserved place into a session, or gives it back where id is "".
func (t *sessions) opened(id, token string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	if id == "" {
		return
	}
	if t.m == nil {
		t.m = map[string]*session{}
	}
	t.m[id] = &session{token: token, last: now}
}

// enter marks a session as used. The status is 0 when the caller may go on.
func (t *sessions) enter(id, token string) (status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.m[id]
	switch {
	case !ok:
		return http.StatusNotFound
	case e.token != token:
		return http.StatusForbidden
	}
	e.open++
	return 0
}

// leave ends what enter began.
func (t *sessions) leave(id string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.m[id]; ok {
		e.open--
		e.last = now
	}
}

// begin notes a call on the short way, so that its client can cancel it; it
// reports false where the session has ended or runs a call of that id.
func (t *sessions) begin(id, call string, cancel func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.m[id]
	if !ok || e.calls[call] != nil {
		return false
	}
	if e.calls == nil {
		e.calls = map[string]func(){}
	}
	e.calls[call] = cancel
	return true
}

// finish ends what begin began.
func (t *sessions) finish(id, call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.m[id]; ok {
		delete(e.calls, call)
	}
}

// cancel cancels a call on the short way, if there is one of that id.
func (t *sessions) cancel(id, call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.m[id]; ok && e.calls[call] != nil {
		e.calls[call]()
	}
}

// drop forgets a session and cancels what it runs.
func (t *sessions) drop(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.m[id]; ok {
		e.end()
		delete(t.m, id)
	}
}

// idle takes out the sessions nothing has used since before, all of them when
// before is zero, and gives their ids.
func (t *sessions) idle(before time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for id, e := range t.m {
		if before.IsZero() || e.open == 0 && e.last.Before(before) {
			ids = append(ids, id)
			e.end()
			delete(t.m, id)
		}
	}
	return ids
}

func (t *sessions) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.m) + t.opening
}

// openSession lets the SDK open a session if there is room for one.
func (s *Server) openSession(w *stream, r *http.Request, req *request) {
	if !s.sessions.reserve() {
		w.Header().Set("Retry-After", "60")
		answerError(w, http.StatusServiceUnavailable, req.msg.ID, codeRefused,
			"16 sessions are open, which is all there may be; end one (DELETE /mcp), or wait: idle ones end after 30 minutes")
		return
	}
	id := ""
	w.begins = func(status int) { // the client may use the session at once
		if status == http.StatusOK {
			id = w.own.Get(headSession)
		}
		s.sessions.opened(id, req.caller.Token, time.Now())
	}
	s.stateful.ServeHTTP(w, r)
	if w.status == 0 { // nothing was answered: the client went away
		w.begins(0)
	}
	if id != "" && !s.holds(id) {
		s.sessions.drop(id) // the SDK did not like what initialize said
	}
}

// holds reports whether the SDK has a session with this id.
func (s *Server) holds(id string) bool {
	for ss := range s.sdk.Sessions() {
		if ss.ID() == id {
			return true
		}
	}
	return false
}

// serveSession serves a request of an open session.
func (s *Server) serveSession(w *stream, r *http.Request, req *request) {
	id := r.Header.Get(headSession)
	switch s.sessions.enter(id, req.caller.Token) {
	case http.StatusNotFound:
		answerError(w, http.StatusNotFound, req.msg.ID, codeAuth, "this session is not known or has ended; open a new one with initialize")
		return
	case http.StatusForbidden:
		answerError(w, http.StatusForbidden, req.msg.ID, codeAuth, "this session belongs to another token; open one of your own with initialize")
		return
	}
	defer func() { s.sessions.leave(id, time.Now()) }()
	switch {
	case r.Method == http.MethodDelete:
		s.sessions.drop(id)
	case req.msg.Method == "tools/call" && s.shortInSession(w, r, req), noMethod(w, r, req):
		return
	case req.msg.Method == "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(req.msg.Params, &p) == nil {
			s.sessions.cancel(id, string(p.ID))
		}
	}
	s.stateful.ServeHTTP(w, r)
}

// shortInSession is the short way for a call of a session: it outlives its
// connection, and ends when its client says so or the session ends.
func (s *Server) shortInSession(w *stream, r *http.Request, req *request) bool {
	session, call := r.Header.Get(headSession), string(req.msg.ID)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	if !s.sessions.begin(session, call, cancel) {
		return false
	}
	defer s.sessions.finish(session, call)
	return s.short(w, r.WithContext(ctx), req)
}

// closeSessions ends the SDK's sessions with these ids.
func (s *Server) closeSessions(ids []string) {
	if len(ids) == 0 {
		return
	}
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	for ss := range s.sdk.Sessions() {
		if gone[ss.ID()] {
			_ = ss.Close()
		}
	}
}
