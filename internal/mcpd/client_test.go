package mcpd

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// withToken adds a bearer to what the SDK's client sends.
type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects the SDK's client in a revision; "" is the newest.
func (h *testHouse) connect(t *testing.T, revision string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: withToken("actor-token")}},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rooms gives the test's server a house with rooms to complete.
func (h *testHouse) rooms() {
	house, w := mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), nil)
	w.Apply(home.Report{Kind: home.ReportLink, Up: true, At: time.Now()})
	w.Apply(home.Report{Kind: home.ReportSnapshot, At: time.Now(), Registries: &home.Registries{
		Areas: []home.Area{{ID: "kitchen", Name: "Kitchen"}, {ID: "kids", Name: "Kids' Room"}, {ID: "attic", Name: "Dach"}},
	}})
	h.house = house
}

// TestSDKClient lets the SDK's own client use everything in each revision.
func TestSDKClient(t *testing.T) {
	h := newHouse(t, nil)
	h.rooms()
	for _, revision := range []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run("revision "+revision, func(t *testing.T) {
			ctx, s := t.Context(), h.connect(t, revision)
			defer s.Close()
			tools, err := s.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) != 6 || tools.Tools[0].Name != "house_overview" {
				t.Fatalf("tools %v %v", tools, err)
			}
			got, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "entity_get", Arguments: map[string]any{"entity_id": "light.kitchen"}})
			if err != nil || got.IsError || !strings.Contains(got.Content[0].(*mcp.TextContent).Text, "Küche") {
				t.Errorf("call %v %v", got, err)
			}
			got, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "entity_get"})
			if err != nil || !got.IsError {
				t.Errorf("a faulty call gave %v %v", got, err)
			}
			if _, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "no_such"}); err == nil || !strings.Contains(err.Error(), "no tool") {
				t.Errorf("an unknown tool gave %v", err)
			}
			read, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "hearth://house"})
			if err != nil || !strings.Contains(read.Contents[0].Text, "light.kitchen") {
				t.Errorf("resource %v %v", read, err)
			}
			said, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "house_report", Arguments: map[string]string{"room": "kitchen"}})
			if err != nil || len(said.Messages) != 1 {
				t.Errorf("prompt %v %v", said, err)
			}
			done, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "house_report"},
				Argument: mcp.CompleteParamsArgument{Name: "room", Value: "ki"}})
			if err != nil || strings.Join(done.Completion.Values, ",") != "Kids' Room,Kitchen" {
				t.Errorf("completion %v %v", done, err)
			}
		})
	}
}

// TestNothingStays opens and ends many conversations and looks for what is left.
func TestNothingStays(t *testing.T) {
	h := newHouse(t, nil)
	h.connect(t, "2025-11-25").Close()
	before := runtime.NumGoroutine()
	for range 50 {
		h.connect(t, "2025-11-25").Close()
		h.connect(t, "").Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for runtime.NumGoroutine() > before+5 { // connections end in their own time; a leak never does
		select {
		case <-t.Context().Done():
			t.Fatal("goroutines stay")
		case <-time.After(time.Millisecond):
		}
	}
	if n := h.sessions.count(); n != 0 {
		t.Errorf("%d sessions stay", n)
	}
	for held := true; held; { // the SDK lets go in its own time, too
		held = false
		for range h.sdk.Sessions() {
			held = true
		}
		runtime.Gosched()
	}
}

// FuzzPost throws bodies and headers at the handler.
func FuzzPost(f *testing.F) {
	f.Add(hello, "", "")
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"entity_get","arguments":{"entity_id":"x"},`+aboutClient+`}}`, modern, "")
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "2025-03-26", "")
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "2025-11-25", "X")
	f.Add(`{"jsonrpc":"2.0","id":{},"method":5}`, "9", "")
	h := newHouse(f, nil)
	h.log = slog.New(slog.DiscardHandler)
	f.Fuzz(func(t *testing.T, body, version, session string) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer actor-token")
		r.Header[headVersion] = []string{version}
		r.Header[headSession] = []string{session}
		w := httptest.NewRecorder()
		h.Handler().ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable { // sixteen sessions fill soon
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// BenchmarkRead reads one entity over HTTP, in each way a client may.
func BenchmarkRead(b *testing.B) {
	h := newHouse(b, nil)
	h.log = slog.New(slog.DiscardHandler)
	for _, bc := range []struct {
		name, id string
		head     []string
	}{
		{"modern", "7", callHeaders("entity_get")},
		{"legacy", "7", nil},
		{"modern by the SDK", "1000000000000007", callHeaders("entity_get")},
	} {
		b.Run(bc.name, func(b *testing.B) {
			body := `{"jsonrpc":"2.0","id":` + bc.id + `,"method":"tools/call","params":{"name":"entity_get","arguments":{"entity_id":"light.kitchen"}`
			if bc.head != nil {
				body += "," + aboutClient
			}
			body += "}}"
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequest(http.MethodPost, h.url+"/mcp", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Accept", "application/json, text/event-stream")
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer actor-token")
				for i := 0; i+1 < len(bc.head); i += 2 {
					r.Header.Set(bc.head[i], bc.head[i+1])
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
