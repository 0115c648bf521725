package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"hearth/internal/guard"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/store"
)

// Token is an MCP token without its secret. Zero times mean never.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Class   string    `json:"class"`
	Hint    string    `json:"hint"`
	First   bool      `json:"first,omitempty"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// TokenRequest names a token to make or to revoke.
type TokenRequest struct {
	Name  string `json:"name"`
	Class string `json:"class,omitempty"` // read or act
}

// NewToken is a token just made, with the secret that is shown once.
type NewToken struct {
	Token
	Secret string `json:"secret"`
}

// ListTokens lists the tokens of dir, over the owner or without one.
func ListTokens(ctx context.Context, dir string) ([]Token, error) {
	var out []Token
	err := withTokens(ctx, dir,
		func(c *Client) error { return c.get(ctx, "/tokens", &out) },
		func(t *guard.Tokens) (err error) { out, err = listTokens(ctx, t, time.Local); return err })
	return out, err
}

// MakeToken makes a token. Its secret is shown here and never again.
func MakeToken(ctx context.Context, dir string, q TokenRequest) (NewToken, error) {
	var out NewToken
	err := withTokens(ctx, dir,
		func(c *Client) error { return c.post(ctx, "/tokens", q, &out) },
		func(t *guard.Tokens) (err error) { out, err = makeToken(ctx, t, q); return err })
	return out, err
}

// RevokeToken revokes a token by id or name. Its clients are refused from then on.
func RevokeToken(ctx context.Context, dir, idOrName string) (Token, error) {
	var out Token
	err := withTokens(ctx, dir,
		func(c *Client) error { return c.post(ctx, "/tokens/revoke", TokenRequest{Name: idOrName}, &out) },
		func(t *guard.Tokens) (err error) { out, err = revokeToken(ctx, t, idOrName); return err })
	return out, err
}

// Furnished reports whether a house was set up in dir, or started there.
func Furnished(dir string) bool {
	for _, name := range []string{"hearth.yaml", "hearth.db", "mcp-token"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// FirstToken reads the first MCP token of dir. The first start makes it; when
// there was none yet, it is made here.
func FirstToken(ctx context.Context, dir string) (secret.Value, error) {
	path := filepath.Join(dir, "mcp-token")
	v, err := secret.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := ListTokens(ctx, dir); err != nil {
			return secret.Value{}, err
		}
		v, err = secret.Load(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return secret.Value{}, home.Errorf(home.NotFound, "the first MCP token was revoked").WithHint("make another with hearth token new NAME")
	}
	return v, err
}

// withTokens works on the tokens through the owner, or, where none runs, on the
// database itself while holding the lock.
func withTokens(ctx context.Context, dir string, joined func(*Client) error, alone func(*guard.Tokens) error) (err error) {
	c, err := Join(ctx, dir)
	if err == nil {
		defer c.Close()
		return joined(c)
	}
	lock, err := Acquire(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	log, h := slog.New(slog.DiscardHandler), &health.Registry{}
	db, err := store.Open(ctx, store.Config{Path: dbPath(dir)}, log, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	t, err := guard.NewTokens(ctx, db, dir, log)
	if err != nil {
		return err
	}
	if err := alone(t); err != nil {
		return err
	}
	return db.Flush(ctx)
}

// listTokens gives the times of the tokens in loc, the home's zone where a house
// says which.
func listTokens(ctx context.Context, t *guard.Tokens, loc *time.Location) ([]Token, error) {
	all, err := t.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Token, len(all))
	for i, g := range all {
		out[i] = tokenOf(g)
		for _, at := range []*time.Time{&out[i].Created, &out[i].Used, &out[i].Revoked} {
			if !at.IsZero() {
				*at = home.Local(*at, loc)
			}
		}
	}
	return out, nil
}

func makeToken(ctx context.Context, t *guard.Tokens, q TokenRequest) (NewToken, error) {
	class, err := classOf(q.Class)
	if err != nil {
		return NewToken{}, err
	}
	g, s, err := t.New(ctx, q.Name, class)
	return NewToken{Token: tokenOf(g), Secret: s.Reveal()}, err
}

func revokeToken(ctx context.Context, t *guard.Tokens, idOrName string) (Token, error) {
	g, err := t.Revoke(ctx, idOrName)
	return tokenOf(g), err
}

func tokenOf(g guard.Token) Token {
	return Token{ID: g.ID, Name: g.Name, Class: g.Class.String(), Hint: g.Hint, First: g.First, Created: g.Created, Used: g.Used, Revoked: g.Revoked}
}

func classOf(s string) (home.Class, error) {
	switch s {
	case "read":
		return home.Read, nil
	case "", "act":
		return home.Act, nil
	}
	return 0, home.Errorf(home.Invalid, "there is no grant %q", home.Clip(s, 40)).WithHint("use read (looks) or act (looks and changes the house)")
}
