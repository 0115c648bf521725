package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// suite is where setup.sh installed the tools.
type suite struct{ dir string }

// tools finds the tools, or skips, or fails where they are required.
func tools(t *testing.T) suite {
	t.Helper()
	dir := os.Getenv("HEARTH_MCPTOOLS")
	if dir == "" && os.Getenv("HEARTH_REQUIRE_CONFORMANCE") == "" {
		t.Skip("CONFORMANCE LANE SKIPPED: `make test` runs it; set HEARTH_REQUIRE_CONFORMANCE=1 to run it here")
	}
	if dir == "" {
		script, err := os.ReadFile("setup.sh")
		if err != nil {
			t.Fatal(err)
		}
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			cache = filepath.Join(home, ".cache")
		}
		sum := sha256.Sum256(script)
		dir = filepath.Join(cache, "hearth", "mcptools-"+hex.EncodeToString(sum[:])[:12])
	}
	if _, err := os.Stat(filepath.Join(dir, "ready")); err != nil {
		t.Fatal("CONFORMANCE LANE REQUIRED: the suite and the Inspector are not installed; test/conformance/setup.sh does it (make test calls it)")
	}
	return suite{dir}
}

// node runs a script of the tools and gives what it said.
func (s suite) node(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bin := filepath.Join(s.dir, "node_modules", ".bin")
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), append([]string{filepath.Join(s.dir, "node_modules", script)}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Dir = t.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// conform runs the required scenarios of one revision; baseline may be "".
func (s suite) conform(t *testing.T, target, revision, baseline string) {
	t.Helper()
	args := []string{"server", "--url", target, "--requirements", revision, "-o", t.TempDir()}
	if baseline != "" {
		abs, err := filepath.Abs(baseline)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--expected-failures", abs)
	}
	out, err := s.node(t, "@modelcontextprotocol/conformance/dist/index.js", args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, summary(out))
	}
	t.Log(summary(out))
}

// summary is the end of the suite's report.
func summary(out string) string {
	_, end, ok := strings.Cut(out, "=== SUMMARY ===")
	if !ok {
		return out
	}
	return end
}

// proxied serves target with the token added to each request, Host and Origin
// left as they came. It ends old sessions as well-behaved clients do: the suite
// leaves those of failed scenarios open, and there is room for sixteen.
func proxied(t *testing.T, target, token string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan string, 10)
	p := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // sessions end under open streams
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
			whole(r)
		},
		ModifyResponse: func(r *http.Response) error {
			id := r.Header.Get("Mcp-Session-Id")
			if id == "" {
				return nil
			}
			for {
				select {
				case opened <- id:
					return nil
				case old := <-opened:
					if err := endSession(r.Request.Context(), target+"/mcp", token, old); err != nil {
						return err
					}
				}
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp"
}

// whole reads the body before it is passed on. A body that is streamed through
// can be closed by the proxy's own server while the transport still looks for its
// end, when the answer is that quick; the transport then cuts the answer short.
func whole(r *httputil.ProxyRequest) {
	if r.In.Body == nil || r.In.Body == http.NoBody {
		return
	}
	b, err := io.ReadAll(r.In.Body)
	if err != nil {
		return // the target sees a body that is too short, and says so
	}
	r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	r.Out.TransferEncoding = nil
}

func endSession(ctx context.Context, url, token, id string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Mcp-Session-Id", id)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

var baselineEntry = regexp.MustCompile(`^  - \S+ # \S.{9,}$`)

// TestBaselinesAreReasoned holds every accepted failure to its reason.
func TestBaselinesAreReasoned(t *testing.T) {
	for _, name := range []string{"baseline-2025.yml", "baseline-2026.yml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		entries := 0
		for i, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" || line == "server:" {
				continue
			}
			if !baselineEntry.MatchString(line) {
				t.Errorf("%s:%d: %q is not an entry with a reason", name, i+1, line)
			}
			entries++
		}
		if entries == 0 {
			t.Errorf("%s has no entries", name)
		}
	}
}
