package hass

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// Config is the link's part of the configuration.
type Config struct {
	URL      string // http(s)://host:port
	Token    secret.Value
	CAFile   string                                                            // PEM certificates to trust besides the system's
	Insecure bool                                                              // accept any certificate; logged loudly
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error) // tests
}

// Check reports the first value that cannot be right, without any traffic. The
// token is not looked at.
func (c Config) Check() error {
	_, err := c.base()
	if err != nil {
		return err
	}
	_, err = c.tls()
	return err
}

// base is the address of Home Assistant without a slash at its end.
func (c Config) base() (*url.URL, error) {
	const hint = "write it as http://homeassistant.local:8123"
	text := strings.TrimSpace(c.URL)
	if text == "" {
		return nil, home.Errorf(home.Invalid, "ha.url is empty").WithHint(hint)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return nil, home.Errorf(home.Invalid, "ha.url %s is not an address", quoted(text)).WithHint(hint)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, home.Errorf(home.Invalid, "ha.url begins with %s", quoted(u.Scheme+"://")).WithHint("it must begin with http:// or https://; the WebSocket's address follows from it")
	case u.User != nil:
		return nil, home.Errorf(home.Invalid, "ha.url holds a user name").WithHint("leave it out: Hearth uses a token")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, home.Errorf(home.Invalid, "ha.url %s holds a query", quoted(text)).WithHint(hint)
	}
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api/websocket"), "/api")
	return u, nil
}

// tls is how certificates are checked.
func (c Config) tls() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure}
	if c.CAFile == "" {
		return t, nil
	}
	const hint = "ha.ca_file must name a readable file with certificates in PEM form"
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, (&home.Error{Code: home.Invalid, Msg: "ha.ca_file cannot be read: " + err.Error(), Err: err}).WithHint(hint)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, home.Errorf(home.Invalid, "ha.ca_file %s holds no certificate", quoted(c.CAFile)).WithHint(hint)
	}
	t.RootCAs = pool
	return t, nil
}

// transport makes the HTTP client of a link. It follows no redirect: a redirect
// would carry the token to where nobody asked for.
func (c Config) transport() (*http.Client, error) {
	t, err := c.tls()
	if err != nil {
		return nil, err
	}
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectTime, KeepAlive: 15 * time.Second}).DialContext
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: t, TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: bodyWorkers, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
