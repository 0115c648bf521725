package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hearth/internal/home"
)

// notReadyAfter is how long the house or the store may be unusable before
// /ready says so: a restart of Home Assistant is no reason to restart us.
const notReadyAfter = 5 * time.Minute

// ears are the listeners, opened before anything else, so that a taken port is
// told before the house is touched.
type ears struct {
	http   net.Listener // nil when quiet
	socket net.Listener
	path   string // of the socket
}

func listen(o Options) (*ears, error) {
	e := &ears{http: o.Listen, path: SocketPath(o.Dir)}
	var err error
	if e.http == nil && !o.Quiet {
		e.http, err = listenTCP(o.Config.Listen)
		if err != nil {
			return nil, err
		}
	}
	e.socket, err = listenSocket(o.Dir)
	if err != nil {
		e.close()
		return nil, err
	}
	if e.http != nil && !loopback(e.http.Addr()) {
		o.Log.Warn("others on the network can reach this address; tokens travel unencrypted unless a proxy adds TLS", home.KeyListen, e.http.Addr().String())
	}
	return e, nil
}

func listenTCP(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &home.Error{Code: home.Conflict, Msg: "another program already listens on " + addr, Hint: "stop it, or choose another port: serve --listen 127.0.0.1:4664, demo --port 4664", Err: err}
	case errors.Is(err, syscall.EACCES):
		return nil, &home.Error{Code: home.Denied, Msg: "the system does not let us listen on " + addr, Hint: "choose a port above 1023 with --listen", Err: err}
	}
	return nil, &home.Error{Code: home.Invalid, Msg: fmt.Sprintf("cannot listen on %s: %v", addr, err), Hint: "choose an address of this machine with --listen", Err: err}
}

func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return !ok || t.IP.IsLoopback()
}

// address is where HTTP answers, "" when quiet.
func (e *ears) address() string {
	if e.http == nil {
		return ""
	}
	return e.http.Addr().String()
}

func (e *ears) close() {
	for _, l := range []net.Listener{e.http, e.socket} {
		if l != nil {
			l.Close() // the servers closed most of them already
		}
	}
	os.Remove(e.path) // we hold the lock, so it is ours
}

// SocketPath is where the owner of dir answers.
func SocketPath(dir string) string { return filepath.Join(dir, "hearth.sock") }

// listenSocket opens the owner's socket. Only the holder of the lock calls it,
// so a socket that is there already is a dead owner's.
func listenSocket(dir string) (net.Listener, error) {
	path := SocketPath(dir)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	// A directory that was there before us may be open to others, and a socket is
	// made with whatever mode the umask leaves: it gets its name when it is closed.
	private, err := os.MkdirTemp(dir, "socket-")
	if err != nil {
		return nil, fmt.Errorf("make a place for the socket: %w", err)
	}
	defer os.RemoveAll(private)
	made := filepath.Join(private, "s")
	short, done, err := shortPath(made)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.Listen("unix", short)
	if err != nil {
		return nil, fmt.Errorf("open the socket: %w", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it has another path now
	err = os.Chmod(made, 0o600)
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("protect the socket: %w", err)
	}
	return l, nil
}

// shortPath gives another name for a socket whose path is longer than the 107
// bytes that the kernel takes: through the open directory.
func shortPath(path string) (string, func(), error) {
	if len(path) < 104 {
		return path, func() {}, nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("open the data directory: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), filepath.Base(path)), func() { d.Close() }, nil
}

// serveHTTP serves pages and MCP until ctx ends, then drains.
func (r *rooms) serveHTTP(l net.Listener) func(context.Context) error {
	return func(ctx context.Context) error { return serve(ctx, l, r.routes()) }
}

// routes is everything the HTTP address answers.
func (r *rooms) routes() http.Handler {
	mcp := r.mcp.Handler()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", alive)
	mux.HandleFunc("GET /ready", r.ready)
	mux.Handle("/mcp", mcp)
	mux.Handle("POST /{$}", mcp)
	mux.HandleFunc("/", challenge)
	return mux
}

// serve runs one HTTP server until ctx ends and gives answers under way the
// time to finish.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := srv.Shutdown(late); err != nil {
		srv.Close() // streams that did not end: cut
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func alive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready answers 503 with reasons while something that makes the house unusable
// has lasted. It is open to all, so it names conditions and no details.
func (r *rooms) ready(w http.ResponseWriter, _ *http.Request) {
	type reason struct {
		Condition string    `json:"condition"`
		Title     string    `json:"title"`
		Since     time.Time `json:"since"`
	}
	reasons := []reason{}
	for _, c := range r.health.Lit() {
		if c.NotReady && r.clock().Sub(c.Since) > notReadyAfter {
			reasons = append(reasons, reason{string(c.Name), c.Title, c.Since.UTC().Truncate(time.Second)})
		}
	}
	if len(reasons) == 0 {
		writeJSON(w, http.StatusOK, map[string]any{"ready": true})
		return
	}
	writeJSON(w, http.StatusServiceUnavailable, map[string]any{"ready": false, "reasons": reasons})
}

// challenge answers everything that is nothing: without a token nobody learns
// which paths exist.
func challenge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="hearth"`)
	writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "this needs a token; MCP answers at /mcp"})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // the other side is gone: nothing left to do
}
