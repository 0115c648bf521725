package mcpd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	modern      = "2026-07-28" // the first revision without sessions
	maxBody     = 4 << 20
	bodyWait    = time.Minute // how long a body may take to arrive
	headVersion = "Mcp-Protocol-Version"
	headSession = "Mcp-Session-Id"
)

// envelope is as much of a message as the router must know.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// route is the inner ring: one endpoint, two eras.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	req, st := r.Context().Value(requestKey{}).(*request), w.(*stream)
	switch {
	case r.URL.Path == "/mcp":
	case r.URL.Path == "/" && r.Method == http.MethodPost:
	case r.URL.Path == "/":
		st.Header().Set("Allow", "POST")
		refuse(st, http.StatusMethodNotAllowed, codeRefused, "only POST is answered here; GET and DELETE of a session go to /mcp")
		return
	default:
		refuse(st, http.StatusNotFound, codeRefused, "nothing is here; MCP is served at /mcp")
		return
	}
	if r.Method == http.MethodPost && !s.read(st, r, req) {
		return
	}
	switch {
	case isModern(r, req), !s.sessions.on:
		s.serveAlone(st, r, req)
	case r.Header.Get(headSession) != "":
		s.serveSession(st, r, req)
	case r.Method == http.MethodPost && req.msg.Method == "initialize":
		s.openSession(st, r, req)
	case r.Method == http.MethodPost:
		s.serveAlone(st, r, req)
	default: // GET or DELETE of no session, or no method we know
		s.stateful.ServeHTTP(st, r)
	}
}

// serveAlone serves a request that stands for itself: when its peer goes away
// nobody can ask for the answer again, nor cancel the call, so it is cancelled.
// A session's call goes on: there a broken connection is not a cancellation.
func (s *Server) serveAlone(w *stream, r *http.Request, req *request) {
	if r.Method == http.MethodPost && s.short(w, r, req) || noMethod(w, r, req) {
		return
	}
	stop := context.AfterFunc(r.Context(), req.abandon)
	defer stop()
	s.stateless.ServeHTTP(w, r)
}

// isModern reports whether the request belongs to the era without sessions:
// its header says so, or, where the header is missing, its body does. Dates
// compare as strings; anything else sorts after them and gets the modern
// handler's answer, which lists the revisions we speak.
func isModern(r *http.Request, req *request) bool {
	if v := r.Header.Get(headVersion); v != "" {
		return v >= modern
	}
	return r.Header.Get(headSession) == "" && metaVersion(req.msg.Params) != ""
}

// metaVersion is the revision a message names for itself, "" where it names none.
func metaVersion(params json.RawMessage) string {
	if !bytes.Contains(params, []byte(mcp.MetaKeyProtocolVersion)) {
		return ""
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var v string
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Meta[mcp.MetaKeyProtocolVersion], &v) != nil {
		return ""
	}
	return v
}

// read takes the body in, under the cap, and looks at its envelope. The SDK
// reads it again from memory.
func (s *Server) read(w *stream, r *http.Request, req *request) bool {
	if r.ContentLength > maxBody {
		tooLarge(w)
		return false
	}
	_ = w.rc.SetReadDeadline(time.Now().Add(bodyWait))
	body, err := readBody(w, r)
	_ = w.rc.SetReadDeadline(time.Time{})
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		tooLarge(w)
		return false
	case err != nil:
		refuse(w, http.StatusBadRequest, codeParse, "the body broke off")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	first := bytes.TrimLeft(body, " \t\r\n")
	if len(first) > 0 && first[0] == '[' && json.Valid(first) {
		return true // a batch of old: the SDK knows which revisions had it
	}
	if err := json.Unmarshal(body, &req.msg); err != nil {
		refuse(w, http.StatusBadRequest, codeParse, "the body is not a JSON-RPC message")
		return false
	}
	if req.msg.Version != "2.0" {
		answerError(w, http.StatusBadRequest, req.msg.ID, codeRequest, `the message's jsonrpc member must be "2.0"`)
		return false
	}
	return true
}

func readBody(w *stream, r *http.Request) ([]byte, error) {
	in := http.MaxBytesReader(w, r.Body, maxBody)
	if n := r.ContentLength; n > 0 && n <= maxBody {
		body := make([]byte, n)
		_, err := io.ReadFull(in, body)
		return body, err
	}
	return io.ReadAll(in)
}

func tooLarge(w *stream) {
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusRequestEntityTooLarge, codeParse, "the body is larger than 4 MiB; send less at once")
}

// requestOf finds what the chain knows of a request the SDK dispatched. On
// stdio there is no chain: the caller lies in the connection's context.
func requestOf(ctx context.Context, r mcp.Request) (*request, bool) {
	if x := r.GetExtra(); x != nil && x.TokenInfo != nil {
		req, ok := x.TokenInfo.Extra["request"].(*request)
		return req, ok
	}
	req, ok := ctx.Value(requestKey{}).(*request)
	// A session's context is its opener's: without the token of this very
	// request, an HTTP request has no caller.
	return req, ok && req.stream == nil
}
