package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/internal/hass"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// Setup is what hearth setup has learnt and is about to write. Everything in
// Config that Origins names goes into the file, the rest stays at its default.
type Setup struct {
	Data string
	File string // the configuration to write, "" for hearth.yaml in Data
	Config
	Origins map[string]Origin
}

// NewSetup starts with the settings that flags and variables give. A file that
// is there already counts for nothing: setup is about to replace it. Values
// that cannot be right are one *Broken; what is missing may still be asked for.
func NewSetup(src Sources) (Setup, error) {
	l := Loaded{Config: Defaults(), Origins: map[string]Origin{}}
	bad := &Broken{}
	l.readEnv(src, bad)
	l.readFlags(src, bad)
	l.loadToken(bad)
	if len(bad.Problems) == 0 {
		l.check(bad)
		// The hops look at the address, and missing ones are asked for.
		bad.Problems = slices.DeleteFunc(bad.Problems, func(p Problem) bool {
			return slices.Contains([]string{"ha.url", "HEARTH_HA_URL", "--ha-url", "ha.token_file"}, p.Field)
		})
	}
	s := Setup{Data: src.Data, File: src.File, Config: l.Config, Origins: l.Origins}
	if p := &s.HA.CAFile; *p != "" {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return s, fmt.Errorf("find the certificate: %w", err)
		}
		*p = abs
	}
	return s, bad.orNil()
}

func (s Setup) link() hass.Config { return Options{Config: s.Config}.link() }

// Test tests each hop to Home Assistant with the setup's token.
func (s Setup) Test(ctx context.Context) []Finding { return hops(ctx, s.link()) }

// OwnUser makes Hearth its own administrator user with the setup's token, which
// must be an administrator's, and returns the setup with that user's token. The
// password is random and kept nowhere: the token is what Hearth uses. A name
// that is taken gets a number, so that setup can be run again.
func (s Setup) OwnUser(ctx context.Context) (Setup, string, error) {
	var err error
	for try := 1; try <= 5; try++ {
		username := "hearth"
		if try > 1 {
			username = fmt.Sprintf("hearth-%d", try)
		}
		var token secret.Value
		token, _, err = hass.MakeUser(ctx, s.link(), "Hearth", username, rand.Text())
		if err == nil {
			s.HA.Token = token
			return s, username, nil
		}
		if home.CodeOf(err) != home.Conflict {
			return s, "", err
		}
	}
	return s, "", err
}

// Existing are the files that Write would replace.
func (s Setup) Existing() []string {
	var out []string
	for _, p := range []string{s.ConfigPath(), s.TokenPath()} {
		if _, err := os.Stat(p); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// ConfigPath is the configuration that Write writes.
func (s Setup) ConfigPath() string {
	if s.File != "" {
		return s.File
	}
	return filepath.Join(s.Data, "hearth.yaml")
}

// TokenPath is the token file that Write writes.
func (s Setup) TokenPath() string { return filepath.Join(s.Data, "ha-token") }

// Ready makes the data directory and finds out whether Write can write, before
// anything is made in Home Assistant that only Write would keep.
func (s Setup) Ready() error {
	if err := makeDataDir(s.Data); err != nil {
		return err
	}
	for _, dir := range []string{s.Data, filepath.Dir(s.ConfigPath())} {
		probe, err := os.CreateTemp(dir, ".setup-*")
		if err != nil {
			return &home.Error{Code: home.Invalid, Msg: dir + " cannot be written: " + reason(err), Hint: "make it writable, or choose another with --data or --config", Err: err}
		}
		if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			return fmt.Errorf("try to write: %w", err)
		}
	}
	return nil
}

// Write writes token file and configuration, each whole or not at all, for the
// owner only. What was there goes to backups/ first; the paths of those copies
// are returned.
func (s Setup) Write(now time.Time) (saved []string, err error) {
	if err := makeDataDir(s.Data); err != nil {
		return nil, err
	}
	for _, p := range s.Existing() {
		text, err := os.ReadFile(p)
		if err != nil {
			return saved, fmt.Errorf("keep the old file: %w", err)
		}
		if err := os.MkdirAll(filepath.Join(s.Data, "backups"), 0o700); err != nil {
			return saved, fmt.Errorf("keep the old file: %w", err)
		}
		to := filepath.Join(s.Data, "backups", filepath.Base(p)+"."+now.UTC().Format("20060102T150405.000"))
		if err := secret.Write(to, text); err != nil {
			return saved, err
		}
		saved = append(saved, to)
	}
	// The token first: a configuration that names a missing file would be broken.
	if err := secret.Write(s.TokenPath(), []byte(s.HA.Token.Reveal()+"\n")); err != nil {
		return saved, err
	}
	return saved, secret.Write(s.ConfigPath(), []byte(s.yaml()))
}

// yaml is the file: the address, the token's file and every setting that a flag
// or a variable gave.
func (s Setup) yaml() string {
	var b strings.Builder
	b.WriteString("# Written by hearth setup. docs/config.md lists every setting.\n")
	section := ""
	for _, set := range Settings() {
		name, key, nested := strings.Cut(set.Key, ".")
		text := ""
		switch _, given := s.Origins[set.Key]; {
		case set.Key == "ha.token_file":
			text = "ha-token" // a relative path starts in the data directory
		case set.Key == "ha.url":
			text = strconv.Quote(s.HA.URL)
		case !given || !set.InFile():
			continue
		default:
			text = set.yaml(&s.Config)
		}
		switch {
		case !nested:
			key = name
		case name != section:
			section = name
			b.WriteString(name + ":\n")
		}
		if nested {
			b.WriteString("  ")
		}
		b.WriteString(key + ": " + text + "\n")
	}
	return b.String()
}
