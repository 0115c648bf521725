package guard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// openStore opens the database of a data directory.
func openStore(t *testing.T, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "hearth.db")}, slog.New(slog.DiscardHandler), &health.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openTokens(t *testing.T, db *store.DB, dir string) *Tokens {
	t.Helper()
	tk, err := NewTokens(t.Context(), db, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func fileOf(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %v", name, info.Mode().Perm())
	}
	return strings.TrimSpace(string(b))
}

func TestTokens_FirstStart(t *testing.T) {
	dir := t.TempDir()
	db := openStore(t, dir)
	tk := openTokens(t, db, dir)
	owner, first := fileOf(t, dir, "token"), fileOf(t, dir, "mcp-token")
	if owner == first || !strings.HasPrefix(owner, "hearth_") || len(owner) < 39 || len(first) < 39 {
		t.Fatalf("two different secrets of at least 32 characters are wanted: %d and %d", len(owner), len(first))
	}
	c, ok := tk.Verify(first)
	if !ok || c.Grant.Upto != home.Act || c.Grant.Scope != home.Visible() || !strings.HasPrefix(c.Token, "tok_") || c.Via != "mcp" {
		t.Errorf("the first token gives %+v, %v", c, ok)
	}
	if f, ok := tk.First(); !ok || f != c {
		t.Errorf("First gives %+v, %v", f, ok)
	}
	if _, ok := tk.Verify(owner); ok {
		t.Error("the owner's token opens MCP")
	}
	if !tk.Owner(owner) || tk.Owner(first) || tk.Owner("") || tk.Owner(owner+" ") {
		t.Error("only the owner's token is the owner's")
	}
	for _, bad := range []string{"", " ", first + "x", first[1:], strings.ToUpper(first), strings.Repeat("x", 10_000), c.Token, "Bearer " + first} {
		if _, ok := tk.Verify(bad); ok {
			t.Errorf("%.20q is let in", bad)
		}
	}
	owned := openTokens(t, db, dir)
	owned.owner = sha256.Sum256([]byte(first))
	if _, ok := owned.Verify(first); ok {
		t.Error("what is the owner's token opens MCP when it stands in the database")
	}
	again := openTokens(t, db, dir)
	if d, ok := again.Verify(first); !ok || d != c || !again.Owner(owner) {
		t.Errorf("after a restart the first token gives %+v, %v", d, ok)
	}
	l, err := again.List(t.Context())
	if err != nil || len(l) != 1 || !l[0].First || l[0].Hint != first[len("hearth_"):][:4] {
		t.Errorf("a restart made more tokens: %+v, %v", l, err)
	}
}

func TestTokens_NewAndRevoke(t *testing.T) {
	dir := t.TempDir()
	db := openStore(t, dir)
	tk := openTokens(t, db, dir)
	made, s, err := tk.New(t.Context(), " claude ", home.Read)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := tk.Verify(s.Reveal())
	if !ok || c.Who != "claude" || c.Token != made.ID || c.Grant.Upto != home.Read {
		t.Fatalf("%+v, %v", c, ok)
	}
	for name, upto := range map[string]home.Class{"Claude": home.Read, "": home.Read, "a\nb": home.Read, strings.Repeat("n", 65): home.Read, "none": 0, "big": home.Config, "bigger": home.Danger} {
		if _, _, err := tk.New(t.Context(), name, upto); err == nil {
			t.Errorf("a token %q up to %v is made", name, upto)
		}
	}
	if _, err := tk.Revoke(t.Context(), "claud"); home.CodeOf(err) != home.NotFound || !strings.Contains(err.Error(), "claude") {
		t.Errorf("an unknown name is answered %v", err)
	}
	gone, err := tk.Revoke(t.Context(), "CLAUDE")
	if err != nil || gone.ID != made.ID || gone.Revoked.IsZero() {
		t.Fatalf("%+v, %v", gone, err)
	}
	for _, one := range []*Tokens{tk, openTokens(t, db, dir)} {
		if _, ok := one.Verify(s.Reveal()); ok {
			t.Error("a revoked token is let in")
		}
	}
	if _, err := tk.Revoke(t.Context(), made.ID); home.CodeOf(err) != home.NotFound {
		t.Errorf("revoking twice is answered %v", err)
	}
	if _, _, err := tk.New(t.Context(), "claude", home.Act); err != nil {
		t.Errorf("a revoked token's name is free again: %v", err)
	}
}

func TestTokens_FirstIsNotMadeAgain(t *testing.T) {
	dir := t.TempDir()
	db := openStore(t, dir)
	tk := openTokens(t, db, dir)
	first := fileOf(t, dir, "mcp-token")
	if _, err := tk.Revoke(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if _, ok := tk.First(); ok {
		t.Error("a revoked first token still serves stdio")
	}
	if err := os.Remove(filepath.Join(dir, "mcp-token")); err != nil {
		t.Fatal(err)
	}
	again := openTokens(t, db, dir)
	if _, err := os.Stat(filepath.Join(dir, "mcp-token")); err == nil {
		t.Error("the file was made again")
	}
	if _, ok := again.Verify(first); ok {
		t.Error("the revoked token is let in after a restart")
	}
}

func TestTokens_FilesAreAdoptedAndClosed(t *testing.T) {
	dir := t.TempDir()
	mine := "hearth_" + strings.Repeat("m", 43)
	if err := os.WriteFile(filepath.Join(dir, "mcp-token"), []byte(mine+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tk := openTokens(t, openStore(t, dir), dir)
	if _, ok := tk.Verify(mine); !ok {
		t.Error("a token laid ready is not taken")
	}
	fileOf(t, dir, "mcp-token") // its mode
	if owner := fileOf(t, dir, "token"); !tk.Owner(owner) {
		t.Error("an empty owner's file is not filled")
	}
}

func TestTokens_BrokenFiles(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"short":    {"token": "abc"},
		"blank in": {"token": strings.Repeat("a ", 30)},
		"the same": {"token": strings.Repeat("a", 40), "mcp-token": strings.Repeat("a", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for f, text := range files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := NewTokens(t.Context(), openStore(t, dir), dir, slog.New(slog.DiscardHandler))
			if home.CodeOf(err) != home.Invalid || strings.Contains(err.Error(), "aaaa") {
				t.Errorf("answered %v", err)
			}
		})
	}
}

func TestTokens_SecretsStayOutOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	db := openStore(t, dir)
	tk := openTokens(t, db, dir)
	_, s, err := tk.New(t.Context(), "x", home.Act)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	secrets := []string{s.Reveal(), fileOf(t, dir, "token"), fileOf(t, dir, "mcp-token")}
	files, _ := filepath.Glob(filepath.Join(dir, "hearth.db*"))
	if len(files) == 0 {
		t.Fatal("no database")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s holds a token", f)
			}
		}
	}
}

