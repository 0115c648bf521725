package guard

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/store"
)

// The files of the data directory that hold a readable token.
const (
	ownerFile = "token"
	firstFile = "mcp-token"
)

// NewTokens opens the tokens; dir is the data directory holding the files token
// and mcp-token. At the very first start both are made, readable by this user
// only; the first MCP token may read and act. A first token that was revoked,
// or whose file is gone, is not made again.
func NewTokens(ctx context.Context, db *store.DB, dir string, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{db: db, log: log, dir: dir}
	owner, _, err := t.ownFile(ownerFile, true)
	if err != nil {
		return nil, err
	}
	t.owner = sha256.Sum256([]byte(owner))
	if err := t.load(ctx); err != nil {
		return nil, err
	}
	return t, t.first(ctx)
}

// first makes the first MCP token where there never was one.
func (t *Tokens) first(ctx context.Context) error {
	fresh := len(t.now.Load().all) == 0
	bearer, ok, err := t.ownFile(firstFile, fresh)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	hash := sha256.Sum256([]byte(bearer))
	switch {
	case hash == t.owner:
		return home.Errorf(home.Invalid, "%s and %s hold the same token", filepath.Join(t.dir, ownerFile), filepath.Join(t.dir, firstFile)).
			WithHint("delete %s and start again", filepath.Join(t.dir, ownerFile))
	case fresh:
		_, err = t.add(ctx, "first", home.Act, bearer, true)
		return err
	case t.now.Load().byHash[hash] == nil:
		t.log.Warn("the first MCP token's file does not fit the database; the token in it opens nothing", home.KeyFile, filepath.Join(t.dir, firstFile))
	}
	return nil
}

// ownFile reads a token from a file of the data directory. With make, a missing
// or empty one is written anew. A file that others may read is closed to them.
func (t *Tokens) ownFile(name string, create bool) (token string, ok bool, err error) {
	path := filepath.Join(t.dir, name)
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", false, home.Wrap(home.Internal, err, "read the token file")
	}
	if token = strings.TrimSpace(string(b)); token != "" {
		if len(token) < 32 || len(token) > maxBearer || strings.ContainsAny(token, " \t\r\n") {
			return "", false, home.Errorf(home.Invalid, "%s does not hold a token", path).WithHint("delete it and start again: a new one is made")
		}
		return token, true, t.closed(path)
	}
	if !create {
		return "", false, nil
	}
	token = newSecret()
	if err := secret.Write(path, []byte(token+"\n")); err != nil {
		return "", false, home.Wrap(home.Internal, err, "write the token file")
	}
	return token, true, nil
}

// closed takes the rights of others from a token file.
func (t *Tokens) closed(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return home.Wrap(home.Internal, err, "look at the token file")
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	t.log.Warn("a token file was open to other users; it is closed now", home.KeyFile, path, home.KeyMode, info.Mode().Perm().String())
	if err := os.Chmod(path, 0o600); err != nil {
		return home.Wrap(home.Internal, err, "close the token file to other users")
	}
	return nil
}
