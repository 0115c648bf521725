package hass

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"hearth/internal/health"
	"hearth/internal/home"
)

// hello is a message of the authentication.
type hello struct {
	Type    string `json:"type"`
	Version string `json:"ha_version"`
	Message string `json:"message"`
}

// connect opens the WebSocket and authenticates, within connectTime. A refused
// token is an errAuth.
func (c *Client) connect(ctx context.Context) (*websocket.Conn, error) {
	within, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("not let in by Home Assistant within %s", connectTime))
	defer cancel()
	conn, at, err := c.dial(within)
	if err != nil {
		return nil, late(within, err)
	}
	if err := c.authenticate(within, conn); err != nil {
		conn.CloseNow()
		return nil, late(within, err)
	}
	c.compareClocks(at)
	return conn, nil
}

// late prefers the fact that time is up over what that broke.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// dial opens the WebSocket. at is the house's clock, zero when it did not say.
func (c *Client) dial(ctx context.Context) (conn *websocket.Conn, at time.Time, err error) {
	u := c.base.JoinPath("/api/websocket")
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: c.http})
	if err != nil {
		why := cause{}
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			why = statusCause(resp)
		} else {
			why = explain(err, c.base.Scheme, c.base.Host)
		}
		return nil, at, hopError{cause: why, err: err}
	}
	conn.SetReadLimit(readLimit)
	return conn, saidTime(resp.Header), nil
}

// hopError is a cause with its error: the words for people, the error for code.
type hopError struct {
	cause
	err error
}

func (e hopError) Error() string { return e.what + ": " + e.remedy }
func (e hopError) Unwrap() error { return e.err }

// authenticate reads the greeting and shows the token.
func (c *Client) authenticate(ctx context.Context, conn *websocket.Conn) error {
	if _, err := greet(ctx, conn); err != nil {
		return err
	}
	return c.showToken(ctx, conn)
}

// greet reads what Home Assistant says first, and gives its version.
func greet(ctx context.Context, conn *websocket.Conn) (version string, err error) {
	var h hello
	if err := wsjson.Read(ctx, conn, &h); err != nil {
		return "", hopError{cause{"websocket", "the WebSocket broke before the greeting: " + plain(err).Error(), "check that ha.url leads to Home Assistant and that a proxy in between lets WebSockets through"}, err}
	}
	if h.Type != "auth_required" {
		return "", hopError{cause{"websocket", fmt.Sprintf("the WebSocket greets with %s, not auth_required", quoted(h.Type)), "check that ha.url leads to Home Assistant"}, errors.New("no auth_required")}
	}
	return h.Version, nil
}

// showToken authenticates. A refused token is an errAuth.
func (c *Client) showToken(ctx context.Context, conn *websocket.Conn) error {
	if err := wsjson.Write(ctx, conn, map[string]string{"type": "auth", "access_token": c.config.Token.Reveal()}); err != nil {
		return fmt.Errorf("showing the token failed: %w", plain(err))
	}
	var h hello
	if err := wsjson.Read(ctx, conn, &h); err != nil {
		return fmt.Errorf("no answer to the token: %w", plain(err))
	}
	switch h.Type {
	case "auth_ok":
		return nil
	case "auth_invalid":
		return errAuth{h.Message}
	}
	return fmt.Errorf("the answer of Home Assistant to the token was %s", quoted(h.Type))
}

// compareClocks lights a condition when the house's clock, known to the second,
// is far from ours.
func (c *Client) compareClocks(at time.Time) {
	if at.IsZero() {
		return
	}
	if off := time.Until(at); off > skewLimit || off < -skewLimit {
		c.health.Light(health.ClockSkew, clockWords(off))
		return
	}
	c.health.Clear(health.ClockSkew)
}

// clockWords says by how much the house's clock differs from ours.
func clockWords(off time.Duration) string {
	if off < 0 {
		return fmt.Sprintf("the house's clock is %s behind ours", (-off).Round(time.Second))
	}
	return fmt.Sprintf("the house's clock is %s ahead of ours", off.Round(time.Second))
}

// saidTime is the clock in the head of an answer, zero when it did not say.
func saidTime(h http.Header) time.Time {
	t, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// askTime has the clocks compared, which any answer over REST does. Whatever
// becomes of the question is no matter.
func (c *Client) askTime(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pongWithin)
	defer cancel()
	_, _, err := c.rest(ctx, http.MethodGet, "/api/", nil, nil)
	if err != nil {
		c.log.Debug("the house did not say its time", home.KeyError, err)
	}
}
