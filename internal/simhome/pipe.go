package simhome

import (
	"context"
	"net"
	"sync"
)

// Dialer dials like net.Dialer.DialContext; the address does not matter.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// Pipe gives an in-memory listener for Serve and the dialer that reaches it.
// Both work inside a testing/synctest bubble, where real sockets do not. A
// write waits until the other side reads. Closing the listener makes dialing fail.
func Pipe() (net.Listener, Dialer) {
	p := &pipe{conns: make(chan net.Conn), closed: make(chan struct{})}
	return p, p.dial
}

type pipe struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (p *pipe) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next dial.
func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and dialing fail.
func (p *pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr names the pipe.
func (p *pipe) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "house:8123" }
