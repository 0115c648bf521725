package main

import (
	"errors"
	"fmt"
	"os"

	"hearth/internal/daemon"
)

type serveCommand struct{ settings }

// Run runs the house until a signal comes. With a broken configuration it
// serves a page that names what is wrong, on loopback, and fails in the end.
func (s *serveCommand) Run(a *app) error {
	src, err := a.sources(s.settings)
	if err != nil {
		return err
	}
	l, err := daemon.Load(src)
	log := daemon.NewLog(l.Log, os.Stderr)
	var broken *daemon.Broken
	if errors.As(err, &broken) {
		fmt.Fprintln(os.Stderr, "hearth: the configuration has an error\n"+broken.Error())
		err := daemon.ServeBroken(a.ctx, l.Listen, broken, log, func(address string) {
			fmt.Fprintf(os.Stderr, "the same is shown at http://%s/ until you stop this and start it again\n", address)
		})
		if err != nil {
			return err
		}
		return &exit{status: 2}
	}
	if err != nil {
		return err
	}
	for _, n := range l.Notes {
		log.Warn(n)
	}
	return daemon.Run(a.ctx, daemon.Options{Dir: src.Data, Config: l.Config, Version: a.version, Log: log})
}
