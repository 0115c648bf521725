package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// client speaks MCP by plain HTTP, so that the client's cost is small and no SDK hides anything.
type client struct {
	srv     *server
	modern  bool
	session string
	http    *http.Client
}

func newClient(srv *server, modern bool) (*client, error) {
	c := &client{srv: srv, modern: modern, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	if modern {
		return c, nil
	}
	_, err := c.post("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}})
	if err != nil {
		return nil, err
	}
	_, err = c.post("notifications/initialized", map[string]any{})
	return c, err
}

func (c *client) post(method string, params map[string]any) (json.RawMessage, error) {
	msg := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		msg["id"] = rand.Int32()
	}
	if c.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "bench", "version": "1"},
		}
	}
	body, err := json.Marshal(msg)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+c.srv.addr+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("Authorization", "Bearer "+c.srv.token)
	if c.modern {
		h.Set("MCP-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", method)
		if n, ok := params["name"].(string); ok {
			h.Set("Mcp-Name", n)
		}
	} else if c.session != "" {
		h.Set("Mcp-Session-Id", c.session)
		h.Set("MCP-Protocol-Version", "2025-11-25")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %s: %s", method, res.Status, b)
	}
	if s := res.Header.Get("Mcp-Session-Id"); s != "" {
		c.session = s
	}
	for line := range bytes.Lines(b) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok && bytes.HasPrefix(data, []byte("{")) {
			b = data
		}
	}
	return b, nil
}

// call calls a tool and gives the text of its answer.
func (c *client) call(tool string, args map[string]any) (string, error) {
	b, err := c.post("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return "", err
	}
	var res struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(b, &res); err != nil {
		return "", fmt.Errorf("%w: %s", err, b)
	}
	if res.Error != nil {
		return "", fmt.Errorf("%s: %s", tool, res.Error.Message)
	}
	if len(res.Result.Content) == 0 {
		return "", fmt.Errorf("%s: empty answer: %s", tool, b)
	}
	if res.Result.IsError {
		return "", fmt.Errorf("%s: %s", tool, res.Result.Content[0].Text)
	}
	return res.Result.Content[0].Text, nil
}

// spread is a sorted list of durations.
type spread []time.Duration

func (s spread) at(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	return float64(s[min(len(s)-1, int(q*float64(len(s))))].Microseconds()) / 1000
}

// load runs f n times with the given concurrency.
func load(n, concurrency int, f func(i int) error) (spread, error) {
	var mu sync.Mutex
	var all spread
	var first error
	var wg sync.WaitGroup
	next := make(chan int)
	for range concurrency {
		wg.Go(func() { // ends when next is closed
			for i := range next {
				t := time.Now()
				err := f(i)
				d := time.Since(t)
				mu.Lock()
				all = append(all, d)
				if err != nil && first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	slices.Sort(all)
	return all, first
}
