package conformance

import (
	"bufio"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var address = regexp.MustCompile(`http://[0-9a-z.:\[\]]+/mcp`)

// plainHouse builds the program as people get it, runs its demo, and gives the
// address behind the proxy that adds its token.
func plainHouse(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "hearth")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "hearth/cmd/hearth").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	data := filepath.Join(dir, "data")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, bin, "--data", data, "demo", "--port", "0")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // ended by our signal
	})
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		url = address.FindString(lines.Text())
	}
	if url == "" {
		t.Fatal("the program said no address")
	}
	token, err := exec.CommandContext(t.Context(), bin, "--data", data, "--demo", "token", "show").Output()
	if err != nil {
		t.Fatalf("token show: %v", err)
	}
	return proxied(t, strings.TrimSuffix(url, "/mcp"), strings.TrimSpace(string(token)))
}

// TestPlain runs the suite and the Inspector against the plain program.
func TestPlain(t *testing.T) {
	s := tools(t)
	url := plainHouse(t)
	t.Run("2025-11-25", func(t *testing.T) { s.conform(t, url, "2025-11-25", "baseline-2025.yml") })
	t.Run("2026-07-28", func(t *testing.T) { s.conform(t, url, "2026-07-28", "baseline-2026.yml") })
	for _, era := range []string{"legacy", "modern"} {
		t.Run("inspector "+era, func(t *testing.T) {
			inspect := func(want string, args ...string) {
				t.Helper()
				all := append([]string{"--cli", url, "--transport", "http", "--protocol-era", era, "--method"}, args...)
				out, err := s.node(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", all...)
				if err != nil || !strings.Contains(out, want) {
					t.Errorf("%v: %v\n%s", args, err, out)
				}
			}
			inspect("house_overview", "tools/list", "--strict")
			inspect("light.kitchen_lights", "tools/call", "--tool-name", "entity_search", "--tool-arg", "query=kitchen")
			inspect("hearth://house", "resources/read", "--uri", "hearth://house")
			inspect("light.kitchen_lights", "prompts/get", "--prompt-name", "house_report", "--prompt-args", "room=Kitchen")
		})
	}
}
