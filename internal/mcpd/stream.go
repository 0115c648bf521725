package mcpd

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// writeWait is how long one write may block on a peer that does not read.
const writeWait = 30 * time.Second

// stream is the response of one request. It keeps what the access log wants,
// and once armed it writes an SSE comment whenever the peer has heard nothing
// for a while, so that proxies and clients do not take a quiet stream for a
// dead one. Comments and the SDK's own writes never interleave.
//
// The SDK works on a header map of its own: it still sets headers when an
// answer turns out to be a protocol error, which may be while a comment is
// being written from the timer.
type stream struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	own   http.Header // what handlers see
	every time.Duration
	alive func() bool // asked at each comment; false ends the stream
	stop  func()      // cancels the request
	// begins is called with the status just before the peer can see it.
	begins func(status int)

	mu     sync.Mutex
	timer  *time.Timer
	armed  bool
	sent   bool // the status line is out
	framed bool // a comment went first: later errors must become events
	ended  bool
	status int
	bytes  int
}

func newStream(w http.ResponseWriter, every time.Duration) *stream {
	return &stream{w: w, rc: http.NewResponseController(w), own: http.Header{}, every: every, stop: func() {}}
}

// Header is the map handlers set headers in, until the first write.
func (s *stream) Header() http.Header { return s.own }

// WriteHeader sends the status line, unless a comment already did.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent {
		// The status is gone, but the peer must still be able to read the
		// error that follows: it goes out as an event of the stream.
		s.framed = s.framed || status != http.StatusOK
		return
	}
	s.commit(status)
}

// Write sends p, as an event of its own where a comment was quicker than the status.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sent {
		s.commit(http.StatusOK)
	}
	s.watch()
	if s.framed {
		if err := s.put([]byte("event: message\ndata: ")); err != nil {
			return 0, err
		}
		defer s.put([]byte("\n\n"))
	}
	return len(p), s.put(p)
}

// FlushError pushes what was written to the peer.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sent {
		s.commit(http.StatusOK)
	}
	return s.rc.Flush()
}

// Flush is FlushError for those who do not ask.
func (s *stream) Flush() { _ = s.FlushError() }

// arm starts the comments. It must be called where nobody else touches the
// header map: before the handler, or from inside a call the SDK dispatched.
func (s *stream) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.armed || s.ended || !isEvents(s.own) {
		return
	}
	s.armed = true
	if !s.sent {
		maps.Copy(s.w.Header(), s.own)
	}
	s.timer = time.AfterFunc(s.every, s.beat)
}

// end stops the comments; nothing is written after it returns.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.sent {
		// The deadline belongs to the connection, which others use next.
		_ = s.rc.SetWriteDeadline(time.Time{})
	}
}

// beat writes one comment and waits for the next.
func (s *stream) beat() {
	if s.alive != nil && !s.alive() {
		s.stop()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if !s.sent {
		s.head(http.StatusOK)
	}
	if s.put([]byte(":\n\n")) != nil || s.rc.Flush() != nil {
		s.stop() // nobody reads, and a read may never tell
		return
	}
	s.timer.Reset(s.every)
}

// watch arms an event stream at its first event and puts the next comment off.
func (s *stream) watch() {
	switch {
	case s.ended:
	case s.timer != nil:
		s.timer.Reset(s.every)
	case s.status == http.StatusOK && isEvents(s.own):
		s.armed = true
		s.timer = time.AfterFunc(s.every, s.beat)
	}
}

// commit sends the status line and headers; mu is held.
func (s *stream) commit(status int) {
	maps.Copy(s.w.Header(), s.own)
	s.head(status)
}

// head sends the status line and the headers of the real map; mu is held.
func (s *stream) head(status int) {
	s.sent, s.status = true, status
	if s.begins != nil {
		s.begins(status)
	}
	s.w.WriteHeader(status)
}

// put writes p under a deadline; mu is held.
func (s *stream) put(p []byte) error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeWait))
	n, err := s.w.Write(p)
	s.bytes += n
	return err
}

func isEvents(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "text/event-stream")
}
