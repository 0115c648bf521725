package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

type toolsCommand struct {
	Name string `arg:"" optional:"" help:"Show this tool with its flags."`
	JSON bool   `name:"json" help:"Print JSON, schemas included."`
}

// Run lists the tools of this program; no house needs to run.
func (t *toolsCommand) Run(*app) error {
	all := daemon.Tools()
	if t.Name != "" {
		one, err := findTool(t.Name)
		if err != nil {
			return err
		}
		all = []daemon.Tool{one}
	}
	switch {
	case t.JSON:
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(all)
	case t.Name != "":
		return printTool(all[0])
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, x := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", x.Name, x.Class, x.Title)
	}
	return w.Flush()
}

func findTool(name string) (daemon.Tool, error) {
	if t, ok := daemon.FindTool(name); ok {
		return t, nil
	}
	var names []string
	for _, t := range daemon.Tools() {
		names = append(names, t.Name)
	}
	e := home.Errorf(home.NotFound, "no tool %q", home.Clip(name, 60)).WithHint("hearth tools lists them")
	if near := daemon.Nearest(name, names); near != "" {
		e = e.WithHint("did you mean %s? hearth tools lists all", near)
	}
	return daemon.Tool{}, e
}

func printTool(t daemon.Tool) error {
	f, err := flagsOf(t.Input)
	if err != nil {
		return err
	}
	class := t.Class
	if t.Varies {
		class += " or more, depending on the arguments"
	}
	fmt.Printf("%s: %s (%s)\n\n%s\n", t.Name, t.Title, class, t.About)
	if len(f.list) > 0 {
		fmt.Println("\nFlags:")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range f.list {
		fmt.Fprintf(w, "  --%s\t%s\t%s\n", p.name, p.kind(), p.describe(f.required(p.name)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println("\nInstead of flags, --json '{…}' takes all arguments; --json - reads them from standard input.")
	for i, e := range t.Args {
		if i == 0 {
			fmt.Println("\nExamples:")
		}
		fmt.Printf("  hearth call %s --json %s\n", t.Name, quote(strings.TrimSpace(e)))
	}
	return nil
}
