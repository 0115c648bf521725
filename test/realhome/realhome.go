// Package realhome runs the pinned Home Assistant for tests: the same release
// people run, installed from its Python package by setup.sh, started with a
// fresh configuration on a loopback port and onboarded over its own API.
//
// The lane takes a minute, so plain go test skips it with a loud line: it runs
// when HEARTH_REALHOME names an installation, or when HEARTH_REQUIRE_REALHOME is
// set, as make test does; then a missing installation is a failure.
//
//	home := realhome.Start(t)
//	client := hass.Config{URL: home.URL, Token: secret.New(home.HearthToken)}
package realhome

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Version is the pinned release.
const Version = "2026.11.0"

//go:embed setup.sh needs.py house/configuration.yaml
var setupFiles embed.FS

//go:embed run.sh
var runScript []byte

//go:embed house
var houseFiles embed.FS

// Home is one running Home Assistant, onboarded.
type Home struct {
	URL         string // http://127.0.0.1:port
	OwnerToken  string // long-lived token of the owner, a person
	HearthToken string // long-lived token of Hearth's own administrator user
	HearthUser  string // that user's id
	OwnerUser   string
	Config      string // the configuration directory

	cmd  *exec.Cmd
	port int
	done chan struct{}
	log  string
}

// Dir is where the installation lies: $HEARTH_REALHOME, else a folder of the
// cache named after the version and a hash of the set-up files.
func Dir() (string, error) {
	if d := os.Getenv("HEARTH_REALHOME"); d != "" {
		return d, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	h := sha256.New()
	for _, name := range []string{"setup.sh", "needs.py", "house/configuration.yaml"} {
		b, err := setupFiles.ReadFile(name)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return filepath.Join(cache, "hearth", "realhome-"+Version+"-"+hex.EncodeToString(h.Sum(nil))[:10]), nil
}

// Start runs a fresh, onboarded Home Assistant until the test ends.
func Start(t testing.TB) *Home {
	t.Helper()
	required := os.Getenv("HEARTH_REQUIRE_REALHOME") != ""
	if !required && os.Getenv("HEARTH_REALHOME") == "" {
		t.Skip("REAL HOME LANE SKIPPED: `make test` runs it; set HEARTH_REQUIRE_REALHOME=1 to run it here")
	}
	h, err := Launch(t.Context(), t.TempDir())
	if errors.Is(err, ErrMissing) {
		t.Fatalf("REAL HOME LANE REQUIRED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Stop()
		if t.Failed() {
			t.Logf("Home Assistant's log:\n%s", h.Tail(60))
		}
	})
	return h
}

// ErrMissing says that no Home Assistant is installed here.
var ErrMissing = errors.New("no Home Assistant is installed for tests; `make realhome` installs it (root, 3 minutes, 2.1 GB)")

// Launch starts and onboards a Home Assistant whose files live under work.
func Launch(ctx context.Context, work string) (*Home, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "ready")); err != nil {
		return nil, fmt.Errorf("%w (looked in %s)", ErrMissing, dir)
	}
	h := &Home{Config: filepath.Join(work, "config"), log: filepath.Join(work, "hass.log"), done: make(chan struct{})}
	if err := h.writeConfig(); err != nil {
		return nil, err
	}
	script := filepath.Join(work, "run.sh")
	if err := os.WriteFile(script, runScript, 0o755); err != nil {
		return nil, err
	}
	if h.port, err = freePort(); err != nil {
		return nil, err
	}
	h.URL = "http://127.0.0.1:" + strconv.Itoa(h.port)
	out, err := os.Create(h.log)
	if err != nil {
		return nil, err
	}
	h.cmd = exec.Command(script, dir, h.Config, strconv.Itoa(h.port))
	h.cmd.Stdout, h.cmd.Stderr = out, out
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start Home Assistant: %w", err)
	}
	// Ends when Home Assistant does, at the latest in Stop.
	go func() {
		h.cmd.Wait()
		out.Close()
		close(h.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	if err := h.waitUp(ctx); err == nil {
		err = h.onboard(ctx)
		if err == nil {
			return h, nil
		}
		h.Stop()
		return nil, fmt.Errorf("onboard Home Assistant: %w\n%s", err, h.Tail(40))
	}
	h.Stop()
	return nil, fmt.Errorf("Home Assistant did not answer on %s\n%s", h.URL, h.Tail(40))
}

func (h *Home) writeConfig() error {
	if err := os.MkdirAll(h.Config, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(houseFiles, "house", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := houseFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(h.Config, filepath.Base(path)), b, 0o644)
	})
}

// waitUp waits until the HTTP interface answers.
func (h *Home) waitUp(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/api/onboarding", nil)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			if res.StatusCode < 500 && res.StatusCode != http.StatusNotFound {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-h.done:
			return errors.New("Home Assistant ended")
		case <-tick.C:
		}
	}
}

// Stop ends Home Assistant and waits for it.
func (h *Home) Stop() {
	if h.cmd == nil || h.cmd.Process == nil {
		return
	}
	syscall.Kill(h.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-h.done:
		return
	case <-time.After(20 * time.Second):
	}
	syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	<-h.done
}

// Tail gives the last n lines Home Assistant wrote.
func (h *Home) Tail(n int) string {
	f, err := os.Open(h.log)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	var lines []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		lines = append(lines, sc.Text())
		if len(lines) > n {
			lines = lines[1:]
		}
	}
	return strings.Join(lines, "\n")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
