package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"hearth/internal/hass"

	"hearth/internal/home"
)

// Options say which house to run.
type Options struct {
	Dir     string // the data directory; this process becomes its owner
	Config  Config
	Version string
	Log     *slog.Logger
	Quiet   bool         // no HTTP: only the socket (stdio and call)
	Listen  net.Listener // instead of Config.Listen
	Started func(Status) // called once everyone can reach the house
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (o Options) link() hass.Config {
	h := o.Config.HA
	return hass.Config{URL: h.URL, Token: h.Token, CAFile: h.CAFile, Insecure: h.Insecure, Dial: o.Dial}
}

// drain is how long answers under way may still take once we stop.
const drain = 5 * time.Second

// Run builds the house, runs it until ctx ends or a room fails, and stops it in
// order: first the faces, so that nobody is served by half a house, then the
// link, then what listens to it, and last the database, which writes down
// everything that came before.
func Run(ctx context.Context, o Options) (err error) {
	lock, err := Acquire(o.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	tune(o.Config.Memory, os.LookupEnv)

	ears, err := listen(o)
	if err != nil {
		return err
	}
	defer ears.close()
	r, err := wire(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.db.Close()) }()

	failed := make(chan error, 16)
	keep := newGroup(ctx, failed)
	keep.start("store", r.db.Run)

	know := newGroup(ctx, failed)
	know.start("mirror", r.writer.Run)
	know.start("journal", r.journal.Run)
	know.start("recall", r.index.Run)

	link := newGroup(ctx, failed)
	link.start("hass", func(ctx context.Context) error { return r.client.Run(ctx, r.sink) })

	face := newGroup(ctx, failed)
	face.start("mcpd", r.mcp.Run)
	face.start("socket", r.serveSocket(ears.socket, ears.address()))
	if ears.http != nil {
		face.start("http", r.serveHTTP(ears.http))
	}
	o.Log.Info("hearth is up", home.KeyVersion, o.Version, home.KeyData, o.Dir, home.KeyListen, ears.address(), home.KeyURL, o.Config.HA.URL)
	if o.Started != nil {
		o.Started(r.status(ears.address()))
	}

	select {
	case <-ctx.Done():
		o.Log.Info("hearth stops", home.KeyReason, context.Cause(ctx))
	case err = <-failed:
		o.Log.Error("hearth stops", home.KeyError, err)
	}
	for _, g := range []*group{face, link, know, keep} {
		err = errors.Join(err, g.stop())
	}
	return err
}

// group is a set of runners that start together and stop together.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	eg     errgroup.Group
	failed chan<- error
	names  []string
}

// newGroup makes a group that outlives parent until it is stopped.
func newGroup(parent context.Context, failed chan<- error) *group {
	g := &group{failed: failed}
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(parent))
	return g
}

// start runs f until the group stops. A runner that ends earlier takes the
// whole house down: half a house would answer wrongly.
func (g *group) start(name string, f func(context.Context) error) {
	g.names = append(g.names, name)
	g.eg.Go(func() error {
		err := f(g.ctx)
		if g.ctx.Err() != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if err == nil {
			err = errors.New("ended by itself")
		}
		err = fmt.Errorf("%s: %w", name, err)
		g.failed <- err
		return nil // told already
	})
}

// stop ends the group and waits for it, but not for ever.
func (g *group) stop() error {
	g.cancel()
	done := make(chan error, 1)
	go func() { done <- g.eg.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * drain):
		return fmt.Errorf("%v did not stop in time", g.names)
	}
}

// tune sets the collector, unless the environment has set it already.
func tune(m Memory, lookup func(string) (string, bool)) {
	if _, set := lookup("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(int64(m.Limit))
	}
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(m.GCPercent)
	}
}
