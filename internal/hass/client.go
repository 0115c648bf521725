package hass

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

// readWait is how long a read waits for the session to be ready.
const readWait = 10 * time.Second

// Client reads. It cannot write.
type Client struct {
	config  Config
	base    *url.URL
	http    *http.Client
	log     *slog.Logger
	health  *health.Registry
	latency atomic.Int64 // nanoseconds
	frames  samples
	count   counters
	lastBad atomic.Int64 // when a frame last could not be read, Unix nanoseconds

	mu      sync.Mutex
	session *session // nil while there is none that is authenticated
	reason  string   // why there is none
	changed chan struct{}
	running bool      // Run is at work
	next    time.Time // when the next attempt begins; zero while one is under way
	user    string
	admin   bool
	known   bool
}

// Actor writes. Only hands holds one.
type Actor struct{ c *Client }

// New makes the reading and the writing end of one link; Run drives it. It makes
// no traffic. An error names the setting that is wrong.
func New(c Config, log *slog.Logger, h *health.Registry) (*Client, *Actor, error) {
	base, err := c.base()
	if err != nil {
		return nil, nil, err
	}
	if c.Token.Empty() {
		return nil, nil, home.Errorf(home.Invalid, "there is no token for Home Assistant").
			WithHint("make a long-lived token on your profile page in Home Assistant and name its file in ha.token_file, or run hearth setup")
	}
	transport, err := c.transport()
	if err != nil {
		return nil, nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if h == nil {
		h = &health.Registry{}
	}
	client := &Client{
		config: c, base: base, http: transport, log: log, health: h,
		reason: "not connected yet", changed: make(chan struct{}), count: newCounters(h),
	}
	if c.Insecure && base.Scheme == "https" {
		const text = "any certificate is accepted, because ha.insecure is set: whoever sits between can read and change everything"
		h.Light(health.HassInsecure, text)
		log.Error("the certificate of Home Assistant is not verified", home.KeyReason, text, home.KeyHost, base.Host)
	}
	return client, &Actor{c: client}, nil
}

// counters are those of the link, at hand so that the reader need not look them up.
type counters struct {
	frames, bad, differences, events, sessions, calls *atomic.Int64
}

func newCounters(h *health.Registry) counters {
	return counters{
		frames: h.Counter("hass.frames"), bad: h.Counter("hass.frames.bad"), differences: h.Counter("hass.differences"),
		events: h.Counter("hass.events"), sessions: h.Counter("hass.sessions"), calls: h.Counter("hass.calls"),
	}
}

// Online reports whether the session is authenticated, and the reason if not.
func (c *Client) Online() (up bool, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		return true, ""
	}
	return false, c.reason
}

// Admin reports whether the token is an administrator's; known is false before
// the first session.
func (c *Client) Admin() (admin, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.admin, c.known
}

// User is our own user id in Home Assistant, "" before the first session.
func (c *Client) User() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.user
}

// Resync makes the session read the whole house again and report it as a fresh
// snapshot. Without a session it does nothing: the next one begins with one.
func (c *Client) Resync() {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		s.keeper.resyncNow()
	}
}

// Latency is the last ping's round trip, 0 before the first.
func (c *Client) Latency() time.Duration { return time.Duration(c.latency.Load()) }

// BadFrames gives the last messages that could not be decoded, at most 20,
// oldest first; the counter hass.frames.bad holds how many there were.
func (c *Client) BadFrames() []Sample { return c.frames.list() }

// badFrame notes a message that could not be decoded.
func (c *Client) badFrame(raw []byte, why string, at time.Time) {
	n := c.count.bad.Add(1)
	c.frames.add(raw, why, at)
	c.lastBad.Store(at.UnixNano())
	c.health.Light(health.HassFrames, home.Clip("the last one was "+why+"; hearth doctor shows samples", maxWords))
	if n <= keepSamples {
		c.log.Warn("a message of Home Assistant could not be read", home.KeyReason, why, home.KeyBytes, len(raw), home.KeyCount, n)
	}
}

// calm clears the condition of bad frames when none came for a while.
func (c *Client) calm() {
	if time.Since(time.Unix(0, c.lastBad.Load())) >= refreshTime {
		c.health.Clear(health.HassFrames)
	}
}

// writable is the session when its snapshot is through, else nil and why not.
func (c *Client) writable() (*session, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.session == nil:
		return nil, "not connected to Home Assistant: " + c.reason
	case !c.session.flow.begun():
		return nil, "the link is up, but the house is still being read"
	}
	return c.session, ""
}

// await gives the session, waiting for it at most readWait. It does not wait
// when the next attempt begins later than that.
func (c *Client) await(ctx context.Context) (*session, error) {
	limit := time.NewTimer(readWait)
	defer limit.Stop()
	for {
		c.mu.Lock()
		s, reason, changed, next, running := c.session, c.reason, c.changed, c.next, c.running
		c.mu.Unlock()
		if s != nil {
			return s, nil
		}
		if running && !next.IsZero() && time.Until(next) >= readWait {
			return nil, offline("not connected to Home Assistant: "+reason, nil)
		}
		select {
		case <-changed:
		case <-limit.C:
			return nil, offline("not connected to Home Assistant within "+readWait.String()+": "+reason, nil)
		case <-ctx.Done():
			return nil, home.Wrap(home.Timeout, context.Cause(ctx), "wait for the link to Home Assistant")
		}
	}
}

// change updates the state of the link and wakes those who wait for it.
func (c *Client) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}
