package main

import (
	"errors"
	"os"
)

type stdioCommand struct{ settings }

// Run serves one MCP client on standard input and output: it joins the process
// that owns the house, or becomes it. Nothing but MCP is written to standard output.
func (s *stdioCommand) Run(a *app) error {
	c, leave, err := a.enter(s.settings)
	if err != nil {
		return err
	}
	return errors.Join(c.Stdio(a.ctx, os.Stdin, os.Stdout), leave())
}
