package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

// app is what every command is handed.
type app struct {
	ctx     context.Context // of the process; commands are its leaves
	data    string
	config  string
	demo    bool
	version string
	program string // how a person calls this program
}

// exit ends the program with a status after everything was said.
type exit struct{ status int }

func (e *exit) Error() string { return "exit status " + strconv.Itoa(e.status) }

// settings are the flags of the configuration, for commands that may start the house.
type settings struct{ kong.Plugins }

func newSettings() settings { return settings{kong.Plugins{daemon.FlagStruct()}} }

func (s settings) values() map[string][]string { return daemon.FlagValues(s.Plugins[0]) }

func newCommands() commands {
	var c commands
	for _, s := range []*settings{&c.Serve.settings, &c.Stdio.settings, &c.Setup.settings, &c.Doctor.settings, &c.Call.settings} {
		*s = newSettings()
	}
	return c
}

// dir is the data directory.
func (a *app) dir() (string, error) {
	dir, err := daemon.DataDir(a.data, os.LookupEnv)
	if err == nil && a.demo {
		dir = filepath.Join(dir, "demo")
	}
	return dir, err
}

// where is what leads another command to the same house: it stands right after
// the program's name.
func (a *app) where() string {
	at := ""
	if a.demo {
		at += " --demo"
	}
	switch dir := os.Getenv("HEARTH_DATA"); {
	case a.data != "":
		at += " --data " + quote(a.data)
	case dir != "": // another terminal does not have the variable
		at += " --data " + quote(dir)
	}
	if a.config != "" && !a.demo {
		at += " --config " + quote(a.config)
	}
	return at
}

// sources are where the configuration comes from.
func (a *app) sources(s settings) (daemon.Sources, error) {
	dir, err := a.dir()
	lookup, names := daemon.Environ()
	return daemon.Sources{Data: dir, File: a.config, Flags: s.values(), Lookup: lookup, Names: names}, err
}

// enter joins the house or starts it, with a quiet log unless one was asked for.
func (a *app) enter(s settings) (*daemon.Client, func() error, error) {
	src, err := a.sources(s)
	if err != nil {
		return nil, nil, err
	}
	if c, err := daemon.Join(a.ctx, src.Data); err == nil {
		return c, func() error { c.Close(); return nil }, nil
	}
	l, err := daemon.Load(src)
	if err != nil {
		return nil, nil, err
	}
	if l.Origins["log.level"].Kind == "" {
		l.Log.Level = "warn"
	}
	return daemon.Enter(a.ctx, daemon.Options{Dir: src.Data, Config: l.Config, Version: a.version, Log: daemon.NewLog(l.Log, os.Stderr)})
}

// usage makes a home.Error of what the parser complains of.
func usage(err error) error {
	var pe *kong.ParseError
	if !errors.As(err, &pe) {
		return err
	}
	return &home.Error{Code: home.Invalid, Msg: pe.Error(), Hint: "hearth --help shows the commands", Err: err}
}

// program is how a person calls this program, so that what we print can be pasted.
func program() string {
	self := os.Args[0]
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/hearth"
	}
	if p, err := exec.LookPath(filepath.Base(self)); err == nil && filepath.IsAbs(p) {
		return filepath.Base(self)
	}
	return self
}

// quote makes a word safe to paste into a shell.
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
