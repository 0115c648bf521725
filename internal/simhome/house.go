package simhome

import (
	"container/heap"
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options say what house to simulate.
type Options struct {
	Seed     uint64
	Entities int       // extra filler entities so that the house has this many; 0: the default house
	Start    time.Time // the house's clock starts here; zero: now
	Life     bool      // let the hour of believable life run
	Plain    bool      // leave out the second floor plan: only what the real test house has
	Log      *slog.Logger
}

// House is the simulated house. Its methods may be called from any goroutine.
type House struct {
	o    Options
	log  *slog.Logger
	wake chan struct{} // Run looks at its agenda again

	mu          sync.Mutex
	rng         *rand.Rand
	born        time.Time // on the machine's clock
	start       time.Time // on the house's clock
	last        time.Time // no two changes share a moment
	states      map[string]*state
	order       []string // ids in the order they appeared
	held        map[string]heldCause
	reg         registries
	users       []*user
	tokens      map[string]*user  // access token → user
	codes       map[string]*user  // authorization code → user
	sessions    map[string]string // refresh token → access token
	flows       map[string]bool   // login flows begun
	config      map[string]any
	catalog     map[string]*service
	conns       map[*conn]struct{}
	subs        []*subscription
	past        recorder
	runs        map[string]*machine // automations and scripts by entity id
	todo        map[string][]todoItem
	agenda      agenda
	seq         int
	ticks       []func()
	minds       map[string]*mind
	followers   map[string][]follower
	computed    set                 // what follows something
	groupsOf    map[string][]string // member → groups
	triggeredBy map[string][]string // entity → automations
	quiet       bool                // changes trigger nothing: the house is starting
	faults      faults
	calls       map[string]int
}

// heldCause is the context an entity keeps for a while after a call.
type heldCause struct {
	cause
	at time.Time
}

// keepContext is how long Home Assistant keeps a call's context on an entity.
const keepContext = 5 * time.Second

// New builds the house. Nothing runs yet: delays, effects and life need Run or Serve.
func New(o Options) *House {
	h := &House{o: o, log: o.Log, wake: make(chan struct{}, 1)}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.rng = rand.New(rand.NewPCG(o.Seed, 0x5eed))
	h.born = time.Now()
	h.start = o.Start
	if h.start.IsZero() {
		h.start = h.born
	}
	h.conns = map[*conn]struct{}{}
	h.calls = map[string]int{}
	h.build()
	return h
}

// build puts the furniture in; a restart does it again.
func (h *House) build() {
	h.states = map[string]*state{}
	h.held = map[string]heldCause{}
	h.minds = map[string]*mind{}
	h.runs = map[string]*machine{}
	h.todo = map[string][]todoItem{}
	h.past = recorder{states: map[string][]*state{}}
	h.loadHouse()
	if !h.o.Plain {
		h.loadSecondPlan()
	}
	h.fill(h.o.Entities)
	h.loadServices()
	h.loadUsers()
	if h.o.Life {
		h.planLife()
	}
}

// Handler serves /api, /api/websocket and /auth.
func (h *House) Handler() http.Handler { return h.routes() }

// Run lives (life, delays, effects) until ctx ends.
func (h *House) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-h.wake:
		}
		timer.Reset(h.runDue())
	}
}

// runDue does everything that is due and says how long until the next thing is.
func (h *House) runDue() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.agenda) > 0 {
		if wait := time.Until(h.agenda[0].at); wait > 0 {
			return wait
		}
		heap.Pop(&h.agenda).(*task).do()
		h.settle()
	}
	return time.Hour
}

// Serve serves any listener until ctx ends (Run included).
func (h *House) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:  h.Handler(),
		ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	var wg sync.WaitGroup
	wg.Go(func() { h.Run(ctx) }) // ends with ctx
	wg.Go(func() {               // ends with ctx
		<-ctx.Done()
		srv.Close()
		h.Heal()
		h.dropAll("house closed")
	})
	err := srv.Serve(h.guard(l))
	over := ctx.Err() != nil
	cancel()
	wg.Wait()
	if over {
		return nil
	}
	return err
}

// Now is the house's clock.
func (h *House) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now()
}

// now is the house's clock, later than anything that happened before.
func (h *House) now() time.Time {
	t := h.start.Add(time.Since(h.born)).UTC().Truncate(time.Microsecond)
	if !t.After(h.last) {
		t = h.last.Add(time.Microsecond)
	}
	h.last = t
	return t
}

// Set changes an entity as a device would (no user, fresh context): attrs are
// merged into those it has. An entity that did not exist appears.
func (h *House) Set(id, value string, attrs map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write(id, value, merged(h.attrs(id), attrs), h.newCause("", ""))
	h.settle()
}

// Remove takes an entity's state away.
func (h *House) Remove(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unwrite(id, h.newCause("", ""))
	h.settle()
}

// States is how many entities have a state.
func (h *House) States() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.states)
}

// Value is the state of an entity now, "" when it has none.
func (h *House) Value(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.states[id]; s != nil {
		return s.value
	}
	return ""
}

func (h *House) attrs(id string) map[string]any {
	if s := h.states[id]; s != nil {
		return s.attrs
	}
	return nil
}

// merged is a copy of base with more laid over it.
func merged(base, more map[string]any) map[string]any {
	m := make(map[string]any, len(base)+len(more))
	for k, v := range base {
		m[k] = v
	}
	for k, v := range more {
		m[k] = v
	}
	return m
}

// crockford is the alphabet of Home Assistant's ULIDs.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// newCause makes a context with a fresh ULID.
func (h *House) newCause(parent, user string) cause {
	var b [26]byte
	ms := uint64(h.start.Add(time.Since(h.born)).UnixMilli())
	for i := 9; i >= 0; i-- {
		b[i] = crockford[ms&31]
		ms >>= 5
	}
	r := h.rng.Uint64()
	for i := 10; i < 26; i++ {
		if i == 18 {
			r = h.rng.Uint64()
		}
		b[i] = crockford[r&31]
		r >>= 5
	}
	return cause{ID: string(b[:]), Parent: parent, User: user}
}

// hexID makes an id of 32 hexadecimal digits, as registries and runs have.
func (h *House) hexID() string {
	const digits = "0123456789abcdef"
	var b [32]byte
	for i := range b {
		b[i] = digits[h.rng.IntN(16)]
	}
	return string(b[:])
}

// task is something to do later.
type task struct {
	at  time.Time
	seq int
	do  func()
}

// agenda is a heap of tasks by time, then by order of booking.
type agenda []*task

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*task)) }
func (a *agenda) Pop() any {
	old := *a
	t := old[len(old)-1]
	*a = old[:len(old)-1]
	return t
}

// after books do for d from now; Run does it with the house locked.
func (h *House) after(d time.Duration, do func()) {
	h.seq++
	heap.Push(&h.agenda, &task{at: time.Now().Add(d), seq: h.seq, do: do})
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// soon books do for right after what is being done now.
func (h *House) soon(do func()) { h.ticks = append(h.ticks, do) }

// settle does what was booked for right after.
func (h *House) settle() {
	for len(h.ticks) > 0 {
		do := h.ticks[0]
		h.ticks = h.ticks[1:]
		do()
	}
}
