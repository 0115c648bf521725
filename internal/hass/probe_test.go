package hass

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/simhome"
)

// simulated serves a simulated house over a real socket.
func simulated(t *testing.T) (*simhome.House, *httptest.Server) {
	h := simhome.New(simhome.Options{Seed: 1, Log: slog.New(slog.DiscardHandler)})
	s := httptest.NewUnstartedServer(h.Handler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(s.Close)
	return h, s
}

// caFile writes the certificate of a TLS test server.
func caFile(t *testing.T, s *httptest.Server) string {
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// last checks that the probe ended at a hop and what it says there.
func last(t *testing.T, hops []Hop, name string, ok bool, says ...string) {
	t.Helper()
	h := hops[len(hops)-1]
	if h.Name != name || h.OK != ok {
		t.Errorf("the probe ended at %+v, want %s %v", h, name, ok)
	}
	for _, s := range says {
		if !strings.Contains(h.Detail+" | "+h.Remedy, s) {
			t.Errorf("%s says %q, remedy %q: lacks %q", h.Name, h.Detail, h.Remedy, s)
		}
	}
	if !ok && h.Remedy == "" {
		t.Errorf("%s has no remedy", h.Name)
	}
	for _, h := range hops[:len(hops)-1] {
		if !h.OK || h.Remedy != "" {
			t.Errorf("a hop before the last: %+v", h)
		}
	}
}

func TestProbeOfAHouseThatIsWell(t *testing.T) {
	h, s := simulated(t)
	s.Start()
	hops := Probe(t.Context(), Config{URL: s.URL, Token: secret.New(h.HearthToken())})
	last(t, hops, "clock", true)
	if len(hops) != 10 {
		t.Errorf("%d hops", len(hops))
	}
}

func TestProbeNamesTheHop(t *testing.T) {
	h, s := simulated(t)
	s.Start()
	right := secret.New(h.HearthToken())
	probe := func(url string, token secret.Value) []Hop {
		return Probe(t.Context(), Config{URL: url, Token: token})
	}
	last(t, probe("", right), "url", false, "ha.url is empty", "http://homeassistant.local:8123")
	last(t, probe("homeassistant:8123", right), "url", false, "not an address")
	last(t, probe("ws://homeassistant:8123", right), "url", false, "must begin with http")
	last(t, probe(s.URL, secret.Value{}), "url", false, "no token", "hearth setup")
	last(t, probe("http://no-such-host.invalid:8123", right), "dns", false, "no-such-host.invalid", "ha.url")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	last(t, probe("http://"+closed, right), "tcp", false, "nothing listens", "8123")
	last(t, probe(strings.Replace(s.URL, "http:", "https:", 1), right), "tls", false, "speaks http", "http:// instead of https://")
	last(t, probe(s.URL+"/elsewhere", right), "http", false, "404", "path")
	last(t, probe(s.URL, secret.New("wrong")), "token", false, "Invalid access token", "new long-lived token")
	if d := secret.Text(probe(s.URL, secret.New("wrong"))[6].Detail); !strings.Contains(d, "Invalid access token or password") {
		t.Errorf("starred in a log, the words of the house are gone: %s", d)
	}
	last(t, probe(s.URL, secret.New(h.UserToken())), "admin", false, "not an administrator", "that an administrator made")
	h.Revoke(h.HearthToken())
	last(t, probe(s.URL, right), "token", false, "refuses the token")
}

func TestProbeOverTLS(t *testing.T) {
	h, s := simulated(t)
	s.StartTLS()
	c := Config{URL: s.URL, Token: secret.New(h.HearthToken())}
	last(t, Probe(t.Context(), c), "tls", false, "self-signed", "ha.ca_file")
	c.CAFile = caFile(t, s)
	last(t, Probe(t.Context(), c), "clock", true)
	c.CAFile, c.Insecure = "", true
	hops := Probe(t.Context(), c)
	last(t, hops, "clock", true)
	if !strings.Contains(hops[3].Detail, "NOT verified") {
		t.Errorf("tls: %+v", hops[3])
	}
	c.URL = strings.Replace(s.URL, "https:", "http:", 1)
	last(t, Probe(t.Context(), c), "http", false, "https://")
	c = Config{URL: s.URL, Token: c.Token, CAFile: "/no/such/file"}
	last(t, Probe(t.Context(), c), "url", false, "ha.ca_file")
}

func TestProbeOfSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name string
		do   http.HandlerFunc
		hop  string
		says string
	}{
		{"a web server", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, "http", "200 OK"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://house.example/", http.StatusMovedPermanently)
		}, "http", "https://house.example/"},
		{"a redirect within a house", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/onboarding.html", http.StatusFound)
		}, "http", "in ha.url"},
		{"a ban", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "http", "ip_bans.yaml"},
		{"a proxy without a house", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "http", "502"},
		{"a proxy without WebSockets", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "websocket", "401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					tokens++
				}
				c.do(w, r)
			}))
			defer s.Close()
			last(t, Probe(t.Context(), Config{URL: s.URL, Token: secret.New("secret")}), c.hop, false, c.says)
			if tokens != 0 {
				t.Error("the token was shown to a stranger")
			}
		})
	}
}

