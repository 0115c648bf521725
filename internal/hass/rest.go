package hass

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hearth/internal/home"
)

// The numbers of REST.
const (
	restTime   = 15 * time.Second
	restWait   = time.Second     // before a read is tried once more
	restLonger = 5 * time.Second // the longest Retry-After that is honoured
)

// get reads a path of the REST API. A read that failed for a passing reason is
// tried once more.
func (c *Client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	body, wait, err := c.rest(ctx, http.MethodGet, path, query, nil)
	if wait == 0 {
		return body, err
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, err
	}
	body, _, err = c.rest(ctx, http.MethodGet, path, query, nil)
	return body, err
}

// rest makes one request. wait is how long to wait before trying again makes
// sense, 0 when it does not.
func (c *Client) rest(ctx context.Context, method, path string, query url.Values, in any) (body []byte, wait time.Duration, err error) {
	within, cancel := context.WithTimeout(ctx, restTime)
	defer cancel()
	var text io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, 0, home.Wrap(home.Internal, err, "write the request for "+path)
		}
		text = bytes.NewReader(b)
	}
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(within, method, u.String(), text)
	if err != nil {
		return nil, 0, home.Wrap(home.Internal, err, "make the request for "+path)
	}
	req.Header.Set("Authorization", "Bearer "+c.config.Token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, restWait, c.unreachable(ctx, path, err)
	}
	defer resp.Body.Close()
	c.compareClocks(saidTime(resp.Header))
	body, err = io.ReadAll(io.LimitReader(resp.Body, readLimit+1))
	switch {
	case err != nil:
		return nil, restWait, c.unreachable(ctx, path, err)
	case len(body) > readLimit:
		return nil, 0, home.Errorf(home.Internal, "Home Assistant's answer to %s is larger than %d MiB", path, readLimit>>20).WithHint("ask for less: fewer entities or a shorter time")
	case resp.StatusCode/100 == 2:
		return body, 0, nil
	}
	return nil, passing(resp), restError(path, resp, body)
}

func (c *Client) unreachable(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return home.Wrap(home.Timeout, context.Cause(ctx), "ask Home Assistant for "+path)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return home.Errorf(home.Timeout, "Home Assistant did not answer %s within %s", path, restTime).WithHint("ask for less, or try again; hearth_status shows the link")
	}
	why := explain(err, c.base.Scheme, c.base.Host)
	return (&home.Error{Code: home.Offline, Msg: "Home Assistant cannot be reached: " + why.what, Err: err}).WithHint("%s", why.remedy)
}

// passing is how long to wait after an answer that may be better next time.
func passing(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, restLonger)
	}
	return restWait
}

// restError turns an answer that is no success into ours.
func restError(path string, resp *http.Response, body []byte) error {
	words := string(body)
	var m struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &m) == nil && m.Message != "" {
		words = m.Message
	}
	e := &home.Error{
		Code: home.Internal, Msg: fmt.Sprintf("Home Assistant answered %s with %d %s", path, resp.StatusCode, quoted(words)),
		Err: &Failure{Command: path, Code: strconv.Itoa(resp.StatusCode), Message: words},
	}
	switch {
	case resp.StatusCode == http.StatusNotFound:
		e.Code = home.NotFound
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		e.Code, e.Hint = home.Denied, "the token is refused or not an administrator's; hearth doctor tells which; run hearth setup with a new token of an administrator"
	case resp.StatusCode == http.StatusBadRequest:
		e.Code = home.Invalid
	case resp.StatusCode >= 500:
		e.Code = home.Offline
	}
	return e
}
