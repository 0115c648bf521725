// Command hearth runs the house and talks to it: serve and demo own a data
// directory, stdio is for MCP clients, setup and doctor look after the link to
// Home Assistant, and call, tools, token and resync join whoever owns the house.
//
// Standard output carries answers only; logs and complaints go to standard
// error. The exit status is 0 when all went well, else that of the error's
// code: 2 invalid, 3 not_found, 4 ambiguous, 5 denied, 6 offline, 7 conflict,
// 8 timeout, 1 anything else, 130 when a signal came first. An answer with the
// outcome refused counts as denied, unknown as timeout, failed as anything else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the home's time zone must be known in an empty container too

	"github.com/alecthomas/kong"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"

type commands struct {
	Data   string `help:"Data directory." placeholder:"DIR"`
	Config string `help:"Configuration file instead of <data>/hearth.yaml." placeholder:"FILE" env:"HEARTH_CONFIG"`
	Demo   bool   `help:"Use the data directory of hearth demo."`

	Serve    serveCommand   `cmd:"" help:"Run the house."`
	Simulate demoCommand    `cmd:"" name:"demo" help:"Run a simulated house, to look around in."`
	Stdio    stdioCommand   `cmd:"" help:"Serve one MCP client on standard input and output."`
	Setup    setupCommand   `cmd:"" help:"Connect to Home Assistant and write the configuration."`
	Doctor   doctorCommand  `cmd:"" help:"Find out what is wrong."`
	Call     callCommand    `cmd:"" help:"Call a tool: hearth call TOOL --flags. hearth tools TOOL shows its flags."`
	Tools    toolsCommand   `cmd:"" help:"List the tools, or show one."`
	Token    tokenCommand   `cmd:"" help:"Tokens of MCP clients."`
	Resync   resyncCommand  `cmd:"" help:"Read the whole house again."`
	Version  versionCommand `cmd:"" help:"Print the version."`
	Docs     docsCommand    `cmd:"" help:"Write the generated documents." hidden:""`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:]))
}

// run is the whole program; it returns the exit status.
func run(ctx context.Context, args []string) int {
	c := newCommands()
	parser, err := kong.New(&c, kong.Name("hearth"), kong.Description("Hearth sits beside a home: it answers, acts and remembers why."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		return complain(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		return complain(usage(err))
	}
	return complain(k.Run(&app{ctx: ctx, data: c.Data, config: c.Config, demo: c.Demo, version: version, program: program()}))
}

// complain prints what went wrong and gives the exit status.
func complain(err error) int {
	var e *exit
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled): // a signal, before what was asked was done
		return 130
	case errors.As(err, &e): // told already
		return e.status
	}
	fmt.Fprintln(os.Stderr, "hearth: "+daemon.Redact(err.Error()))
	return home.CodeOf(err).Exit()
}