func TestTokens_UseIsNotedLazily(t *testing.T) {
	dir := t.TempDir()
	db := openStore(t, dir)
	tk := openTokens(t, db, dir)
	first := fileOf(t, dir, "mcp-token")
	for range 100 {
		tk.Verify(first)
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := openTokens(t, db, dir).List(t.Context())
	if err != nil || len(l) != 1 || time.Since(l[0].Used) > time.Minute {
		t.Errorf("the use was not kept: %+v, %v", l, err)
	}
}

func TestTokens_Concurrent(t *testing.T) {
	dir := t.TempDir()
	tk := openTokens(t, openStore(t, dir), dir)
	first := fileOf(t, dir, "mcp-token")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				if _, ok := tk.Verify(first); !ok {
					t.Error("refused")
					return
				}
			}
		})
	}
	for i := range 8 {
		made, s, err := tk.New(context.Background(), string(rune('a'+i)), home.Read)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tk.Revoke(context.Background(), made.ID); err != nil {
			t.Fatal(err)
		}
		if _, ok := tk.Verify(s.Reveal()); ok {
			t.Fatal("a revoked token is let in")
		}
	}
	wg.Wait()
}

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	db, err := store.Open(b.Context(), store.Config{Path: filepath.Join(dir, "hearth.db")}, slog.New(slog.DiscardHandler), &health.Registry{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tk, err := NewTokens(b.Context(), db, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "mcp-token"))
	if err != nil {
		b.Fatal(err)
	}
	bearer := strings.TrimSpace(string(raw))
	for b.Loop() {
		if _, ok := tk.Verify(bearer); !ok {
			b.Fatal("refused")
		}
	}
}
