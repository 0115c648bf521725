package hass

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"hearth/internal/health"
	"hearth/internal/home"
)

// Hop is one test of the way to Home Assistant.
type Hop struct {
	Name   string // url, dns, tcp, tls, http, websocket, token, admin, rights, clock
	OK     bool
	Detail string        // what was found
	Remedy string        // what to do about it, "" when OK
	Took   time.Duration // how long the test took
}

// Probe tests every hop in order and stops at the first that fails. The token is
// shown only to what has greeted as Home Assistant does.
func Probe(ctx context.Context, c Config) []Hop {
	p := &probe{config: c}
	defer p.close()
	var hops []Hop
	for _, t := range []struct {
		name string
		test func(context.Context) (string, error)
	}{
		{"url", p.url}, {"dns", p.dns}, {"tcp", p.tcp}, {"tls", p.tls}, {"http", p.answer},
		{"websocket", p.greeting}, {"token", p.token}, {"admin", p.admin}, {"rights", p.rights}, {"clock", p.clock},
	} {
		begin := time.Now()
		within, cancel := context.WithTimeout(ctx, connectTime)
		detail, err := t.test(within)
		cancel()
		h := Hop{Name: t.name, OK: err == nil, Detail: detail, Took: time.Since(begin)}
		if err != nil {
			h.Detail, h.Remedy = problem(err)
		}
		hops = append(hops, h)
		if err != nil {
			break
		}
	}
	return hops
}

// problem splits an error into what is wrong and what to do.
func problem(err error) (detail, remedy string) {
	var hop hopError
	var e *home.Error
	switch {
	case errors.As(err, &hop):
		return hop.what, hop.remedy
	case errors.As(err, &e):
		return e.Msg, e.Hint
	}
	return err.Error(), "try again; if it stays, look into Home Assistant's log"
}

// probe is the way walked so far.
type probe struct {
	config Config
	c      *Client
	conn   net.Conn
	ws     *websocket.Conn
	d      *dialogue
	house  time.Time // the house's clock…
	ours   time.Time // …and ours when it said so
}

func (p *probe) close() {
	if p.conn != nil {
		p.conn.Close()
	}
	if p.ws != nil {
		p.ws.CloseNow()
	}
	if p.c != nil {
		p.c.http.CloseIdleConnections()
	}
}

func (p *probe) url(context.Context) (string, error) {
	c, _, err := New(p.config, nil, &health.Registry{})
	if err != nil {
		return "", err
	}
	p.c = c
	return c.base.String(), nil
}

// hostPort is where to dial.
func (p *probe) hostPort() (host, addr string) {
	u := p.c.base
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname(), net.JoinHostPort(u.Hostname(), port)
}

func (p *probe) dns(ctx context.Context) (string, error) {
	host, _ := p.hostPort()
	if net.ParseIP(host) != nil {
		return "an address, no name to resolve", nil
	}
	if p.config.Dial != nil {
		return "left to the dialer", nil
	}
	addrs, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", p.hop(err)
	}
	return fmt.Sprintf("%s is %s", host, strings.Join(addrs, ", ")), nil
}

// hop explains an error of the network.
func (p *probe) hop(err error) error {
	return hopError{explain(err, p.c.base.Scheme, p.c.base.Host), err}
}

func (p *probe) tcp(ctx context.Context) (string, error) {
	dial := p.config.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	_, addr := p.hostPort()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return "", p.hop(err)
	}
	p.conn = conn
	return "connected to " + addr, nil
}

