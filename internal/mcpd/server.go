package mcpd

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

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
	Version      string   // ours, as the server names itself
}

// Parts is what a Server is made of.
type Parts struct {
	Config   Config
	Registry *tool.Registry
	Tokens   *guard.Tokens
	House    *mirror.House // for completions; nil means none
	Log      *slog.Logger
	Health   *health.Registry
	// Options and Extend let a test add features of the protocol that Hearth
	// itself does not use, behind the same chain, router and middleware.
	Options func(*mcp.ServerOptions)
	Extend  func(*mcp.Server)
}

// Server is the MCP face of the registry. Its methods may be called from any
// goroutine.
type Server struct {
	tools  *tool.Registry
	house  *mirror.House
	log    *slog.Logger
	health *health.Registry
	verify func(bearer string) (tool.Caller, bool)
	owner  func(bearer string) bool

	cacheMembers bool
	profile      profile
	heartbeat    time.Duration

	places   places
	brake    brake
	sessions sessions
	open     streams

	sdk        *mcp.Server
	order      map[string]int // place of each tool in the list
	serverInfo []byte         // the _meta member of modern answers, with its comma
	stateless  http.Handler   // the modern era, and whatever needs no session
	stateful   http.Handler   // legacy sessions
	bind       http.Handler   // route, with the caller where the SDK looks for it
}

// New makes a server over the registry. Nothing runs until Handler or
// ServeStdio is used; Run must be running while Handler is.
func New(p Parts) *Server {
	s := &Server{
		tools: p.Registry, house: p.House, log: p.Log, health: p.Health,
		verify: p.Tokens.Verify, owner: p.Tokens.Owner,
		cacheMembers: p.Config.CacheMembers, profile: standard(), heartbeat: 20 * time.Second,
		places: newPlaces(p.Config.Hosts, p.Config.Origins),
	}
	s.sessions.on = p.Config.Sessions
	o := s.options()
	if p.Options != nil {
		p.Options(o)
	}
	impl := &mcp.Implementation{Name: "hearth", Title: "Hearth", Version: p.Config.Version}
	s.serverInfo = serverInfo(impl)
	s.sdk = mcp.NewServer(impl, o)
	s.addTools()
	s.addResources()
	s.addPrompts()
	if p.Extend != nil {
		p.Extend(s.sdk)
	}
	s.sdk.AddReceivingMiddleware(s.receive)
	s.handlers()
	return s
}

// options are the SDK server's: capabilities are said outright, so that what
// is not meant (logging, list changes, subscriptions) is not advertised.
func (s *Server) options() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(slog.DiscardHandler), // it logs each request's life
		PageSize:     1000,
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{},
			Resources:   &mcp.ResourceCapabilities{},
			Prompts:     &mcp.PromptCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: s.complete,
		SetCacheable:      cacheable,
	}
}

// handlers makes the two handlers of the SDK. Our own chain has checked the
// Host and capped the body before they see a request.
func (s *Server) handlers() {
	same := func(*http.Request) *mcp.Server { return s.sdk }
	s.stateless = mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{
		Stateless: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true,
	})
	s.stateful = mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
	s.bind = auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(http.HandlerFunc(s.route))
}

// Run closes idle sessions until ctx ends, then all sessions and streams.
func (s *Server) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.closeSessions(s.sessions.idle(time.Now().Add(-idleSession)))
		case <-ctx.Done():
			s.open.stop()
			s.closeSessions(s.sessions.idle(time.Time{}))
			return ctx.Err()
		}
	}
}

// streams are the requests being served, so that Run can end those that
// would wait for ever.
type streams struct {
	mu      sync.Mutex
	m       map[*stream]bool
	stopped bool
}

func (t *streams) add(s *stream) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	if t.m == nil {
		t.m = map[*stream]bool{}
	}
	t.m[s] = true
	return true
}

func (t *streams) remove(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.m, s)
}

func (t *streams) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for s := range t.m {
		s.stop()
	}
}
