package main

import (
	"context"
	"os"

	"hearth/internal/daemon"
)

type stdioCommand struct{ settings }

// Run serves one MCP client on standard input and output: it joins the process
// that owns the house, or becomes it. Nothing but MCP is written to standard output.
func (s *stdioCommand) Run(a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	enter := func(context.Context) (*daemon.Client, func() error, error) { return a.enter(s.settings) }
	err = (&daemon.Stdio{In: os.Stdin, Out: os.Stdout, Dir: dir, Enter: enter}).Run(a.ctx)
	if a.ctx.Err() != nil {
		return nil // a signal is how clients end us
	}
	return err
}
