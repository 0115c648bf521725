package conformance

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"hearth/internal/guard"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mcpd"
	"hearth/internal/store"
	"hearth/internal/tool"
)

// serve serves tools with the real handler over real tokens, and gives the
// address behind the proxy that adds one.
func serve(t *testing.T, p mcpd.Parts) string {
	t.Helper()
	log, conditions := slog.New(slog.DiscardHandler), &health.Registry{}
	dir := t.TempDir()
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(dir, "hearth.db")}, log, conditions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	tokens, err := guard.NewTokens(t.Context(), db, dir, log)
	if err != nil {
		t.Fatal(err)
	}
	_, value, err := tokens.New(t.Context(), "conformance", home.Act)
	if err != nil {
		t.Fatal(err)
	}
	p.Config.Sessions = true
	p.Config.Version = "test"
	p.Tokens, p.Log, p.Health = tokens, log, conditions
	s := mcpd.New(p)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		cancel()
		<-ran
		srv.Close()
	})
	return proxied(t, srv.URL, value.Reveal())
}

// fixtureHouse is the real handler with what the suite looks for.
func fixtureHouse(t *testing.T) string {
	return serve(t, mcpd.Parts{Registry: tool.NewRegistry(registered()...), Options: widen, Extend: extend})
}

// TestFixtures2025 runs every required scenario of the last revision with
// sessions. None may fail. One that is not required does: its fixture wants a
// schema with $defs and anyOf, which our registry refuses on purpose, since one
// such schema makes some clients reject a whole server.
func TestFixtures2025(t *testing.T) {
	s := tools(t)
	s.conform(t, fixtureHouse(t), "2025-11-25", "")
}

// TestFixtures2026 runs every required scenario of the revision without
// sessions. None may fail. Those of the tasks extension, which are not
// required, do: Hearth has no tasks.
func TestFixtures2026(t *testing.T) {
	s := tools(t)
	s.conform(t, fixtureHouse(t), "2026-07-28", "")
}
