// Command bench measures the numbers of docs/performance.md and prints them as
// tables: the built binary runs beside a simulated house that lives in this
// process, so that the CPU and memory it reports are Hearth's alone.
//
//	go run ./test/bench            everything, about five minutes
//	go run ./test/bench -only mcp  one part: mcp, engine, ingest, size, big
//
// It fails (exit 1) when a budget is missed, unless -report is given.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// part is one group of measurements.
type part struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

// bench collects rows.
type bench struct {
	bin   string
	short bool
	rows  []row
	bad   int
}

// row is one number beside its budget.
type row struct {
	what, value, budget string
	ok                  bool
}

// say adds a number without a budget.
func (b *bench) say(what, format string, args ...any) {
	b.rows = append(b.rows, row{what, fmt.Sprintf(format, args...), "", true})
	fmt.Fprintf(os.Stderr, "  %-64s %s\n", what, fmt.Sprintf(format, args...))
}

// hold adds a number that must not be above its budget.
func (b *bench) hold(what string, value, budget float64, unit string) {
	b.add(what, value, budget, unit, value <= budget, "≤")
}

// reach adds a number that must not be below its budget.
func (b *bench) reach(what string, value, budget float64, unit string) {
	b.add(what, value, budget, unit, value >= budget, "≥")
}

func (b *bench) add(what string, value, budget float64, unit string, ok bool, sign string) {
	r := row{what, number(value) + " " + unit, sign + " " + number(budget) + " " + unit, ok}
	if !ok {
		b.bad++
	}
	b.rows = append(b.rows, r)
	mark := ""
	if !ok {
		mark = "   MISSED"
	}
	fmt.Fprintf(os.Stderr, "  %-64s %-16s %s%s\n", r.what, r.value, r.budget, mark)
}

func number(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func main() {
	only := flag.String("only", "", "comma list of parts: mcp, engine, ingest, size, big")
	bin := flag.String("bin", "bin/hearth", "the binary to measure")
	report := flag.Bool("report", false, "exit 0 even when a budget is missed")
	short := flag.Bool("short", false, "shorter runs, for a first look")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{bin: *bin, short: *short}
	parts := []part{{"mcp", mcpPart}, {"engine", enginePart}, {"ingest", ingestPart}, {"size", sizePart}, {"big", bigPart}}
	begun := time.Now()
	for _, p := range parts {
		if *only != "" && !strings.Contains(","+*only+",", ","+p.name+",") {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\n", p.name)
		b.rows = append(b.rows, row{what: "**" + p.name + "**", ok: true})
		if err := p.run(ctx, b); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.name, err)
			os.Exit(1)
		}
	}
	fmt.Printf("Measured %s on %d cores, %s, in %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 MST"), runtime.NumCPU(), runtime.Version(), time.Since(begun).Round(time.Second))
	fmt.Print("| what | measured | budget | |\n|---|---|---|---|\n")
	for _, r := range b.rows {
		mark := ""
		if r.budget != "" {
			mark = "met"
			if !r.ok {
				mark = "**missed**"
			}
		}
		fmt.Printf("| %s | %s | %s | %s |\n", r.what, r.value, r.budget, mark)
	}
	if b.bad > 0 && !*report {
		fmt.Fprintf(os.Stderr, "bench: %d budgets missed\n", b.bad)
		os.Exit(1)
	}
}
