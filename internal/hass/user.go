package hass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// tokenDays is how long Hearth's own token is good for, in days.
const tokenDays = 3650

// MakeUser makes Hearth its own administrator user with the token of an
// administrator in c, and returns the new long-lived token. When a later leg
// fails the user is removed again, and the error says what failed.
func MakeUser(ctx context.Context, c Config, name, username, password string) (token secret.Value, userID string, err error) {
	if name == "" || username == "" || password == "" {
		return token, "", home.Errorf(home.Invalid, "a user needs a name, a user name and a password").WithHint("give all three")
	}
	client, _, err := New(c, nil, &health.Registry{})
	if err != nil {
		return token, "", err
	}
	defer client.http.CloseIdleConnections()
	d, err := client.open(ctx)
	if err != nil {
		return token, "", err
	}
	defer d.close()
	userID, err = d.createUser(ctx, name, local(client.base))
	if err != nil {
		return token, "", err
	}
	token, err = client.dress(ctx, d, credentials{userID, username, password})
	if err == nil {
		return token, userID, nil
	}
	if undo := d.removeUser(ctx, userID); undo != nil {
		what, hint := problem(err)
		why, _ := problem(undo)
		return token, userID, &home.Error{
			Code: home.CodeOf(err), Err: err, Hint: hint,
			Msg: fmt.Sprintf("make Hearth's user: %s; and the half-made user %s could not be removed (%s): remove it in Home Assistant's settings", what, quoted(name), why),
		}
	}
	return token, "", home.Wrap(home.Internal, err, "make Hearth's user")
}

// credentials are what the new user signs in with.
type credentials struct{ user, name, password string }

// open connects and authenticates for a few commands.
func (c *Client) open(ctx context.Context) (*dialogue, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		detail, remedy := problem(err)
		e := &home.Error{Code: home.Offline, Msg: detail, Hint: remedy, Err: err}
		if errors.As(err, new(errAuth)) {
			e.Code, e.Hint = home.Denied, "give the token of an administrator, made on a profile page of Home Assistant"
		}
		return nil, e
	}
	return &dialogue{conn: conn}, nil
}

// local reports whether Home Assistant is in the same house, so that its user
// needs no way in from outside.
func local(u *url.URL) bool {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local")
}

func (d *dialogue) createUser(ctx context.Context, name string, localOnly bool) (id string, err error) {
	var made struct {
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	err = d.ask(ctx, "config/auth/create", map[string]any{"name": name, "group_ids": []string{"system-admin"}, "local_only": localOnly}, &made)
	if err != nil {
		return "", home.Wrap(home.Internal, err, "make the user "+quoted(name))
	}
	if made.User.ID == "" {
		return "", home.Errorf(home.Internal, "Home Assistant made a user without an id")
	}
	return made.User.ID, nil
}

// removeUser takes the user back, even when time is up.
func (d *dialogue) removeUser(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return d.ask(ctx, "config/auth/delete", map[string]any{"user_id": id}, nil)
}

// dress gives the user a password, signs in with it and asks for a token.
func (c *Client) dress(ctx context.Context, d *dialogue, who credentials) (token secret.Value, err error) {
	err = d.ask(ctx, "config/auth_provider/homeassistant/create", map[string]any{"user_id": who.user, "username": who.name, "password": who.password}, nil)
	if err != nil {
		words, _ := problem(err)
		e := home.Errorf(home.Conflict, "Home Assistant does not accept the user name %s: %s", quoted(who.name), words)
		return token, e.WithHint("choose another user name; this one may be taken")
	}
	access, refresh, err := c.signIn(ctx, who)
	if err != nil {
		return token, err
	}
	config := c.config
	config.Token = access
	as, _, err := New(config, nil, &health.Registry{})
	if err != nil {
		return token, err
	}
	defer as.http.CloseIdleConnections()
	own, err := as.open(ctx)
	if err != nil {
		return token, err
	}
	defer own.close()
	var long string
	err = own.ask(ctx, "auth/long_lived_access_token", map[string]any{"client_name": "Hearth", "lifespan": tokenDays}, &long)
	if err != nil {
		return token, home.Wrap(home.Internal, err, "ask for a long-lived token")
	}
	if long == "" {
		return token, home.Errorf(home.Internal, "Home Assistant gave an empty long-lived token")
	}
	// The session of the sign-in is of no more use; that it stays is no harm.
	_, _ = c.form(ctx, "/auth/revoke", url.Values{"token": {refresh.Reveal()}})
	return secret.New(long), nil
}

// signIn walks the login flow as the login page does.
func (c *Client) signIn(ctx context.Context, who credentials) (access, refresh secret.Value, err error) {
	id := c.base.String() + "/"
	var step struct {
		Flow   string `json:"flow_id"`
		Type   string `json:"type"`
		Result string `json:"result"`
	}
	begin := map[string]any{"client_id": id, "handler": []any{"homeassistant", nil}, "redirect_uri": id}
	if err := c.post(ctx, "/auth/login_flow", begin, &step); err != nil {
		return access, refresh, home.Wrap(home.Internal, err, "begin to sign in")
	}
	answer := map[string]any{"client_id": id, "username": who.name, "password": who.password}
	if err := c.post(ctx, "/auth/login_flow/"+url.PathEscape(step.Flow), answer, &step); err != nil {
		return access, refresh, home.Wrap(home.Internal, err, "sign in")
	}
	if step.Type != "create_entry" || step.Result == "" {
		return access, refresh, home.Errorf(home.Internal, "Home Assistant did not let the new user sign in (%s)", quoted(step.Type))
	}
	raw, err := c.form(ctx, "/auth/token", url.Values{"grant_type": {"authorization_code"}, "code": {step.Result}, "client_id": {id}})
	if err != nil {
		return access, refresh, home.Wrap(home.Internal, err, "fetch the token of the sign-in")
	}
	var grant struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := decode("/auth/token", raw, &grant); err != nil {
		return access, refresh, err
	}
	return secret.New(grant.Access), secret.New(grant.Refresh), nil
}

// post sends JSON without a token: the login flow needs none.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	raw, err := c.anonymous(ctx, path, "application/json", string(body))
	if err != nil {
		return err
	}
	return decode(path, raw, out)
}

// form sends a form without a token.
func (c *Client) form(ctx context.Context, path string, values url.Values) ([]byte, error) {
	return c.anonymous(ctx, path, "application/x-www-form-urlencoded", values.Encode())
}

func (c *Client) anonymous(ctx context.Context, path, kind, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, restTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath(path).String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, c.unreachable(ctx, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, restError(path, resp, raw)
	}
	return raw, nil
}
