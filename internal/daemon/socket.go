package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// The socket speaks HTTP between processes of one user: its mode, 0600 in a
// directory of 0700, is its lock. Both ends are the same program, so paths and
// types may change with any version.

// maxRequest bounds what the socket reads of one request.
const maxRequest = 4 << 20

// upgrade names the raw stream that a joining stdio asks for.
const upgrade = "hearth-stdio"

// Status is what the owner says of itself.
type Status struct {
	Version    string           `json:"version"`
	Pid        int              `json:"pid"`
	Data       string           `json:"data"`
	Listen     string           `json:"listen,omitempty"`
	HA         string           `json:"home_assistant"`
	Online     bool             `json:"online"`
	Reason     string           `json:"reason,omitempty"` // why it is offline
	Live       bool             `json:"live"`             // the mirror follows the house
	Entities   int              `json:"entities"`         // as the tools count them: with a state, within sight
	Seq        uint64           `json:"seq"`
	Waiting    int              `json:"journal_waiting"`
	Conditions []Condition      `json:"conditions"`
	Counters   map[string]int64 `json:"counters,omitempty"`
	BadFrames  []string         `json:"bad_frames,omitempty"` // messages of Home Assistant nobody could read
}

// Condition is a lit condition as it travels.
type Condition struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Severity string    `json:"severity"`
	Text     string    `json:"text,omitempty"`
	Remedy   string    `json:"remedy"`
	Since    time.Time `json:"since"`
}

func (r *rooms) status(address string) Status {
	s := Status{Version: r.o.Version, Pid: os.Getpid(), Data: r.o.Dir, Listen: address, HA: r.o.Config.HA.URL, Counters: r.health.Counters()}
	s.Online, s.Reason = r.client.Online()
	v := r.house.View()
	_, stale := v.Stale()
	s.Live, s.Seq = !stale && !v.Empty(), v.Seq()
	for _, st := range v.Entities(owner().Grant.Scope, mirror.Filter{}) {
		if st != nil {
			s.Entities++
		}
	}
	s.Waiting, _ = r.journal.Lag()
	for _, f := range r.client.BadFrames() {
		s.BadFrames = append(s.BadFrames, fmt.Sprintf("%s, %s, %d bytes: %s", home.FormatTime(f.At, v.Location()), f.Why, f.Size, home.Clip(strings.ToValidUTF8(f.Head, "?"), 200)))
	}
	for _, c := range r.health.Lit() {
		s.Conditions = append(s.Conditions, Condition{string(c.Name), c.Title, string(c.Severity), c.Text, c.Remedy, home.Local(c.Since, v.Location())})
	}
	return s
}

// CallRequest is a call of a tool over the socket.
type CallRequest struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// CallAnswer is its answer.
type CallAnswer struct {
	JSON      json.RawMessage `json:"json,omitempty"`
	Error     *Failure        `json:"error,omitempty"`
	Outcome   home.Outcome    `json:"outcome,omitempty"`
	Call      string          `json:"call,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// Failure is a home.Error as it travels.
type Failure struct {
	Code    home.Code `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
}

// Err is the failure as an error again, nil for nil.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	return &home.Error{Code: f.Code, Msg: f.Message, Hint: f.Hint}
}

func failure(err error) *Failure {
	var e *home.Error
	if errors.As(err, &e) {
		return &Failure{e.Code, e.Msg, e.Hint}
	}
	return &Failure{Code: home.CodeOf(err), Message: err.Error()}
}

// owner is who calls over the socket: the person whose user id the process has.
// It reaches as far as this version's door does; what asks a person still does.
func owner() tool.Caller {
	return tool.Caller{Via: "cli", Who: "owner", Grant: home.Grant{Upto: home.Act, Scope: home.Visible()}}
}

