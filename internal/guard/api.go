// Package guard says who may see and do what.
package guard

import (
	"context"
	"log/slog"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/secret"
	"hearth/internal/store"
	"hearth/internal/tool"
)

// NewJudge makes the judge of step 1: a short allowlist; all else is denied.
func NewJudge(house *mirror.House) tool.Judge { panic("skeleton") }

// Tokens keeps MCP tokens: SHA-256 in the store, compared in constant time.
type Tokens struct{}

// NewTokens opens the tokens; dir is the data directory holding the files token and mcp-token.
func NewTokens(ctx context.Context, db *store.DB, dir string, log *slog.Logger) (*Tokens, error) {
	panic("skeleton")
}

// Token is one token, without its secret.
type Token struct {
	ID      string
	Name    string
	Class   home.Class // the grant's ceiling
	Created time.Time
	Used    time.Time
	Revoked time.Time
	Hint    string // first four characters
	First   bool   // made at the first start, readable in mcp-token
}

// Verify gives the caller that an MCP bearer is.
func (t *Tokens) Verify(bearer string) (tool.Caller, bool) { panic("skeleton") }

// Owner reports whether the bearer is the owner's token (CLI and pages only).
func (t *Tokens) Owner(bearer string) bool { panic("skeleton") }

// First is the first MCP token's caller: stdio acts with it.
func (t *Tokens) First() (tool.Caller, bool) { panic("skeleton") }

// New makes a token; its secret is shown once.
func (t *Tokens) New(ctx context.Context, name string, upto home.Class) (Token, secret.Value, error) {
	panic("skeleton")
}

// List lists all tokens.
func (t *Tokens) List(ctx context.Context) ([]Token, error) { panic("skeleton") }

// Revoke revokes by id or name.
func (t *Tokens) Revoke(ctx context.Context, idOrName string) (Token, error) { panic("skeleton") }
