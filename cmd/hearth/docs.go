package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

type docsCommand struct {
	Dir   string `default:"." help:"The project's directory."`
	Check bool   `help:"Write nothing; fail when a document is not what it should be."`
}

// Run writes the documents that are made from declarations.
func (d *docsCommand) Run(*app) error {
	docs := daemon.Documents()
	names := []string{}
	for n := range docs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		path := filepath.Join(d.Dir, n)
		old, err := os.ReadFile(path)
		if err == nil && bytes.Equal(old, []byte(docs[n])) {
			continue
		}
		if d.Check {
			return home.Errorf(home.Conflict, "%s is not what the declarations say", path).WithHint("run hearth docs (make docs) and commit the result")
		}
		if err := os.WriteFile(path, []byte(docs[n]), 0o644); err != nil {
			return fmt.Errorf("write the documents: %w", err)
		}
		fmt.Println("wrote " + path)
	}
	return nil
}
