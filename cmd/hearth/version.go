package main

import (
	"fmt"
	"runtime"
)

type versionCommand struct{}

// Run prints version, compiler and platform.
func (*versionCommand) Run(a *app) error {
	fmt.Printf("hearth %s (%s, %s/%s)\n", a.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
