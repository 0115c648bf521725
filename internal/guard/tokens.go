package guard

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/store"
	"hearth/internal/tool"
)

// useEvery is how often the time of a token's last use is written down.
const useEvery = time.Minute

// maxBearer is how long a bearer is read; ours have 50 characters.
const maxBearer = 256

// Tokens keeps MCP tokens: SHA-256 in the store, compared in constant time, and
// all of them in memory, so that a request never waits for the database. All
// methods are safe for concurrent use.
type Tokens struct {
	db    *store.DB
	log   *slog.Logger
	dir   string
	owner [sha256.Size]byte

	mu  sync.Mutex               // one change at a time
	now atomic.Pointer[tokenSet] // what Verify reads; never changed once stored
}

// tokenSet is all tokens at one moment.
type tokenSet struct {
	byHash map[[sha256.Size]byte]*token
	all    []*token // oldest first, revoked ones too
}

// token is one token; only used changes.
type token struct {
	Token
	hash [sha256.Size]byte
	used atomic.Int64 // UTC milliseconds, 0 for never
	kept atomic.Int64 // the value last handed to the store
}

// Token is one token, without its secret.
type Token struct {
	ID      string     // tok_…
	Name    string     // unique among those that are not revoked
	Class   home.Class // the grant's ceiling
	Created time.Time
	Used    time.Time // zero: never; to the minute after a restart
	Revoked time.Time // zero: valid
	Hint    string    // the first four characters after the prefix
	First   bool      // made at the first start, readable in mcp-token
}

// caller is who a token lets in.
func (t *token) caller() tool.Caller {
	return tool.Caller{Via: "mcp", Who: t.Name, Token: t.ID, Grant: home.Grant{Upto: t.Class, Scope: home.Visible()}}
}

// Verify gives the caller that an MCP bearer is. It takes no lock and does not
// touch the database; the time of use is noted lazily. The owner's token is no
// MCP token.
func (t *Tokens) Verify(bearer string) (tool.Caller, bool) {
	if bearer == "" || len(bearer) > maxBearer {
		return tool.Caller{}, false
	}
	hash := sha256.Sum256([]byte(bearer))
	if subtle.ConstantTimeCompare(hash[:], t.owner[:]) == 1 {
		return tool.Caller{}, false
	}
	k := t.now.Load().byHash[hash]
	if k == nil || subtle.ConstantTimeCompare(hash[:], k.hash[:]) != 1 || !k.Revoked.IsZero() {
		return tool.Caller{}, false
	}
	t.touch(k)
	return k.caller(), true
}

// touch notes the use of a token and hands it to the store once a minute.
func (t *Tokens) touch(k *token) {
	now := time.Now().UnixMilli()
	k.used.Store(now)
	last := k.kept.Load()
	if now-last < useEvery.Milliseconds() || !k.kept.CompareAndSwap(last, now) {
		return
	}
	t.db.Append(tokenUsed{k.ID, now})
}

// Owner reports whether the bearer is the owner's token (CLI and pages only).
func (t *Tokens) Owner(bearer string) bool {
	if bearer == "" || len(bearer) > maxBearer {
		return false
	}
	hash := sha256.Sum256([]byte(bearer))
	return subtle.ConstantTimeCompare(hash[:], t.owner[:]) == 1
}

// First is the first MCP token's caller: stdio acts with it. False once it is revoked.
func (t *Tokens) First() (tool.Caller, bool) {
	for _, k := range t.now.Load().all {
		if k.First && k.Revoked.IsZero() {
			return k.caller(), true
		}
	}
	return tool.Caller{}, false
}

// New makes a token; its secret is shown once and kept nowhere. The name must
// not be that of a valid token. It is durable when New returns.
func (t *Tokens) New(ctx context.Context, name string, upto home.Class) (Token, secret.Value, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name = strings.TrimSpace(name)
	if err := t.checkName(name); err != nil {
		return Token{}, secret.Value{}, err
	}
	if upto != home.Read && upto != home.Act {
		return Token{}, secret.Value{}, home.Errorf(home.Invalid, "a token cannot have the right %q", upto).
			WithHint("tokens may read, or read and act")
	}
	bearer := newSecret()
	k, err := t.add(ctx, name, upto, bearer, false)
	if err != nil {
		return Token{}, secret.Value{}, err
	}
	return k.Token, secret.New(bearer), nil
}

func (t *Tokens) checkName(name string) error {
	if name == "" || len(name) > 64 || tool.Plain(name) != name {
		return home.Errorf(home.Invalid, "%s cannot be the name of a token", tool.Quote(name, 64)).
			WithHint("give a name of 1 to 64 characters on one line, for example claude-desktop")
	}
	for _, k := range t.now.Load().all {
		if k.Revoked.IsZero() && strings.EqualFold(k.Name, name) {
			return home.Errorf(home.Conflict, "there is a token called %s already (%s)", tool.Quote(name, 64), k.ID).
				WithHint("choose another name, or revoke that one first")
		}
	}
	return nil
}

