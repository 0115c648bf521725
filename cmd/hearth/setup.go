package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"hearth/internal/daemon"
	"hearth/internal/home"
	"hearth/internal/secret"
)

type setupCommand struct {
	settings
	OwnUser *bool `negatable:"" help:"Make Hearth its own administrator user (recommended), or use the token as it is."`
	Yes     bool  `help:"Ask nothing; replace an existing configuration (a copy goes to backups/)."`
}

// Run asks for what the flags do not say, tests each hop, offers an own user,
// and writes token and configuration. Nothing is written when a hop fails.
func (s *setupCommand) Run(a *app) error {
	src, err := a.sources(s.settings)
	if err != nil {
		return err
	}
	p, err := daemon.NewSetup(src)
	if err != nil {
		return err
	}
	talk := &dialogue{ctx: a.ctx, in: bufio.NewReader(os.Stdin), person: !s.Yes && isTerminal(os.Stdin)}
	if p, err = s.ask(p, talk); err != nil {
		return err
	}
	fmt.Println("Testing the way to Home Assistant:")
	if err := tested(p.Test(a.ctx)); err != nil {
		return err
	}
	// Whatever could still stop us comes before the user: nobody but the file
	// that is written last would hold its token.
	if err := s.mayReplace(p, talk); err != nil {
		return err
	}
	if err := p.Ready(); err != nil {
		return err
	}
	if p, err = s.ownUser(a, p, talk); err != nil {
		return err
	}
	saved, err := p.Write(time.Now())
	for _, f := range saved {
		fmt.Println("kept the old file as " + f)
	}
	if err != nil {
		return err
	}
	fmt.Printf("wrote %s and %s\n\n", p.ConfigPath(), p.TokenPath())
	if c, err := daemon.Join(a.ctx, src.Data); err == nil {
		c.Close()
		fmt.Println("A house runs here already with the old settings: restart it.")
	}
	fmt.Printf("Next:  %s%s serve\n", a.program, a.where())
	return nil
}

// ask asks for what flags and variables do not say.
func (s *setupCommand) ask(p daemon.Setup, talk *dialogue) (daemon.Setup, error) {
	var err error
	if p.HA.URL == "" {
		if p.HA.URL, err = talk.ask("Where does Home Assistant answer?", "http://homeassistant.local:8123", "--ha-url"); err != nil {
			return p, err
		}
	}
	p.HA.URL = strings.TrimRight(strings.TrimSpace(p.HA.URL), "/")
	if p.HA.Token.Empty() {
		fmt.Println("A long-lived access token of an administrator is needed: in Home Assistant, your profile, Security, Long-lived access tokens.")
		if p.HA.Token, err = talk.askSecret("Token (it is not shown): ", "--ha-token-file"); err != nil {
			return p, err
		}
	}
	return p, nil
}

// tested prints the hops and fails with the first that failed.
func tested(hops []daemon.Finding) error {
	printFindings(hops)
	for _, h := range hops {
		if !h.OK && !h.Warn {
			return &home.Error{Code: failedCode(h), Msg: "the hop " + h.Name + " fails: " + h.Detail, Hint: h.Remedy}
		}
	}
	return nil
}

// ownUser makes Hearth its own user, where wanted, and tests its token too.
func (s *setupCommand) ownUser(a *app, p daemon.Setup, talk *dialogue) (daemon.Setup, error) {
	want := false
	switch {
	case s.OwnUser != nil:
		want = *s.OwnUser
	case talk.person:
		fmt.Println("\nHearth should have its own administrator user in Home Assistant: then the journal can tell what you did from what Hearth did.")
		var err error
		if want, err = talk.yes("Make the user now?"); err != nil {
			return p, err
		}
	}
	if !want {
		return p, nil
	}
	p, name, err := p.OwnUser(a.ctx)
	if err != nil {
		err = home.Wrap(home.Internal, err, "make the user")
		if e := (*home.Error)(nil); errors.As(err, &e) && e.Code == home.Denied {
			return p, e.WithHint("give the token of an administrator with --ha-token-file, or go on with this one and --no-own-user")
		}
		return p, err
	}
	fmt.Printf("made the administrator user %q; testing its token:\n", name)
	return p, tested(p.Test(a.ctx))
}

func (s *setupCommand) mayReplace(p daemon.Setup, talk *dialogue) error {
	old := p.Existing()
	if len(old) == 0 || s.Yes {
		return nil
	}
	fmt.Println("These files exist already: " + strings.Join(old, ", "))
	ok, err := talk.yes("Replace them (copies go to backups/)?")
	if err == nil && !ok {
		err = home.Errorf(home.Conflict, "nothing was written").WithHint("choose another directory with --data")
	}
	return err
}

// dialogue asks a person on the terminal; without one every question is an
// error that names the flag.
type dialogue struct {
	ctx    context.Context // of the process: a signal ends a question
	in     *bufio.Reader
	person bool
}

func (d *dialogue) ask(question, def, flag string) (string, error) {
	if !d.person {
		return "", home.Errorf(home.Invalid, "%s is missing", flag).WithHint("give it, or run hearth setup on a terminal to be asked")
	}
	fmt.Printf("%s [%s] ", question, def)
	line, err := d.line()
	if err != nil || line != "" {
		return line, err
	}
	return def, nil
}

func (d *dialogue) askSecret(prompt, flag string) (secret.Value, error) {
	if !d.person {
		return secret.Value{}, home.Errorf(home.Invalid, "%s is missing", flag).WithHint("name a file with the token, set HEARTH_HA_TOKEN, or run hearth setup on a terminal to be asked")
	}
	fmt.Print(prompt)
	restore, err := hideInput(os.Stdin)
	if err != nil {
		return secret.Value{}, home.Errorf(home.Invalid, "this terminal shows what is typed: %w", err).WithHint("put the token into a file and name it with %s", flag)
	}
	line, err := d.line()
	restore()
	fmt.Println()
	if err == nil && line == "" {
		err = home.Errorf(home.Invalid, "no token was given").WithHint("paste it at the question, or name a file with %s", flag)
	}
	return secret.New(line), err
}

func (d *dialogue) yes(question string) (bool, error) {
	if !d.person {
		return false, home.Errorf(home.Invalid, "this needs a yes").WithHint("give --yes, or run hearth setup on a terminal")
	}
	fmt.Print(question + " [Y/n] ")
	line, err := d.line()
	line = strings.ToLower(line)
	return line == "" || line == "y" || line == "yes", err
}

// line reads one answer. A signal ends the wait, though not the read itself,
// which ends with the process.
func (d *dialogue) line() (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := d.in.ReadString('\n')
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		if errors.Is(a.err, io.EOF) && a.text != "" {
			a.err = nil
		}
		return strings.TrimSpace(a.text), a.err
	case <-d.ctx.Done():
		fmt.Println()
		return "", d.ctx.Err()
	}
}
