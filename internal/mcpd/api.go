// Package mcpd serves MCP: stdio and Streamable HTTP in both protocol eras.
package mcpd

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"hearth/internal/guard"
	"hearth/internal/health"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// Config is MCP's part of the configuration.
type Config struct {
	Sessions     bool     // legacy sessions; false serves all statelessly
	Hosts        []string // extra allowed Host values
	Origins      []string // extra allowed origins
	CacheMembers bool     // send cache members to legacy peers too
	Version      string
}

// Server is the MCP face of the registry.
type Server struct{}

// New makes a server over the registry.
func New(c Config, r *tool.Registry, t *guard.Tokens, house *mirror.House, log *slog.Logger, h *health.Registry) *Server {
	panic("skeleton")
}

// Handler serves POST / and /mcp with authentication and the whole edge chain.
func (s *Server) Handler() http.Handler { panic("skeleton") }

// ServeStdio serves one client on r and w as caller c until r ends or ctx ends.
func (s *Server) ServeStdio(ctx context.Context, c tool.Caller, r io.ReadCloser, w io.WriteCloser) error {
	panic("skeleton")
}

// Run closes idle sessions until ctx ends, then all.
func (s *Server) Run(ctx context.Context) error { panic("skeleton") }
