package mcpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/tool"
)

// drainWait is how long answers may still come after the client closed its end.
const drainWait = 40 * time.Second

// ServeStdio serves one client on r and w as caller c until r ends or ctx
// ends: both eras, the same tools, the same door. A line that is no message is
// answered and does not end the conversation; when r ends, calls that are
// running are answered first. It closes r and w.
func (s *Server) ServeStdio(ctx context.Context, c tool.Caller, r io.ReadCloser, w io.WriteCloser) error {
	if c.Via == "" {
		c.Via = "stdio"
	}
	req := &request{caller: c}
	ctx = context.WithValue(ctx, requestKey{}, req)
	p := newPipe(r, w)
	ss, err := s.sdk.Connect(ctx, &mcp.IOTransport{Reader: p, Writer: p.out()}, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		p.hangUp()
		req.abandon()
		_ = ss.Close()
	})
	defer stop()
	err = ss.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// pipe stands between the client's lines and the SDK, which would end the
// whole conversation at the first broken line and cancel running calls at the
// end of input. It passes whole messages on, answers what is none, and holds
// the end back until the calls it let through are answered.
type pipe struct {
	r    io.ReadCloser
	in   *bufio.Reader
	rest []byte // of the line being handed out
	err  error

	lines lines // the reader's

	mu      sync.Mutex
	w       io.WriteCloser
	waiting map[string]bool // ids of calls without an answer yet
	idle    chan struct{}   // closed when waiting is empty after the end
	ended   bool
	closed  chan struct{}
	once    sync.Once
}

func newPipe(r io.ReadCloser, w io.WriteCloser) *pipe {
	return &pipe{r: r, w: w, in: bufio.NewReaderSize(r, 64<<10), waiting: map[string]bool{}, idle: make(chan struct{}), closed: make(chan struct{})}
}

// Read hands out the next message's bytes.
func (p *pipe) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			p.drain()
			return 0, p.err
		}
		var line []byte
		line, p.err = p.line()
		if p.err == nil || len(line) > 0 {
			p.accept(line)
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// line is the next line without its end; one over the cap is answered and skipped.
func (p *pipe) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if len(line)+len(part) > maxBody {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = p.in.ReadSlice('\n')
			}
			p.complain(nil, codeParse, "the line is longer than 4 MiB; send less at once")
			return nil, err
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

// accept lets a message through.
func (p *pipe) accept(line []byte) {
	if len(line) == 0 {
		return
	}
	m := p.lines.judge(line)
	if m.code != 0 {
		p.complain(m.any, m.code, m.why)
		return
	}
	if m.id != nil {
		p.mu.Lock()
		p.waiting[string(m.id)] = true
		p.mu.Unlock()
	}
	p.rest = append(line, '\n')
}

// drain waits at the end of input until every call has its answer.
func (p *pipe) drain() {
	p.mu.Lock()
	if !p.ended {
		p.ended = true
		if len(p.waiting) == 0 {
			close(p.idle)
		}
	}
	p.mu.Unlock()
	late := time.NewTimer(drainWait)
	defer late.Stop()
	select {
	case <-p.idle:
	case <-p.closed:
	case <-late.C:
	}
}

// Close closes the client's end.
func (p *pipe) Close() error {
	p.hangUp()
	return p.r.Close()
}

func (p *pipe) hangUp() { p.once.Do(func() { close(p.closed) }) }

func (p *pipe) complain(id json.RawMessage, code int, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.w.Write(append(rpcError(id, code, why), '\n'))
}

// out is the SDK's end of the writer.
func (p *pipe) out() io.WriteCloser { return (*pipeWriter)(p) }

type pipeWriter pipe

// Write sends one message, which the SDK writes in one piece, and notes which
// call it answers.
func (w *pipeWriter) Write(b []byte) (int, error) {
	p := (*pipe)(w)
	var e struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	answer := json.Unmarshal(b, &e) == nil && e.Method == "" && len(e.ID) > 0
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.w.Write(b)
	if answer {
		delete(p.waiting, string(e.ID))
		if p.ended && len(p.waiting) == 0 {
			select {
			case <-p.idle:
			default:
				close(p.idle)
			}
		}
	}
	return n, err
}

// Close closes the client's writer.
func (w *pipeWriter) Close() error { return w.w.Close() }
