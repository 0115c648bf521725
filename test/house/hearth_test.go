// Package house_test runs the built binary against a house and compares what
// its tools answer, field by field, with what the test's own client reads from
// that house at the same moment. The same suite runs on the simulated house and
// on the real Home Assistant.
package house_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// binary builds cmd/hearth once per run of the tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hearth-house-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "hearth")
	out, err := exec.Command("go", "build", "-o", path, "hearth/cmd/hearth").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// hearth is one running `hearth serve`.
type hearth struct {
	t     *testing.T
	bin   string
	data  string
	url   string // of the house
	addr  string // MCP
	cmd   *exec.Cmd
	done  chan struct{}
	mu    sync.Mutex
	log   bytes.Buffer
	agent *mcp.ClientSession
}

// serve starts Hearth on a data directory of its own and waits until it mirrors the house.
func serve(t *testing.T, url, token string) *hearth {
	t.Helper()
	h := &hearth{t: t, data: filepath.Join(t.TempDir(), "data"), url: url}
	var err error
	if h.bin, err = binary(); err != nil {
		t.Fatalf("build the binary: %v", err)
	}
	if err := os.MkdirAll(h.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.data, "ha-token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	t.Cleanup(func() {
		h.stop(syscall.SIGTERM)
		if t.Failed() {
			h.mu.Lock()
			defer h.mu.Unlock()
			t.Logf("Hearth's log:\n%s", tail(h.log.String(), 40))
		}
	})
	h.live()
	return h
}

// start runs the binary and waits until it says where it listens.
func (h *hearth) start() {
	h.t.Helper()
	h.cmd = exec.Command(h.bin, "serve", "--data", h.data, "--ha-url", h.url, "--ha-token-file", filepath.Join(h.data, "ha-token"), "--listen", "127.0.0.1:0", "--log-format", "json")
	stderr, err := h.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	up := make(chan string, 1)
	h.done = make(chan struct{})
	// Ends when the process closes its standard error.
	go func() {
		sc := bufio.NewScanner(stderr)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			h.mu.Lock()
			h.log.Write(append(sc.Bytes(), '\n'))
			h.mu.Unlock()
			var line struct{ Msg, Listen string }
			if json.Unmarshal(sc.Bytes(), &line) == nil && line.Msg == "hearth is up" {
				select {
				case up <- line.Listen:
				default:
				}
			}
		}
		h.cmd.Wait()
		close(h.done)
	}()
	select {
	case addr := <-up:
		h.addr = strings.TrimPrefix(addr, "http://")
	case <-h.done:
		h.t.Fatalf("Hearth ended at once:\n%s", h.log.String())
	case <-time.After(20 * time.Second):
		h.t.Fatal("Hearth did not say where it listens within 20 s")
	}
	h.connect()
}

func (h *hearth) stop(sig syscall.Signal) {
	if h.agent != nil {
		h.agent.Close()
		h.agent = nil
	}
	h.cmd.Process.Signal(sig)
	<-h.done
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (h *hearth) connect() {
	h.t.Helper()
	token, err := os.ReadFile(filepath.Join(h.data, "mcp-token"))
	if err != nil {
		h.t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "house-suite", Version: "1"}, nil)
	h.agent, err = client.Connect(h.t.Context(), &mcp.StreamableClientTransport{
		Endpoint:   "http://" + h.addr + "/mcp",
		HTTPClient: &http.Client{Transport: bearer(strings.TrimSpace(string(token)))},
	}, nil)
	if err != nil {
		h.t.Fatalf("connect over MCP: %v", err)
	}
}

// ask calls a tool and fails the test on an error answer.
func (h *hearth) ask(tool string, args map[string]any) map[string]any {
	h.t.Helper()
	out, text, bad := h.try(tool, args)
	if bad {
		h.t.Fatalf("%s %v: %s", tool, args, text)
	}
	return out
}

// try calls a tool and gives its answer, its text, and whether it is an error.
func (h *hearth) try(tool string, args map[string]any) (map[string]any, string, bool) {
	h.t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), 60*time.Second)
	defer cancel()
	res, err := h.agent.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		h.t.Fatalf("%s %v: %v", tool, args, err)
	}
	text := ""
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	var out map[string]any
	if !res.IsError {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			h.t.Fatalf("%s answered no JSON: %v\n%s", tool, err, text)
		}
	}
	return out, text, res.IsError
}

// live waits until the mirror follows the house and bodies are loaded.
func (h *hearth) live() {
	h.t.Helper()
	h.until("the mirror is live", 30*time.Second, func() bool {
		out, _, bad := h.try("hearth_status", nil)
		if bad {
			return false
		}
		m := object(out["mirror"])
		links := list(out["links"])
		return len(links) > 0 && object(links[0])["up"] == true && m["stale"] == nil && number(m["entities"]) > 0 &&
			number(m["bodies"]) == number(m["of_bodies"]) && object(links[0])["state"] == "RUNNING"
	})
}

// until polls a condition that only the running house can bring about.
func (h *hearth) until(what string, limit time.Duration, ok func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			h.t.Fatalf("after %s still not: %s", limit, what)
		}
		<-tick.C
	}
}

func tail(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func list(v any) []any            { l, _ := v.([]any); return l }
func number(v any) float64        { f, _ := v.(float64); return f }
func text(v any) string           { s, _ := v.(string); return s }
