package hass

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"hearth/internal/health"
	"hearth/internal/home"
)

// The rhythm of reconnecting.
const (
	retryFirst    = time.Second
	retryMost     = 30 * time.Second
	retryJitter   = 0.2
	stableSession = time.Minute     // a session that lasted so long starts the doubling anew
	refusals      = 3               // tokens refused in a row before the pace slows down
	refusedWait   = 5 * time.Minute // the slow pace
	skewLimit     = 10 * time.Second
)

// Run connects, mirrors and reconnects until ctx ends, and then returns nil.
// Reports go to sink in frame order, never concurrently; sink must not block on
// a disk or a network. Run is called once.
func (c *Client) Run(ctx context.Context, sink func(home.Report)) error {
	defer c.http.CloseIdleConnections()
	pace := &backoff.ExponentialBackOff{InitialInterval: retryFirst, Multiplier: 2, MaxInterval: retryMost, RandomizationFactor: retryJitter}
	pace.Reset()
	refused, told := 0, false
	for {
		c.change(func() { c.running, c.next = true, time.Time{} })
		lasted, up, err := c.attempt(ctx, sink)
		stopping := ctx.Err() != nil
		if stopping {
			err = errors.New(home.OurStop)
		}
		if up || !told {
			sink(home.Report{Kind: home.ReportLink, At: time.Now(), Reason: err.Error(), Silent: errors.As(err, new(errSilent))})
			told = true
		}
		if stopping {
			c.change(func() { c.reason, c.running = err.Error(), false })
			return nil
		}
		if lasted >= stableSession {
			pace.Reset()
		}
		wait := min(pace.NextBackOff(), retryMost)
		if refused = c.refusal(err, lasted, refused); refused >= refusals {
			wait = refusedWait
		}
		c.health.Light(health.HassOffline, home.Clip(err.Error(), maxWords))
		c.log.Warn("no link to Home Assistant", home.KeyReason, err, home.KeyRetry, wait.Round(time.Millisecond).String())
		c.change(func() { c.reason, c.next = err.Error(), time.Now().Add(wait) })
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// refusal counts how often in a row the token was refused.
func (c *Client) refusal(err error, lasted time.Duration, refused int) int {
	var auth errAuth
	if !errors.As(err, &auth) {
		if lasted > 0 {
			return 0
		}
		return refused
	}
	refused++
	if refused >= refusals {
		c.health.Light(health.HassAuth, fmt.Sprintf("%s, %d times in a row; it is tried every %s", auth.Error(), refused, refusedWait))
	}
	return refused
}

// attempt is one connection from dialling to its end. lasted is how long it was
// authenticated; up reports whether it got as far as a snapshot.
func (c *Client) attempt(ctx context.Context, sink func(home.Report)) (lasted time.Duration, up bool, err error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return 0, false, err
	}
	begin := time.Now()
	s := newSession(ctx, c, conn, sink)
	c.health.Clear(health.HassAuth)
	c.count.sessions.Add(1)
	c.change(func() { c.session = s })
	s.serve()
	err = s.over()
	c.change(func() { c.session, c.reason = nil, err.Error() })
	s.flow.abandon()
	return time.Since(begin), s.flow.begun(), err
}

// serve runs the goroutines of the session and returns when all have ended. The
// first that ends ends the others.
func (s *session) serve() {
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{
		func(context.Context) error { return s.read() },
		func(context.Context) error { return s.ping() },
		s.keeper.run,
		s.keeper.bodies.run,
	} {
		wg.Go(func() {
			err := run(s.ctx)
			if err == nil {
				err = errors.New("the session ended")
			}
			s.end(err)
		})
	}
	stop := context.AfterFunc(s.ctx, func() { s.end(context.Cause(s.ctx)) })
	defer stop()
	wg.Wait()
}

// live notes that the snapshot is through.
func (c *Client) live(i home.Info, states, entities int, took time.Duration) {
	c.health.Clear(health.HassOffline)
	c.log.Info("linked to Home Assistant", home.KeyVersion, i.Version, home.KeyStates, states, home.KeyEntities, entities, home.KeyTook, took.Round(time.Millisecond).String())
}
