package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"hearth/internal/home"
)

// maxLine bounds one message on standard input.
const maxLine = 8 << 20

// Stdio carries one MCP client's messages between in and out and the owner of
// the house, until in ends and the last answer came. When the owner leaves, the
// next one is entered and greeted as the client did, so that a client outlives
// a restart of the house. What was under way then is answered with an error
// that says so: it is never sent twice.
type Stdio struct {
	In  io.Reader
	Out io.Writer
	Dir string
	// Enter joins the owner or becomes it.
	Enter func(context.Context) (*Client, func() error, error)
	// Grace is how long a restarting owner is waited for before this process
	// becomes the owner itself, which would shut the other out; 0 means 10 s.
	Grace time.Duration

	mu      sync.Mutex
	hello   []byte                     // the client's initialize
	ready   []byte                     // and its initialized
	pending map[string]json.RawMessage // ids under way
	silent  string                     // id whose answer the client has had already
}

// Run carries messages until in or ctx ends.
func (s *Stdio) Run(ctx context.Context) error {
	s.pending = map[string]json.RawMessage{}
	if s.Grace == 0 {
		s.Grace = 2 * drain
	}
	enter := s.Enter
	lines := make(chan []byte)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Ends with in or ctx; a read from standard input cannot be interrupted, so
	// on a signal it ends with the process.
	go s.read(ctx, lines)
	for short := 0; short < 10; {
		begin := time.Now()
		ended, err := s.visit(ctx, enter, lines)
		if ended || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if short++; time.Since(begin) > 2*time.Second {
			short = 0
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(short) * 20 * time.Millisecond):
		}
		enter = s.again
	}
	return home.Errorf(home.Offline, "the owner of the house hangs up again and again").WithHint("look into its log; hearth doctor helps")
}

func (s *Stdio) read(ctx context.Context, lines chan<- []byte) {
	defer close(lines)
	r := bufio.NewScanner(s.In)
	r.Buffer(make([]byte, 64<<10), maxLine)
	for r.Scan() {
		line := append(bytes.Clone(r.Bytes()), '\n')
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// again enters after an owner left: the next one, if it comes soon.
func (s *Stdio) again(ctx context.Context) (*Client, func() error, error) {
	soon, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if c, err := Join(soon, s.Dir); err == nil {
			return c, func() error { c.Close(); return nil }, nil
		}
		select {
		case <-soon.Done():
			return s.Enter(ctx)
		case <-tick.C:
		}
	}
}

// visit serves the client through one owner. ended is true when in ended.
func (s *Stdio) visit(ctx context.Context, enter func(context.Context) (*Client, func() error, error), lines <-chan []byte) (ended bool, err error) {
	c, leave, err := enter(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	conn, r, err := c.stream(ctx)
	switch {
	case home.CodeOf(err) == home.Offline:
		return false, nil // a socket of an owner that is just leaving: enter the next
	case err != nil:
		return false, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := s.greet(conn); err != nil {
		return false, nil // gone again: enter the next
	}
	answered := make(chan error, 1)
	go func() { answered <- s.write(r) }() // ends with conn
	for {
		select {
		case err := <-answered:
			return false, errors.Join(err, s.apologise())
		case line, ok := <-lines:
			if !ok {
				conn.CloseWrite()
				return true, <-answered
			}
			s.note(line)
			if _, err := conn.Write(line); err != nil {
				conn.Close()
				return false, errors.Join(<-answered, s.apologise())
			}
		}
	}
}

// greet repeats the client's greeting to a new owner; its answer is not passed on.
func (s *Stdio) greet(conn io.Writer) error {
	s.mu.Lock()
	hello, ready := s.hello, s.ready
	if hello != nil {
		s.silent = envelopeOf(hello).key()
	}
	s.mu.Unlock()
	if hello == nil {
		return nil
	}
	_, err := conn.Write(append(bytes.Clone(hello), ready...))
	return err
}

// envelope is what this side needs to know of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func envelopeOf(line []byte) (e envelope) {
	if json.Unmarshal(line, &e) != nil {
		return envelope{} // the server complains of it
	}
	return e
}

func (e envelope) key() string { return string(e.ID) }

// note remembers what the client asked.
func (s *Stdio) note(line []byte) {
	e := envelopeOf(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Method == "initialize":
		s.hello = line
	case e.Method == "notifications/initialized":
		s.ready = line
	}
	if e.Method != "" && e.ID != nil {
		s.pending[e.key()] = e.ID
	}
}

// write passes the owner's messages to the client until the owner leaves. The
// error is the client's: it does not listen any more.
func (s *Stdio) write(r *bufio.Reader) error {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil // a cut line is no message
		}
		if e := envelopeOf(line); e.Method == "" && e.ID != nil && s.drop(e.key()) {
			continue
		}
		if _, err := s.Out.Write(line); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
	}
}

// drop settles an answer and reports whether the client must not see it.
func (s *Stdio) drop(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent != "" && key == s.silent {
		s.silent = ""
		return true
	}
	delete(s.pending, key)
	return false
}

// apologise answers what was under way when the owner left.
func (s *Stdio) apologise() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = ""
	for key, id := range s.pending {
		delete(s.pending, key)
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"offline: Hearth left while this was under way. It may have happened: look before you try again."}}`+"\n", id)
		if _, err := s.Out.Write(line); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
	}
	return nil
}

// stream asks the owner for a raw stream to its MCP server.
func (c *Client) stream(ctx context.Context) (*net.UnixConn, *bufio.Reader, error) {
	left := func(err error) error {
		return &home.Error{Code: home.Offline, Msg: "the owner of " + c.dir + " left", Hint: "try again", Err: err}
	}
	raw, err := dialSocket(ctx, c.dir)
	if err != nil {
		return nil, nil, left(err)
	}
	conn := raw.(*net.UnixConn)
	r := bufio.NewReader(conn)
	fail := func(err error) (*net.UnixConn, *bufio.Reader, error) {
		conn.Close()
		return nil, nil, err
	}
	conn.SetDeadline(time.Now().Add(2 * drain))
	if _, err := io.WriteString(conn, "POST /stdio HTTP/1.1\r\nHost: hearth\r\nConnection: Upgrade\r\nUpgrade: "+upgrade+"\r\nContent-Length: 0\r\n\r\n"); err != nil {
		return fail(left(err))
	}
	a, err := http.ReadResponse(r, nil)
	if err != nil {
		return fail(left(err))
	}
	if a.StatusCode != http.StatusSwitchingProtocols {
		var f Failure
		if err := json.NewDecoder(a.Body).Decode(&f); err != nil {
			return fail(home.Errorf(home.Internal, "the owner answered %s", a.Status).WithHint("both processes should run the same version; restart the owner"))
		}
		return fail(f.Err())
	}
	conn.SetDeadline(time.Time{})
	return conn, r, nil
}
