package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

// client is a scripted MCP client on one end of a Stdio.
type client struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
}

func talk(t *testing.T, dir string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	s := &Stdio{In: inR, Out: outW, Dir: dir, Grace: time.Minute, Enter: func(ctx context.Context) (*Client, func() error, error) {
		j, err := Join(ctx, dir)
		return j, func() error { return nil }, err
	}}
	go func() {
		err := s.Run(t.Context())
		outW.Close()
		c.done <- err
	}()
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() map[string]json.RawMessage {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("%v in %s", err, line)
	}
	return m
}

func TestStdio_OutlivesARestartOfTheHouse(t *testing.T) {
	dir := t.TempDir()
	h := live(t, dir, slog.New(slog.DiscardHandler))
	c := talk(t, dir)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if m := c.next(); string(m["id"]) != `"hello"` || m["result"] == nil {
		t.Fatalf("no greeting: %s", m)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask := func(id string) {
		t.Helper()
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"entity_get","arguments":{"entity_id":"light.kitchen_lights"}}}`)
		if m := c.next(); string(m["id"]) != id || !strings.Contains(string(m["result"]), "light.kitchen_lights") {
			t.Fatalf("answer %s: %s", id, m)
		}
	}
	ask("1")
	h.client.Close()
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h = live(t, dir, slog.New(slog.DiscardHandler))
	defer h.stop()
	ask("2") // and no second greeting in between
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// The socket of an owner that is leaving may still take a connection and drop
// it: that is no reason to leave the client.
func TestStdio_PassesOverAnOwnerThatIsLeaving(t *testing.T) {
	dir := t.TempDir()
	l, err := listenSocket(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with l
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if n < 6 {
				conn.Close()
				continue
			}
			go func() { // ends with conn
				defer conn.Close()
				r := bufio.NewReader(conn)
				if _, err := http.ReadRequest(r); err != nil {
					return // only a knock
				}
				io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+upgrade+"\r\n\r\n")
				for {
					if _, err := r.ReadBytes('\n'); err != nil {
						return
					}
					io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")
				}
			}()
		}
	}()
	c := talk(t, dir)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if m := c.next(); string(m["id"]) != "1" {
		t.Errorf("answer %s", m)
	}
	c.in.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

func TestStdio_AnswersWhatWasUnderWay(t *testing.T) {
	var out strings.Builder
	s := &Stdio{Out: &out, pending: map[string]json.RawMessage{}}
	s.note([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`))
	s.note([]byte(`{"jsonrpc":"2.0","id":8,"method":"tools/call"}`))
	s.note([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`))
	if err := s.write(bufio.NewReader(strings.NewReader(`{"jsonrpc":"2.0","id":8,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":7,"resu`))); err != nil {
		t.Fatal(err)
	}
	if err := s.apologise(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"id":8,"result"`) || !strings.Contains(lines[1], `"id":7,"error"`) || !strings.Contains(lines[1], "may have happened") {
		t.Errorf("got %q", lines)
	}
}

func TestStdio_GivesUpOnAnOwnerThatHangsUp(t *testing.T) {
	inR, inW := io.Pipe()
	defer inW.Close()
	dir := t.TempDir()
	l, err := listenSocket(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with l
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(conn)
			for line := "x"; line != "" && line != "\r\n"; line, _ = r.ReadString('\n') {
			}
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: hearth-stdio\r\n\r\n")
			conn.Close()
		}
	}()
	s := &Stdio{In: inR, Out: io.Discard, Dir: dir, Enter: func(ctx context.Context) (*Client, func() error, error) {
		c, err := Join(ctx, dir)
		return c, func() error { return nil }, err
	}}
	if err := s.Run(t.Context()); home.CodeOf(err) != home.Offline {
		t.Errorf("got %v", err)
	}
}