func TestProbeOfAPageOfTheHouse(t *testing.T) {
	s := httptest.NewServer(http.RedirectHandler("/onboarding.html", http.StatusFound))
	defer s.Close()
	last(t, Probe(t.Context(), Config{URL: s.URL + "/lovelace", Token: secret.New("secret")}), "http", false, "leave the path out", "write "+s.URL+",")
}

func TestInsecureIsLoud(t *testing.T) {
	var log bytes.Buffer
	h := &health.Registry{}
	if _, _, err := New(Config{URL: "https://house:8123", Token: secret.New("x"), Insecure: true}, slog.New(slog.NewTextHandler(&log, nil)), h); err != nil {
		t.Fatal(err)
	}
	if _, lit := h.Has(health.HassInsecure); !lit || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("lit %v, log %s", lit, log.String())
	}
}

func TestConfigCheck(t *testing.T) {
	for url, want := range map[string]string{
		"http://homeassistant.local:8123":        "http://homeassistant.local:8123",
		" https://house.example/ha/ ":            "https://house.example/ha",
		"http://house:8123/api/websocket":        "http://house:8123",
		"http://house:8123/api/":                 "http://house:8123",
		"http://[fe80::1]:8123":                  "http://[fe80::1]:8123",
		"http://user:pw@house:8123":              "",
		"http://house:8123?x=1":                  "",
		"http://":                                "",
		"ftp://house":                            "",
		"://":                                    "",
		"http://house:port":                      "",
		"house":                                  "",
		"http://house:8123/" + "\x7f":            "",
		"https://house.example/ha/api/websocket": "https://house.example/ha",
	} {
		c := Config{URL: url}
		err := c.Check()
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil {
			code(t, err, home.Invalid)
			continue
		}
		if u, _ := c.base(); u.String() != want {
			t.Errorf("%q became %s, want %s", url, u, want)
		}
	}
	junk := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(junk, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	code(t, Config{URL: "https://house", CAFile: junk}.Check(), home.Invalid)
}

func TestRESTTriesAReadOnceMore(t *testing.T) {
	for _, c := range []struct {
		status int
		tries  int
		want   home.Code
	}{
		{http.StatusOK, 1, ""}, {http.StatusBadGateway, 2, home.Offline}, {http.StatusTooManyRequests, 2, home.Internal},
		{http.StatusNotFound, 1, home.NotFound}, {http.StatusUnauthorized, 1, home.Denied}, {http.StatusBadRequest, 1, home.Invalid},
		{http.StatusInternalServerError, 1, home.Offline}, {http.StatusFound, 1, home.Internal},
	} {
		bubble(t, func(t *testing.T, r *rig) {
			tries := 0
			r.server.Handler.(*http.ServeMux).HandleFunc("/api/config/scene/config/x", func(w http.ResponseWriter, _ *http.Request) {
				tries++
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"message":"because"}`)
			})
			_, err := r.client.Body(t.Context(), "scene", "x")
			if home.CodeOf(err) != c.want || tries != c.tries {
				t.Errorf("%d: %d tries, error %v", c.status, tries, err)
			}
			r.client.http.CloseIdleConnections()
		})
	}
}

func TestTemplateIsNotRepeated(t *testing.T) {
	h, s := simulated(t)
	s.Start()
	c, _, err := New(Config{URL: s.URL, Token: secret.New(h.UserToken())}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Template(t.Context(), "{{ 1 + 1 }}")
	code(t, err, home.Denied)
}

func TestOldTLSIsRefused(t *testing.T) {
	_, s := simulated(t)
	s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	s.StartTLS()
	last(t, Probe(t.Context(), Config{URL: s.URL, Token: secret.New("x"), Insecure: true}), "tls", false)
}
