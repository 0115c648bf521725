// Package simhome is a simulated house that speaks Home Assistant's real protocol.
package simhome

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Options say what house to simulate.
type Options struct {
	Seed     uint64
	Entities int       // extra filler entities so that the house has this many; 0: the default house
	Start    time.Time // the house's clock starts here; zero: now
	Life     bool      // let the hour of believable life run
	Log      *slog.Logger
}

// House is the simulated house.
type House struct{}

// New builds the house. Nothing runs yet.
func New(o Options) *House { panic("skeleton") }

// Handler serves /api, /api/websocket and /auth.
func (h *House) Handler() http.Handler { panic("skeleton") }

// Run lives (life, delays, effects) until ctx ends.
func (h *House) Run(ctx context.Context) error { panic("skeleton") }

// Serve serves any listener until ctx ends (Run included).
func (h *House) Serve(ctx context.Context, l net.Listener) error { panic("skeleton") }

// OwnerToken is an administrator's token, HearthToken that of Hearth's own administrator user, UserToken an ordinary user's.
func (h *House) OwnerToken() string  { panic("skeleton") }
func (h *House) HearthToken() string { panic("skeleton") }
func (h *House) UserToken() string   { panic("skeleton") }

// Set changes an entity as a device would (no user, fresh context).
func (h *House) Set(id, state string, attrs map[string]any) { panic("skeleton") }

// Fault names what goes wrong.
type Fault string

// The faults.
const (
	Drop        Fault = "drop"      // close every socket now
	Stall       Fault = "stall"     // stop reading and writing
	HalfOpen    Fault = "half_open" // accept, never answer
	Malformed   Fault = "malformed" // one frame of broken JSON
	Oversized   Fault = "oversized" // one frame over 64 MiB
	Reordered   Fault = "reordered" // results out of order
	Slow        Fault = "slow"      // 500 ms before each answer
	AuthInvalid Fault = "auth_invalid"
	Restart     Fault = "restart" // all unavailable, down, up again
)

// Inject makes a fault happen now (or for the next connections until Heal).
func (h *House) Inject(f Fault) { panic("skeleton") }

// Heal ends lasting faults.
func (h *House) Heal() { panic("skeleton") }

// Flood sends pre-rendered state changes at rate per second for d; it returns how many were sent.
func (h *House) Flood(ctx context.Context, rate int, d time.Duration) (sent int, err error) {
	panic("skeleton")
}
