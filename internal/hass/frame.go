package hass

import (
	"strconv"
	"sync"
	"time"

	"hearth/internal/home"
	"hearth/internal/secret"
)

// message is one message of the WebSocket, its parts still raw. The slices
// point into the frame.
type message struct {
	id      int64
	kind    string // result, event, pong, auth_required, auth_ok, auth_invalid
	success bool
	result  []byte
	event   []byte
	fault   []byte // the member "error"
	text    string // the member "message" of auth_invalid
}

// messageAt reads the message at s.
func messageAt(s *scanner) (m message) {
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "id":
			if s.peek() == 'n' { // Home Assistant answers a message without an id so
				s.literal("null")
				continue
			}
			id, err := strconv.ParseInt(string(s.raw()), 10, 64)
			if err != nil {
				s.fail()
			}
			m.id = id
		case "type":
			m.kind = kindOf(s)
		case "success":
			m.success = s.boolean()
		case "result":
			m.result = s.raw()
		case "event":
			m.event = s.raw()
		case "error":
			m.fault = s.raw()
		case "message":
			m.text = s.textOrNull()
		default:
			s.skip()
		}
	}
	if m.kind == "" {
		s.fail()
	}
	return m
}

// kindOf reads the type without allocating for the two that matter.
func kindOf(s *scanner) string {
	raw, escaped := s.str()
	switch {
	case string(raw) == `"event"`:
		return "event"
	case string(raw) == `"result"`:
		return "result"
	case escaped:
		return unquote(raw)
	}
	return string(raw[1 : len(raw)-1])
}

// eachMessage calls handle for every message of a frame, alone or coalesced into
// an array, and bad for every one that cannot be read; where the syntax itself
// is broken the rest of the frame is one bad message.
func eachMessage(frame []byte, handle func(message), bad func([]byte, string)) {
	s := scanner{b: frame}
	if s.peek() != '[' {
		m := messageAt(&s)
		if !s.end() {
			bad(frame, "not a message")
			return
		}
		handle(m)
		return
	}
	for s.open('['); s.more(']'); {
		start := s.i
		m := messageAt(&s)
		if !s.bad {
			handle(m)
			continue
		}
		s = scanner{b: frame, i: start, depth: 1} // broken in meaning or in syntax?
		s.skip()
		if !s.bad {
			bad(frame[start:s.i], "not a message")
		} else {
			bad(frame[start:], "not JSON")
			return
		}
	}
	if !s.end() {
		bad(frame, "not JSON")
	}
}

// Sample is a message of Home Assistant that could not be decoded.
type Sample struct {
	At   time.Time
	Why  string
	Size int    // of the message, in bytes
	Head string // its beginning, secrets starred
}

// samples keeps the last of them for the doctor.
type samples struct {
	mu   sync.Mutex
	last []Sample
}

const (
	keepSamples = 20
	sampleHead  = 400
)

func (k *samples) add(raw []byte, why string, at time.Time) {
	head := string(raw[:min(len(raw), 4*sampleHead)])
	s := Sample{At: at, Why: why, Size: len(raw), Head: home.Clip(secret.Text(head), sampleHead)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = append(k.last, s)
	if len(k.last) > keepSamples {
		k.last = append(k.last[:0], k.last[1:]...)
	}
}

func (k *samples) list() []Sample {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]Sample(nil), k.last...)
}
