// Command where prints the folder that holds the Home Assistant of the
// real-home lane, so that the Makefile and the tests agree on it by the same
// code instead of two spellings of one rule.
package main

import (
	"fmt"
	"os"

	"hearth/test/realhome"
)

func main() {
	dir, err := realhome.Dir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(dir)
}