// add commits a new token and lets it in. mu is held, or nobody else has t yet.
func (t *Tokens) add(ctx context.Context, name string, upto home.Class, bearer string, first bool) (*token, error) {
	k := &token{
		Token: Token{
			ID: home.NewID("tok_"), Name: name, Class: upto, First: first,
			Created: time.Now().UTC().Truncate(time.Millisecond), Hint: hint(bearer),
		},
		hash: sha256.Sum256([]byte(bearer)),
	}
	if err := t.db.Commit(ctx, tokenNew{k}); err != nil {
		return nil, home.Wrap(home.Internal, err, "write the token")
	}
	set := t.now.Load().copied()
	set.byHash[k.hash] = k
	set.all = append(set.all, k)
	t.now.Store(set)
	return k, nil
}

func (s *tokenSet) copied() *tokenSet {
	return &tokenSet{byHash: maps.Clone(s.byHash), all: slices.Clone(s.all)}
}

// List lists all tokens, the oldest first, revoked ones too.
func (t *Tokens) List(context.Context) ([]Token, error) {
	var out []Token
	for _, k := range t.now.Load().all {
		one := k.Token
		if ms := k.used.Load(); ms > 0 {
			one.Used = time.UnixMilli(ms).UTC()
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Token) int { return cmp.Compare(a.Created.UnixMilli(), b.Created.UnixMilli()) })
	return out, nil
}

// Revoke revokes by id or name. The token is refused from the moment it is
// written down, before Revoke returns; a name means the valid token of that
// name.
func (t *Tokens) Revoke(ctx context.Context, idOrName string) (Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.now.Load()
	at := slices.IndexFunc(old.all, func(k *token) bool {
		return k.Revoked.IsZero() && (k.ID == idOrName || strings.EqualFold(k.Name, idOrName))
	})
	if at < 0 {
		return Token{}, t.noToken(idOrName)
	}
	was := old.all[at]
	k := &token{Token: was.Token, hash: was.hash}
	k.used.Store(was.used.Load())
	k.kept.Store(was.kept.Load())
	k.Revoked = time.Now().UTC().Truncate(time.Millisecond)
	if err := t.db.Commit(ctx, tokenRevoked{k.ID, k.Revoked.UnixMilli()}); err != nil {
		return Token{}, home.Wrap(home.Internal, err, "revoke the token")
	}
	set := old.copied()
	set.byHash[k.hash] = k
	set.all[at] = k
	t.now.Store(set)
	return k.Token, nil
}

func (t *Tokens) noToken(idOrName string) error {
	var names []string
	for _, k := range t.now.Load().all {
		if k.Revoked.IsZero() {
			names = append(names, k.Name)
		}
	}
	e := home.Errorf(home.NotFound, "no valid token %s", tool.Quote(idOrName, 64))
	if near := tool.Nearest(idOrName, names, 3); len(near) > 0 {
		e.Msg += ". Did you mean " + strings.Join(near, ", ") + "?"
	}
	return e.WithHint("hearth token list shows them")
}

// hint is enough of a token to tell it from others, and no more.
func hint(bearer string) string {
	s := strings.TrimPrefix(bearer, prefix)
	return s[:min(4, len(s))]
}

// prefix marks our tokens, so that they are recognised and starred in texts.
const prefix = "hearth_"

// newSecret is a new bearer: hearth_ and 43 characters of base64url, 256 bits.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// The rows a token leaves in the store.
type (
	tokenNew     struct{ k *token }
	tokenRevoked struct {
		id string
		ms int64
	}
	tokenUsed struct {
		id string
		ms int64
	}
)

// Write inserts the token.
func (r tokenNew) Write(tx *store.Tx) error {
	k := r.k
	_, err := tx.Exec(`INSERT INTO token (id, name, hash, hint, class, created_ms, first) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		k.ID, k.Name, k.hash[:], k.Hint, int(k.Class), k.Created.UnixMilli(), k.First)
	return err
}

// Write marks the token as revoked.
func (r tokenRevoked) Write(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE token SET revoked_ms = ? WHERE id = ?`, r.ms, r.id)
	return err
}

// Write notes the last use.
func (r tokenUsed) Write(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE token SET used_ms = ? WHERE id = ? AND used_ms < ?`, r.ms, r.id, r.ms)
	return err
}

// load reads all tokens from the store.
func (t *Tokens) load(ctx context.Context) error {
	rows, err := t.db.Reader().QueryContext(ctx,
		`SELECT id, name, hash, hint, class, created_ms, used_ms, revoked_ms, first FROM token ORDER BY created_ms, id`)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	defer rows.Close()
	set := &tokenSet{byHash: map[[sha256.Size]byte]*token{}}
	for rows.Next() {
		k := &token{}
		var hash []byte
		var created, used, revoked int64
		if err := rows.Scan(&k.ID, &k.Name, &hash, &k.Hint, &k.Class, &created, &used, &revoked, &k.First); err != nil {
			return fmt.Errorf("read the tokens: %w", err)
		}
		if copy(k.hash[:], hash) != sha256.Size {
			return fmt.Errorf("the token %s has a broken hash", k.ID)
		}
		k.Created = time.UnixMilli(created).UTC()
		if revoked > 0 {
			k.Revoked = time.UnixMilli(revoked).UTC()
		}
		k.used.Store(used)
		k.kept.Store(used)
		set.byHash[k.hash] = k
		set.all = append(set.all, k)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	t.now.Store(set)
	return nil
}
