//go:build !linux

package main

import (
	"errors"
	"os"
)

// isTerminal reports whether f is a terminal, or at least a device.
func isTerminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

// hideInput cannot hide anything here, so the token must come as a file.
func hideInput(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
