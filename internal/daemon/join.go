package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"hearth/internal/home"
)

// Client talks to the process that owns a data directory.
type Client struct {
	dir  string
	http *http.Client
}

// Join reaches the owner of dir, or fails with Offline when none runs.
func Join(ctx context.Context, dir string) (*Client, error) {
	c := &Client{dir: dir}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, dir) },
		MaxIdleConns:    2,
		IdleConnTimeout: time.Minute,
	}}
	conn, err := dialSocket(ctx, dir)
	if err != nil {
		return nil, &home.Error{Code: home.Offline, Msg: "no process owns the data directory " + dir, Hint: "start one with hearth serve", Err: err}
	}
	conn.Close()
	return c, nil
}

func dialSocket(ctx context.Context, dir string) (net.Conn, error) {
	short, done, err := shortPath(SocketPath(dir))
	if err != nil {
		return nil, err
	}
	defer done()
	return (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", short)
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Status asks the owner how it is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	return s, c.get(ctx, "/status", &s)
}

// Live waits until the mirror follows the house, or cannot, and tells which.
func (c *Client) Live(ctx context.Context) (Status, error) {
	var s Status
	return s, c.get(ctx, "/live", &s)
}

// Call runs a tool through the owner's door. A refused or failed call is in
// the answer; the error is for an owner that could not be asked.
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage) (CallAnswer, error) {
	var a CallAnswer
	return a, c.post(ctx, "/call", CallRequest{tool, args}, &a)
}

// Resync makes the owner read the whole house again.
func (c *Client) Resync(ctx context.Context) error { return c.post(ctx, "/resync", nil, nil) }

func (c *Client) get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, nil, out)
}

func (c *Client) post(ctx context.Context, path string, in, out any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(b), out)
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader, out any) error {
	q, err := http.NewRequestWithContext(ctx, method, "http://hearth"+path, body)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	a, err := c.http.Do(q)
	if err != nil {
		return &home.Error{Code: home.Offline, Msg: "the process that owns " + c.dir + " did not answer", Hint: "hearth doctor looks into it", Err: err}
	}
	defer a.Body.Close()
	if a.StatusCode >= 400 {
		var f Failure
		if err := json.NewDecoder(a.Body).Decode(&f); err != nil || f.Code == "" {
			return home.Errorf(home.Internal, "the owner answered %s", a.Status).WithHint("both processes should run the same version; restart the owner")
		}
		return f.Err()
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(a.Body).Decode(out); err != nil {
		return fmt.Errorf("read the owner's answer: %w", err)
	}
	return nil
}

// Enter joins the owner of o.Dir, or becomes the owner and joins itself, so
// that there is one way to talk to the house. leave stops what was started and
// waits for it. An owner that is just starting or stopping is waited for.
func Enter(ctx context.Context, o Options) (c *Client, leave func() error, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for give := time.After(2 * drain); ; {
		if c, err = Join(ctx, o.Dir); err == nil {
			return c, func() error { c.Close(); return nil }, nil
		}
		c, leave, err = become(ctx, o)
		if home.CodeOf(err) != home.Conflict {
			return c, leave, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-give:
			return nil, nil, err
		case <-tick.C:
		}
	}
}

// become starts the house in this process and joins it.
func become(ctx context.Context, o Options) (*Client, func() error, error) {
	own, cancel := context.WithCancel(ctx)
	started, done := make(chan struct{}), make(chan error, 1)
	o.Quiet = true
	o.Started = func(Status) { close(started) }
	go func() { done <- Run(own, o) }() // leave waits for it
	leave := func() error {
		cancel()
		return <-done
	}
	select {
	case <-started:
	case err := <-done:
		cancel()
		return nil, nil, err
	}
	c, err := Join(ctx, o.Dir)
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return c, leave, nil
}
