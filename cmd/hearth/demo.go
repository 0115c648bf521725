package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"hearth/internal/daemon"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/simhome"
)

type demoCommand struct {
	Port     int    `default:"4663" help:"Port of the MCP address; 0 takes a free one."`
	Listen   string `help:"Address and port of MCP, in place of --port." placeholder:"127.0.0.1:4663"`
	Entities int    `default:"0" help:"Entities of the simulated house; 0 is the house as it is."`
	Seed     uint64 `default:"1" help:"The same seed gives the same house and the same life."`
	Verbose  bool   `short:"v" help:"Log what happens."`
}

// Run runs a simulated house and Hearth beside it, in a data directory of
// their own, until a signal comes.
func (d *demoCommand) Run(a *app) error {
	a.demo = true
	dir, err := a.dir()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open the simulated house: %w", err)
	}
	c := daemon.Defaults()
	c.Log.Level, c.Log.Format = "warn", "text"
	if d.Verbose {
		c.Log.Level = "info"
	}
	log := daemon.NewLog(c.Log, os.Stderr)
	house := simhome.New(simhome.Options{Seed: d.Seed, Entities: d.Entities, Life: true, Log: log})
	c.HA.URL, c.HA.Token = "http://"+l.Addr().String(), secret.New(house.HearthToken())
	if c.Listen = d.Listen; d.Listen == "" {
		c.Listen = "127.0.0.1:" + strconv.Itoa(d.Port)
	}
	for _, f := range c.Check() {
		l.Close()
		return home.Errorf(home.Invalid, "--listen %q %s", home.Clip(c.Listen, 60), f.Msg).WithHint("%s", f.Remedy)
	}

	// The simulated house lives a little longer than Hearth, as a real one does.
	living, die := context.WithCancel(context.WithoutCancel(a.ctx))
	ctx, cancel := context.WithCancel(a.ctx)
	var g errgroup.Group
	g.Go(func() error {
		defer cancel()
		if err := house.Serve(living, l); living.Err() == nil {
			return fmt.Errorf("the simulated house stopped: %w", errors.Join(err, io.ErrUnexpectedEOF))
		}
		return nil
	})
	g.Go(func() error {
		defer die()
		return daemon.Run(ctx, daemon.Options{Dir: dir, Config: c, Version: a.version, Log: log, Started: func(s daemon.Status) { d.welcome(a, dir, s) }})
	})
	return g.Wait()
}

// welcome says where everything is and what to try.
func (d *demoCommand) welcome(a *app, dir string, s daemon.Status) {
	hint := secret.Stars
	if t, err := secret.Load(filepath.Join(dir, "mcp-token")); err == nil {
		hint = t.Hint()
	}
	p := a.program + a.where()
	fmt.Printf(`Hearth runs a simulated house. Ctrl-C ends it.

  MCP     http://%[1]s/mcp
  token   %[2]s    (show it: %[3]s token show)
  data    %[4]s

Three things to try, in another terminal:

  1. Ask:      %[3]s call entity_search --query kitchen
  2. Act, and ask why:
               %[3]s call service_call --service light.turn_off --entity_id light.kitchen_lights
               %[3]s call journal_why --entity_id light.kitchen_lights
  3. Connect:  claude mcp add --transport http hearth http://%[1]s/mcp --header "Authorization: Bearer $(%[3]s token show)"

`, s.Listen, hint, p, dir)
}
