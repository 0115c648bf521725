package mcpd

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// JSON-RPC codes of refusals at the door, before a request is one.
const (
	codeRefused = -32000 // wrong method, no room
	codeAuth    = -32001 // no or wrong token, somebody else's session
	codeParse   = -32700
	codeRequest = -32600
)

// request is what the chain knows of one HTTP request. It travels to the
// SDK's handlers beside the token, since a session's own context is that of
// the request which opened it.
type request struct {
	caller tool.Caller
	stream *stream // nil on stdio
	msg    envelope

	mu    sync.Mutex
	gone  bool             // nobody can receive the answer any more
	calls map[*func()]bool // cancel the calls that run for this request
}

// abandon cancels the calls of a request whose peer went away.
func (q *request) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gone = true
	for cancel := range q.calls {
		(*cancel)()
	}
}

// cancels ties cancel to the request's life until release is called.
func (q *request) cancels(cancel func()) (release func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.gone {
		cancel()
	}
	if q.calls == nil {
		q.calls = map[*func()]bool{}
	}
	q.calls[&cancel] = true
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.calls, &cancel)
	}
}

type requestKey struct{}

// Handler serves POST / and /mcp with authentication and the whole edge chain.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// serve is the outermost ring: request id, access log, panic guard.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	st := newStream(w, s.heartbeat)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	st.stop = cancel
	id := home.NewID("req_")
	st.Header().Set("X-Request-Id", id)
	req := &request{stream: st}
	if !s.open.add(st) {
		refuse(st, http.StatusServiceUnavailable, codeRefused, "Hearth is stopping")
		return
	}
	defer func() {
		s.open.remove(st)
		if p := recover(); p != nil {
			s.panicked(r.URL.Path, p)
			refuse(st, http.StatusInternalServerError, -32603, "something went wrong inside Hearth; its log says what, under "+id)
		}
		st.end()
		s.access(r, req, id, time.Since(start))
	}()
	s.guard(st, r.WithContext(ctx), req)
}

// access logs a finished request: never a query, a header or a body.
func (s *Server) access(r *http.Request, req *request, id string, took time.Duration) {
	level := slog.LevelDebug
	if req.stream.status >= 500 {
		level = slog.LevelWarn
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	s.log.Log(r.Context(), level, "request", home.KeyRequest, id, home.KeyMethod, r.Method, home.KeyPath, home.Clip(r.URL.Path, 100),
		home.KeyRPC, home.Clip(req.msg.Method, 60), home.KeyStatus, req.stream.status, home.KeyBytes, req.stream.bytes,
		home.KeyAddr, r.RemoteAddr, home.KeyCaller, req.caller.Who, home.KeyTook, took.Round(time.Microsecond).String())
}

// panicked logs a caught panic with its stack.
func (s *Server) panicked(where string, p any) {
	s.health.Counter("mcp.panics").Add(1)
	s.log.Error("panic caught", home.KeyWhere, home.Clip(where, 100), home.KeyPanic, fmt.Sprint(p), home.KeyStack, string(debug.Stack()))
}

// guard is the middle ring: Host, Origin, CORS, token.
func (s *Server) guard(w *stream, r *http.Request, req *request) {
	w.Header().Set("X-Accel-Buffering", "no")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !s.places.host(r) {
		refuse(w, http.StatusForbidden, codeRefused, fmt.Sprintf("the host name %q is not one of ours; if it should be, add it to mcp.hosts in hearth.yaml", home.Clip(r.Host, 80)))
		return
	}
	w.Header().Add("Vary", "Origin")
	if !s.places.origin(r) {
		refuse(w, http.StatusForbidden, codeRefused, fmt.Sprintf("pages of %q may not call Hearth; if they should, add it to mcp.origins in hearth.yaml", home.Clip(r.Header.Get("Origin"), 80)))
		return
	}
	if s.cors(w, r) {
		return
	}
	token, ok := s.authenticate(w, r, req)
	if !ok {
		return
	}
	w.alive = func() bool { _, ok := s.verify(token); return ok }
	s.passOn(w, r, req)
}

// passOn hands the request to the router with the token the SDK binds sessions to.
func (s *Server) passOn(w *stream, r *http.Request, req *request) {
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, req))
	s.bind.ServeHTTP(w, r)
}

// tokenInfo tells the SDK who calls: it reads the request the chain prepared.
func tokenInfo(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	req, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: req.caller.Token, Extra: map[string]any{"request": req}}, nil
}

// cors answers a preflight of an accepted origin and marks other answers to it.
func (s *Server) cors(w *stream, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	allowed := "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name"
	for asked := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		asked = strings.ToLower(strings.TrimSpace(asked))
		if strings.HasPrefix(asked, "mcp-param-") && len(allowed) < 1000 {
			allowed += ", " + asked
		}
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", allowed)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// authenticate finds the caller, or answers 401 or 429.
func (s *Server) authenticate(w *stream, r *http.Request, req *request) (token string, ok bool) {
	token = bearer(r.Header.Values("Authorization"))
	if token == "" {
		challenge(w, "this address needs a bearer token; hearth token show prints one")
		return "", false
	}
	if req.caller, ok = s.verify(token); ok {
		req.caller.Via = "mcp"
		return token, true
	}
	s.health.Counter("mcp.refused").Add(1)
	if s.owner(token) {
		challenge(w, "this is the owner's token: it opens the pages and the command line, never MCP; use the one hearth token show prints, or make one with hearth token new")
		return "", false
	}
	addr := remote(r)
	if wait := s.brake.fail(addr, time.Now()); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		refuse(w, http.StatusTooManyRequests, codeAuth, "too many wrong tokens from this address; wait, then use a token that hearth token list shows as valid")
		return "", false
	}
	s.log.Warn("wrong token", home.KeyAddr, addr.String())
	challenge(w, "this token is not known or was revoked; hearth token show prints the first one, hearth token new makes another")
	return "", false
}

// bearer is the token of the one Authorization header there may be.
func bearer(values []string) string {
	if len(values) != 1 {
		return ""
	}
	f := strings.Fields(values[0])
	if len(f) != 2 || !strings.EqualFold(f[0], "bearer") {
		return ""
	}
	return f[1]
}

// challenge answers 401 and says how to get in.
func challenge(w *stream, why string) {
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="hearth", error="invalid_token", error_description="%s"`, why))
	refuse(w, http.StatusUnauthorized, codeAuth, why)
}

// refuse answers with a status and a JSON-RPC error that belongs to no request.
func refuse(w *stream, status, code int, why string) {
	answerError(w, status, nil, code, why)
}

// answerError answers a request that never reached the SDK.
func answerError(w *stream, status int, id json.RawMessage, code int, why string) {
	body := rpcError(id, code, why)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// rpcError is a JSON-RPC error as a message; a nil id answers no request.
func rpcError(id json.RawMessage, code int, why string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why},
	})
	if err != nil { // the id is no JSON
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer could not be written"}}`)
	}
	return b
}
