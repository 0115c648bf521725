package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"hearth/internal/daemon"
	"hearth/internal/home"
)

type tokenCommand struct {
	Show   tokenShow   `cmd:"" help:"Print the first MCP token."`
	New    tokenNew    `cmd:"" help:"Make a token; it is shown once."`
	List   tokenList   `cmd:"" help:"List the tokens."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

// furnished is the data directory of a house that was set up or started: asking
// for its tokens must not make a house where none is wanted.
func (a *app) furnished() (string, error) {
	dir, err := a.dir()
	switch {
	case err != nil:
		return "", err
	case daemon.Furnished(dir), a.config != "", os.Getenv("HEARTH_HA_URL") != "":
		return dir, nil
	}
	return "", home.Errorf(home.NotFound, "no house was set up in %s", dir).WithHint("run hearth setup, or name its directory: hearth --data DIR token …; hearth --demo token … is for the simulated house")
}

type tokenShow struct{}

// Run prints the token alone, so that it can stand in $(…).
func (*tokenShow) Run(a *app) error {
	dir, err := a.furnished()
	if err != nil {
		return err
	}
	v, err := daemon.FirstToken(a.ctx, dir)
	if err != nil {
		return err
	}
	fmt.Println(v.Reveal())
	return nil
}

type tokenNew struct {
	Name  string `arg:"" help:"What it is for, such as laptop."`
	Grant string `default:"act" enum:"read,act" help:"read looks; act changes the house too."`
}

// Run prints the new token on standard output and what to know about it beside.
func (n *tokenNew) Run(a *app) error {
	dir, err := a.furnished()
	if err != nil {
		return err
	}
	t, err := daemon.MakeToken(a.ctx, dir, daemon.TokenRequest{Name: n.Name, Class: n.Grant})
	if err != nil {
		return err
	}
	fmt.Println(t.Secret)
	fmt.Fprintf(os.Stderr, "%s (%s) may %s. This is the only time the token is shown.\n", t.Name, t.ID, t.Class)
	return nil
}

type tokenList struct{}

// Run prints a table, newest last.
func (*tokenList) Run(a *app) error {
	dir, err := a.furnished()
	if err != nil {
		return err
	}
	ts, err := daemon.ListTokens(a.ctx, dir)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tGRANT\tTOKEN\tMADE\tUSED\tSTATE")
	for _, t := range ts {
		state := "valid"
		if !t.Revoked.IsZero() {
			state = "revoked " + day(t.Revoked)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Class, t.Hint+"…", day(t.Created), day(t.Used), state)
	}
	return w.Flush()
}

type tokenRevoke struct {
	Token string `arg:"" help:"Its id or name."`
}

// Run revokes; clients with the token are refused from then on.
func (r *tokenRevoke) Run(a *app) error {
	dir, err := a.furnished()
	if err != nil {
		return err
	}
	t, err := daemon.RevokeToken(a.ctx, dir, r.Token)
	if err != nil {
		return err
	}
	fmt.Printf("%s (%s) is revoked\n", t.Name, t.ID)
	return nil
}

func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format("2006-01-02 15:04 -07:00")
}
