// Package hass keeps one supervised WebSocket session with Home Assistant and answers calls on it.
package hass

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// Config is the link's part of the configuration.
type Config struct {
	URL      string // http(s)://host:port
	Token    secret.Value
	CAFile   string
	Insecure bool                                                              // accept any certificate; logged loudly
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // tests
}

// Client reads. It cannot write.
type Client struct{}

// Actor writes. Only hands holds one.
type Actor struct{}

// New makes the reading and the writing end of one link; Run drives it.
func New(c Config, log *slog.Logger, h *health.Registry) (*Client, *Actor, error) { panic("skeleton") }

// Run connects, mirrors and reconnects until ctx ends. Reports go to sink in frame order, never concurrently.
func (c *Client) Run(ctx context.Context, sink func(home.Report)) error { panic("skeleton") }

// Online reports whether the session is authenticated, and the close reason if not.
func (c *Client) Online() (up bool, reason string) { panic("skeleton") }

// Admin reports whether the token is an administrator's; known is false before the first session.
func (c *Client) Admin() (admin, known bool) { panic("skeleton") }

// User is our own user id in Home Assistant, "" before the first session.
func (c *Client) User() string { panic("skeleton") }

// Resync drops and rebuilds the session's snapshot.
func (c *Client) Resync() { panic("skeleton") }

// Latency is the last ping's round trip.
func (c *Client) Latency() time.Duration { panic("skeleton") }

// Call sends a reading command and decodes its result into out (may be nil).
func (c *Client) Call(ctx context.Context, kind string, fields map[string]any, out any) error {
	panic("skeleton")
}

// States reads states now (all when ids is empty; one by REST when one).
func (c *Client) States(ctx context.Context, ids []home.EntityID) ([]home.State, error) {
	panic("skeleton")
}

// Point is one recorded state of an entity.
type Point struct {
	Value   string
	Attrs   json.RawMessage
	Changed time.Time
	Updated time.Time
}

// History reads the recorder: WebSocket first, REST as fallback.
func (c *Client) History(ctx context.Context, ids []home.EntityID, from, to time.Time, attrs bool) (map[home.EntityID][]Point, error) {
	panic("skeleton")
}

// Template renders a template over REST.
func (c *Client) Template(ctx context.Context, text string) (string, error) { panic("skeleton") }

// Body reads the stored config of an automation, script or scene by its config id.
func (c *Client) Body(ctx context.Context, domain, configID string) (json.RawMessage, error) {
	panic("skeleton")
}

// Extract asks Home Assistant itself what a target is (tests and doctor compare with our own resolution).
func (c *Client) Extract(ctx context.Context, t home.Target, expand bool) (entities []home.EntityID, err error) {
	panic("skeleton")
}

// CallService calls a service. It is never re-sent; a link that is not ready fails offline at once.
// A result gives the context; an error after sending is timeout (unknown outcome).
func (a *Actor) CallService(ctx context.Context, c home.ServiceCall) (home.Context, json.RawMessage, error) {
	panic("skeleton")
}

// Hop is one test of the way to Home Assistant.
type Hop struct {
	Name   string // url, dns, tcp, tls, http, websocket, token, admin, rights, clock
	OK     bool
	Detail string
	Remedy string
	Took   time.Duration
}

// Probe tests every hop in order and stops at the first that fails.
func Probe(ctx context.Context, c Config) []Hop { panic("skeleton") }

// MakeUser makes Hearth its own administrator user with the token of an administrator and returns the new long-lived token.
func MakeUser(ctx context.Context, c Config, name, username, password string) (token secret.Value, userID string, err error) {
	panic("skeleton")
}
