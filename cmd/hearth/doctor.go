package main

import (
	"encoding/json"
	"fmt"
	"os"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

type doctorCommand struct {
	settings
	JSON bool `name:"json" help:"Print JSON."`
}

// Run looks at everything and prints it. The exit status is that of the first
// thing that is really wrong; warnings do not count.
func (d *doctorCommand) Run(a *app) error {
	src, err := a.sources(d.settings)
	if err != nil {
		return err
	}
	found := daemon.Examine(a.ctx, src)
	if d.JSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(found); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	} else {
		printFindings(found)
	}
	for _, f := range found {
		if !f.OK && !f.Warn {
			return &exit{status: max(1, failedCode(f).Exit())}
		}
	}
	return nil
}

func failedCode(f daemon.Finding) home.Code {
	if f.Code == "" {
		return home.Internal
	}
	return f.Code
}

func printFindings(fs []daemon.Finding) {
	for _, f := range fs {
		mark := "FAIL"
		switch {
		case f.OK:
			mark = "ok  "
		case f.Warn:
			mark = "warn"
		}
		fmt.Printf("%s  %-10s %s\n", mark, f.Name, daemon.Redact(f.Detail))
		if !f.OK && f.Remedy != "" {
			fmt.Printf("      %-10s → %s\n", "", f.Remedy)
		}
	}
}