func (p *probe) tls(ctx context.Context) (string, error) {
	if p.c.base.Scheme != "https" {
		return "not used: ha.url is http", nil
	}
	t, err := p.config.tls()
	if err != nil {
		return "", err
	}
	t.ServerName, _ = p.hostPort()
	conn := tls.Client(p.conn, t)
	if err := conn.HandshakeContext(ctx); err != nil {
		return "", p.hop(err)
	}
	state := conn.ConnectionState()
	p.conn.Close()
	detail := tls.VersionName(state.Version)
	if len(state.PeerCertificates) > 0 {
		cert := state.PeerCertificates[0]
		detail = fmt.Sprintf("%s, certificate of %s until %s", detail, quoted(cert.Subject.CommonName), cert.NotAfter.Format(time.DateOnly))
	}
	if p.config.Insecure {
		detail += ", NOT verified (ha.insecure)"
	}
	return detail, nil
}

// answer asks the REST API without a token: Home Assistant says 401.
func (p *probe) answer(ctx context.Context) (string, error) {
	p.conn.Close() // a connection of its own may follow
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.c.base.JoinPath("/api/").String(), nil)
	if err != nil {
		return "", err
	}
	resp, err := p.c.http.Do(req)
	if err != nil {
		return "", p.hop(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode != http.StatusUnauthorized {
		return "", hopError{statusCause(resp), errors.New(resp.Status)}
	}
	return "it answers and wants a token", nil
}

func (p *probe) greeting(ctx context.Context) (string, error) {
	ws, at, err := p.c.dial(ctx)
	if err != nil {
		return "", err
	}
	p.ws, p.house, p.ours = ws, at, time.Now()
	version, err := greet(ctx, ws)
	if err != nil {
		return "", err
	}
	return "Home Assistant " + home.Clip(version, 40), nil
}

func (p *probe) token(ctx context.Context) (string, error) {
	err := p.c.showToken(ctx, p.ws)
	var auth errAuth
	if errors.As(err, &auth) {
		return "", hopError{cause{"token", auth.Error(), "make a new long-lived token on a profile page of Home Assistant, or run hearth setup"}, err}
	}
	if err != nil {
		return "", err
	}
	p.d = &dialogue{conn: p.ws}
	return "accepted", nil
}

func (p *probe) admin(ctx context.Context) (string, error) {
	var me struct {
		Name  string `json:"name"`
		Admin bool   `json:"is_admin"`
	}
	if err := p.d.ask(ctx, "auth/current_user", nil, &me); err != nil {
		return "", err
	}
	if !me.Admin {
		return "", hopError{cause{"admin", fmt.Sprintf("the token's user %s is not an administrator; %s", quoted(me.Name), missing()), "run hearth setup with a token that an administrator made on a profile page of Home Assistant"}, errors.New("not an administrator")}
	}
	return fmt.Sprintf("the token's user %s is an administrator", quoted(me.Name)), nil
}

// rights tries what only an administrator may, without changing anything.
func (p *probe) rights(ctx context.Context) (string, error) {
	var lacks []string
	if err := p.d.ask(ctx, "subscribe_events", map[string]any{"event_type": "call_service"}, nil); err != nil {
		lacks = append(lacks, "the events of service calls")
	}
	if err := p.d.ask(ctx, "config/auth/list", nil, nil); err != nil {
		lacks = append(lacks, "the list of users")
	}
	if _, err := p.c.Template(ctx, "{{ 1 + 1 }}"); err != nil {
		lacks = append(lacks, "templates over REST")
	}
	if lacks != nil {
		what := "Home Assistant refuses " + strings.Join(lacks, ", ")
		return "", hopError{cause{"rights", what, "let a proxy in between pass /api/ whole, or run hearth setup for a user of Hearth's own"}, errors.New("rights are missing")}
	}
	return "events, users and templates", nil
}

func (p *probe) clock(context.Context) (string, error) {
	if p.house.IsZero() {
		return "Home Assistant did not say its time", nil
	}
	off := p.house.Sub(p.ours)
	if off > skewLimit || off < -skewLimit {
		what := clockWords(off)
		return "", hopError{cause{"clock", what, "synchronise both with a time server"}, errors.New("clocks differ")}
	}
	return "the clocks agree", nil
}
