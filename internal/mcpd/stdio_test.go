package mcpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// sink collects what the server writes.
type sink struct {
	bytes.Buffer
	closed bool
}

func (s *sink) Close() error { s.closed = true; return nil }

func stdioCaller(c home.Class) tool.Caller {
	return tool.Caller{Who: "test", Token: "tok_test", Grant: home.Grant{Upto: c, Scope: home.Visible()}}
}

// TestStdioPiped pipes a whole conversation in and closes: every call is
// answered before the end, broken lines are answered and skipped.
func TestStdioPiped(t *testing.T) {
	h := newHouse(t, nil)
	lines := []string{
		hello,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`this is no JSON`,
		``,
		`{"jsonrpc":"1.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"entity_get","arguments":{"entity_id":"light.kitchen"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"house_overview",` + aboutClient + `}}`,
		strings.Repeat("x", maxBody+10),
		`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
	}
	var out sink
	err := h.ServeStdio(t.Context(), stdioCaller(home.Read), io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), &out)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	broken := 0
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if string(m.ID) == "null" {
			broken++
			continue
		}
		answers[string(m.ID)] = string(m.Result) + string(m.Error)
	}
	if broken != 2 {
		t.Errorf("%d lines were complained about, want 2", broken)
	}
	for id, want := range map[string]string{
		"1": `"protocolVersion":"2025-11-25"`, "2": `2.0`, "3": `light.kitchen`, "4": `light.kitchen`, "5": `"entity_get"`,
	} {
		if !strings.Contains(answers[id], want) {
			t.Errorf("answer %s is %q", id, answers[id])
		}
	}
	if strings.Contains(answers["5"], "lamp_set") {
		t.Error("a reader's list has lamp_set")
	}
	if !out.closed {
		t.Error("the writer stays open")
	}
}

// TestStdioModern talks to a server on stdio without a handshake.
func TestStdioModern(t *testing.T) {
	h := newHouse(t, nil)
	var out sink
	in := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + aboutClient + `}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"house_overview",` + aboutClient + `}}` + "\n"
	if err := h.ServeStdio(t.Context(), stdioCaller(home.Act), io.NopCloser(strings.NewReader(in)), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"supportedVersions":["2026-07-28"`, `"resultType":"complete"`, `light.kitchen`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}

// TestStdioEndsWithItsContext ends a conversation from our side, with a call running.
func TestStdioEndsWithItsContext(t *testing.T) {
	h := newHouse(t, nil)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.ServeStdio(ctx, stdioCaller(home.Act), in, out) }()
	lines := bufio.NewReader(fromServer)
	send := func(s string) {
		if _, err := io.WriteString(toServer, s+"\n"); err != nil {
			t.Error(err)
		}
	}
	send(hello)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "hearth") {
		t.Fatalf("%q %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hold"}}`)
	<-h.started
	cancel()
	<-h.ended
	if err := <-done; err != context.Canceled {
		t.Errorf("ended with %v", err)
	}
}
