package main

import (
	"fmt"

	"hearth/internal/daemon"
)

type resyncCommand struct{}

// Run makes the running house read everything from Home Assistant again.
func (*resyncCommand) Run(a *app) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	c, err := daemon.Join(a.ctx, dir)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Resync(a.ctx); err != nil {
		return err
	}
	fmt.Println("the house is read again; hearth call hearth_status shows when it is done")
	return nil
}
