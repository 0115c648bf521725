package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hearth/internal/hass"
	"hearth/internal/home"
	"hearth/internal/secret"
)

// Setup is what hearth setup has learnt and is about to write.
type Setup struct {
	Data     string
	URL      string
	CAFile   string
	Insecure bool
	Token    secret.Value
}

func (s Setup) link() hass.Config {
	return hass.Config{URL: s.URL, Token: s.Token, CAFile: s.CAFile, Insecure: s.Insecure}
}

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
			s.Token = token
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
func (s Setup) ConfigPath() string { return filepath.Join(s.Data, "hearth.yaml") }

// TokenPath is the token file that Write writes.
func (s Setup) TokenPath() string { return filepath.Join(s.Data, "ha-token") }

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
	if err := secret.Write(s.TokenPath(), []byte(s.Token.Reveal()+"\n")); err != nil {
		return saved, err
	}
	return saved, secret.Write(s.ConfigPath(), []byte(s.yaml()))
}

func (s Setup) yaml() string {
	var b strings.Builder
	b.WriteString("# Written by hearth setup. docs/config.md lists every setting.\nha:\n")
	fmt.Fprintf(&b, "  url: %q\n  token_file: ha-token\n", s.URL)
	if s.CAFile != "" {
		fmt.Fprintf(&b, "  ca_file: %q\n", s.CAFile)
	}
	if s.Insecure {
		b.WriteString("  insecure: true\n")
	}
	return b.String()
}
