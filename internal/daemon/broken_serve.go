package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"hearth/internal/health"
	"hearth/internal/home"
)

// ServeBroken answers with a page that names what is wrong with the
// configuration, on loopback only, until ctx ends. The house is not touched.
// listen is the address when it could be read; started gets the real one.
func ServeBroken(ctx context.Context, listen string, cause error, log *slog.Logger, started func(address string)) error {
	l, err := listenTCP(onLoopback(listen))
	if err != nil {
		return errors.Join(cause, err)
	}
	var page bytes.Buffer
	if err := writeBrokenPage(&page, cause); err != nil {
		return errors.Join(cause, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", alive)
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"ready": false, "reasons": []map[string]string{{"condition": string(health.ConfigBroken), "title": "The configuration has an error"}}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		if !localHost(q.Host) { // a page elsewhere that points its name at us
			writeJSON(w, http.StatusForbidden, map[string]string{"error": "use the address 127.0.0.1"})
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusServiceUnavailable)
		if q.Method != http.MethodHead {
			w.Write(page.Bytes()) // the other side is gone: nothing left to do
		}
	})
	log.Error("the configuration has an error", home.KeyPage, "http://"+l.Addr().String()+"/")
	if started != nil {
		started(l.Addr().String())
	}
	return serve(ctx, l, mux)
}

// onLoopback keeps the port and replaces the host: what is wrong is nobody's
// business outside, and the default where even the address cannot be read.
func onLoopback(listen string) string {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		_, port, _ = net.SplitHostPort(Defaults().Listen)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

func localHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