// serveSocket answers the other processes until ctx ends.
func (r *rooms) serveSocket(l net.Listener, address string) func(context.Context) error {
	return func(ctx context.Context) error {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, r.status(address))
		})
		mux.HandleFunc("GET /live", func(w http.ResponseWriter, q *http.Request) {
			r.awaitLive(q.Context())
			writeJSON(w, http.StatusOK, r.status(address))
		})
		mux.HandleFunc("GET /hops", func(w http.ResponseWriter, q *http.Request) {
			writeJSON(w, http.StatusOK, hops(q.Context(), r.o.link()))
		})
		mux.HandleFunc("POST /call", answer(r.call))
		mux.HandleFunc("POST /resync", answer(r.resync))
		mux.HandleFunc("GET /tokens", answer(func(ctx context.Context, _ struct{}) ([]Token, error) {
			return listTokens(ctx, r.tokens, r.house.View().Location())
		}))
		mux.HandleFunc("POST /tokens", answer(func(ctx context.Context, n TokenRequest) (NewToken, error) { return makeToken(ctx, r.tokens, n) }))
		mux.HandleFunc("POST /tokens/revoke", answer(func(ctx context.Context, n TokenRequest) (Token, error) { return revokeToken(ctx, r.tokens, n.Name) }))
		mux.HandleFunc("POST /stdio", func(w http.ResponseWriter, q *http.Request) { r.joinStdio(ctx, w, q) })
		return serve(ctx, l, mux)
	}
}

// answer makes a handler of a plain function: JSON in, JSON or a Failure out.
func answer[In, Out any](f func(context.Context, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		var in In
		if q.Method == http.MethodPost {
			if err := json.NewDecoder(http.MaxBytesReader(w, q.Body, maxRequest)).Decode(&in); err != nil {
				writeJSON(w, http.StatusBadRequest, failure(home.Errorf(home.Invalid, "the request is no JSON: %v", err)))
				return
			}
		}
		out, err := f(q.Context(), in)
		if err != nil {
			writeJSON(w, home.CodeOf(err).HTTP(), failure(err))
			return
		}
		writeJSON(w, http.StatusOK, out)
	}
}

func (r *rooms) call(ctx context.Context, q CallRequest) (CallAnswer, error) {
	a := r.registry.Call(ctx, owner(), q.Tool, q.Args)
	out := CallAnswer{JSON: a.JSON, Outcome: a.Outcome, Call: a.Call, Truncated: a.Truncated}
	if a.Err != nil {
		out.Error = failure(a.Err)
	}
	return out, nil
}

// resync reads the whole house again. Without a link there is nothing to read,
// and the next one begins with reading everything anyway.
func (r *rooms) resync(context.Context, struct{}) (struct{}, error) {
	if up, reason := r.client.Online(); !up {
		return struct{}{}, home.Errorf(home.Offline, "nothing was read: %s", reason).
			WithHint("everything is read by itself when the link is back")
	}
	r.client.Resync()
	return struct{}{}, nil
}

// awaitLive waits until the mirror follows the house, or until it is plain that
// it cannot now: the stored state answers then.
func (r *rooms) awaitLive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		v := r.house.View()
		if _, stale := v.Stale(); !stale && !v.Empty() {
			return
		}
		for _, n := range []health.Name{health.HassOffline, health.HassAuth} {
			if c, lit := r.health.Has(n); lit && time.Since(c.Since) > time.Second {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// joinStdio turns the connection into a raw stream and serves one MCP client on
// it, with the first token's grant.
func (r *rooms) joinStdio(ctx context.Context, w http.ResponseWriter, q *http.Request) {
	c, ok := r.tokens.First()
	if !ok || q.Header.Get("Upgrade") != upgrade {
		writeJSON(w, http.StatusForbidden, failure(firstMissing()))
		return
	}
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, failure(err))
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+upgrade+"\r\n\r\n"); err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c.Via = "stdio"
	if err := r.mcp.ServeStdio(ctx, c, stream{buf.Reader, conn}, conn); err != nil && ctx.Err() == nil {
		r.log.Debug("a stdio client left", home.KeyError, err)
	}
}

func firstMissing() error {
	return home.Errorf(home.Denied, "the first MCP token is gone, and stdio acts with its grant").WithHint("hearth token list shows what is there; make a new one with hearth token new and use HTTP")
}

// stream reads what the HTTP server has buffered before the rest.
type stream struct {
	*bufio.Reader
	io.Closer
}
