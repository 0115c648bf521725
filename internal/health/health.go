// Package health keeps the conditions that are lit and cleared, and counters:
// one registry, read by the status tool, /metrics and the doctor.
//
// Conditions have fixed names; lighting an unknown one panics, so a typing
// error cannot pass a test. All methods may be called from any goroutine and
// never block. The zero Registry is ready to use.
//
//	var h health.Registry
//	h.Light(health.HassOffline, "connection refused")
//	defer h.Clear(health.HassOffline)
package health

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Name is a condition's name.
type Name string

// The conditions.
const (
	HassOffline  Name = "hass.offline"   // no link to Home Assistant
	HassAuth     Name = "hass.auth"      // the token is refused
	HassNotAdmin Name = "hass.not_admin" // the token is not an administrator's
	HassInsecure Name = "hass.insecure"  // the server's certificate is not verified
	HassFrames   Name = "hass.frames"    // frames that could not be decoded
	MirrorStale  Name = "mirror.stale"   // reads answer from a stored or fetched state
	StoreBehind  Name = "store.behind"   // the journal's queue filled
	StoreFull    Name = "store.full"     // the database cannot be written
	ClockSkew    Name = "clock.skew"     // our clock and the house's differ
	ConfigBroken Name = "config.broken"
)

// Severity orders conditions.
type Severity string

// The severities.
const (
	Warning Severity = "warning"
	Fault   Severity = "fault"
)

// Kind describes a condition: what it means and what to do.
type Kind struct {
	Name     Name
	Title    string
	Severity Severity
	Remedy   string
	NotReady bool // makes /ready fail when it lasts
}

// Kinds is the fixed list, by name.
func Kinds() []Kind {
	return []Kind{
		{HassOffline, "Home Assistant cannot be reached", Fault, "check that it runs and that ha.url is right; hearth doctor tells which hop fails", true},
		{HassAuth, "Home Assistant refuses the token", Fault, "make a new long-lived token and run hearth setup", true},
		{HassNotAdmin, "The token is not an administrator's", Warning, "run hearth setup with the token of an administrator, and it makes Hearth a user of its own; until then traces, automation bodies and the events of calls are missing", false},
		{HassInsecure, "Home Assistant's certificate is not verified", Warning, "set ha.ca_file to the certificate that signed it", false},
		{HassFrames, "Some messages of Home Assistant could not be read", Warning, "report it with the sample that hearth doctor shows", false},
		{MirrorStale, "Answers come from stored state", Warning, "they carry their age; the live link will replace them", false},
		{StoreBehind, "The journal cannot keep up", Warning, "give the disk time; a gap is recorded", false},
		{StoreFull, "The database cannot be written", Fault, "free disk space or make the data directory writable; nothing else stops", true},
		{ClockSkew, "The clocks of Hearth and the house differ", Warning, "synchronise both with a time server", false},
		{ConfigBroken, "The configuration has an error", Fault, "correct hearth.yaml and start again", true},
	}
}

// Condition is a condition that is lit.
type Condition struct {
	Kind
	Text  string    // what exactly
	Since time.Time // since when
}

// Registry holds the lit conditions and the counters.
type Registry struct {
	mu       sync.Mutex
	lit      map[Name]Condition
	counters sync.Map // string → *atomic.Int64
}

// Light lights a condition or replaces its text; Since stays.
func (r *Registry) Light(n Name, text string) {
	k, ok := kind(n)
	if !ok {
		panic("health: no condition " + string(n))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, was := r.lit[n]
	if !was {
		c = Condition{Kind: k, Since: time.Now()}
	}
	c.Text = text
	if r.lit == nil {
		r.lit = map[Name]Condition{}
	}
	r.lit[n] = c
}

// Clear clears a condition and reports whether it was lit.
func (r *Registry) Clear(n Name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, was := r.lit[n]
	delete(r.lit, n)
	return was
}

// Lit lists the lit conditions, faults first, then by name.
func (r *Registry) Lit() []Condition {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Condition, 0, len(r.lit))
	for _, c := range r.lit {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Severity != out[j].Severity {
			return out[i].Severity == Fault
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// Has gives a condition if it is lit.
func (r *Registry) Has(n Name) (Condition, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.lit[n]
	return c, ok
}

// Counter gives the counter of that name, made on first use. Names are
// dotted, lower case: "journal.kept".
func (r *Registry) Counter(name string) *atomic.Int64 {
	if c, ok := r.counters.Load(name); ok {
		return c.(*atomic.Int64)
	}
	c, _ := r.counters.LoadOrStore(name, new(atomic.Int64))
	return c.(*atomic.Int64)
}

// Counters copies all counters.
func (r *Registry) Counters() map[string]int64 {
	out := map[string]int64{}
	r.counters.Range(func(k, v any) bool {
		out[k.(string)] = v.(*atomic.Int64).Load()
		return true
	})
	return out
}

func kind(n Name) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == n {
			return k, true
		}
	}
	return Kind{}, false
}
