package journal

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

// Config is the journal's part of the configuration.
type Config struct {
	Rules []Rule // extra capture rules, before the defaults
	Alive string // file that says how far the journal came when it is killed; "" for none
}

// Journal is the house's memory of events.
type Journal struct {
	db      *store.DB
	house   *mirror.House
	watch   *mirror.Watch
	log     *slog.Logger
	h       *health.Registry
	policy  *policy
	dict    dictionary // the store's writer's
	durable atomic.Int64
	started time.Time
	path    string // of the alive file

	counters struct {
		seen, kept, filtered, lost, missed, attributes, otherEvents, known, unrecorded *atomic.Int64
	}

	mu       sync.Mutex // guards what follows
	begun    bool
	before   int64 // time of the newest change that an earlier run stored
	rows     []store.Row
	alive    *alive
	entities map[home.EntityID]*entity
	ring     ring
	waves    [waves]wave
	gap      *event    // the open gap while there is no link
	span     *span     // the open coverage while there is one
	refused  *event    // the gap since the store refused rows
	refusedN int64     // and how many it refused
	told     int       // how often something about links and gaps came up
	handed   int       // how much of that the store has been given
	handedAt time.Time // and when
	seq      uint64    // of the last change taken
	lastAt   time.Time // its time
	lastSeen time.Time // time of the last thing the house said
	wall     time.Time // when the changes at hand were taken
	marked   time.Time
	unmarked bool // rows were appended since the last mark
	waiters  []waiter
}

// waiter wants to know when the journal has taken change seq.
type waiter struct {
	seq  uint64
	done chan struct{}
}

// New makes a journal; Run feeds it. It already watches the house, so nothing
// is missed between New and Run. house may be nil: then only what is given to
// Record is kept.
func New(c Config, db *store.DB, house *mirror.House, log *slog.Logger, h *health.Registry) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if h == nil {
		h = new(health.Registry)
	}
	j := &Journal{db: db, house: house, log: log, h: h, started: time.Now(), path: c.Alive, entities: map[home.EntityID]*entity{}}
	j.policy = newPolicy(c.Rules, h.Counter)
	n := &j.counters
	n.seen, n.kept, n.filtered = h.Counter("journal.seen"), h.Counter("journal.kept"), h.Counter("journal.filtered")
	n.lost, n.missed = h.Counter("journal.lost"), h.Counter("journal.missed")
	n.attributes, n.otherEvents = h.Counter("journal.filtered.attributes"), h.Counter("journal.filtered.events")
	n.known, n.unrecorded = h.Counter("journal.filtered.known"), h.Counter("journal.unrecorded")
	if house != nil {
		j.watch = house.Watch("journal", mirror.Durable)
		j.seq = j.watch.From()
	}
	return j
}

const batch = 2048 // changes taken at once

// Run follows the durable stream until ctx ends; then it writes down what still
// waits and marks a clean end. It returns nil unless the stream broke.
func (j *Journal) Run(ctx context.Context) error {
	j.begin(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { j.tick(ctx) }) // ends with ctx; Run waits for it
	err := j.follow(ctx)
	cancel()
	wg.Wait()
	j.finish(context.WithoutCancel(ctx))
	return err
}

// begin records, once, how the last run ended. Whoever comes first does it, so
// that no answer is given before the gap since then is known.
func (j *Journal) begin(ctx context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun {
		return
	}
	j.begun = true
	j.before = j.newestBefore(ctx)
	ms := j.started.UnixMilli()
	row := startRow{j: j, now: ms, lived: readAlive(j.path), stopped: &event{j: j, kind: kindGap}, waiting: &event{j: j, kind: kindGap, at: ms, what: reasonWaiting}}
	j.gap = row.waiting
	if err := j.db.Commit(ctx, row); err != nil {
		j.log.Error("the journal's start could not be written; it waits", home.KeyError, err)
		j.db.Append(row)
	}
	j.handedAt = time.Now()
	j.marked = time.Now()
	var err error
	if j.alive, err = openAlive(j.path); err != nil {
		j.log.Warn("no alive file: after a crash the gap may begin up to a minute early", home.KeyError, err)
	}
}

func (j *Journal) follow(ctx context.Context) error {
	if j.watch == nil {
		<-ctx.Done()
		return nil
	}
	for {
		cs, lost, err := j.watch.Next(ctx, batch)
		switch {
		case err == nil:
			j.feed(cs, lost)
		case ctx.Err() != nil, errors.Is(err, io.EOF):
			return nil
		default:
			return home.Wrap(home.Internal, err, "follow the house")
		}
	}
}

// feed takes changes and wakes who waits for them.
func (j *Journal) feed(cs []home.Change, lost uint64) {
	var v *mirror.View
	if j.house != nil {
		v = j.house.View()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wall = time.Now()
	if lost > 0 && len(cs) > 0 {
		j.missed(lost, cs[0].At)
	}
	j.take(cs, v)
	left := j.waiters[:0]
	for _, w := range j.waiters {
		if w.seq <= j.seq {
			close(w.done)
		} else {
			left = append(left, w)
		}
	}
	j.waiters = left
}

// tick keeps what depends on time: the ends of waves, the mark, the condition.
func (j *Journal) tick(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			j.mu.Lock()
			j.settle(now)
			if n%5 == 0 {
				j.mark(now)
			}
			j.live(now)
			if waiting, _ := j.waiting(); waiting < batch {
				j.h.Clear(health.StoreBehind)
			}
			j.mu.Unlock()
		}
	}
}

// settle writes how far the waves have come. The caller holds j.mu.
func (j *Journal) settle(now time.Time) {
	j.rows = j.rows[:0]
	j.settleWaves(now)
	j.append(tally{})
}

// finish takes what still waits and marks a clean end.
func (j *Journal) finish(ctx context.Context) {
	if j.watch != nil {
		j.watch.Close()
		for {
			cs, lost, err := j.watch.Next(ctx, batch)
			if err != nil {
				break
			}
			j.feed(cs, lost)
		}
	}
	j.mu.Lock()
	alive := time.Now()
	j.rows = j.rows[:0]
	for i := range j.waves {
		j.waves[i].end(j)
	}
	if j.gap != nil && strings.HasSuffix(j.gap.what, home.OurStop) {
		// The link ended because Hearth does: one gap will tell, not two.
		alive = time.UnixMilli(j.gap.at)
		j.rows = append(j.rows, endRow{e: j.gap, till: j.gap.at})
		j.gap = nil
	}
	j.append(tally{})
	row := markRow{j: j, alive: alive.UnixMilli(), span: j.span, clean: true}
	j.span = nil
	j.mu.Unlock()
	if err := j.alive.close(); err != nil {
		j.log.Warn("the alive file stays open", home.KeyError, err)
	}
	if err := j.db.Commit(ctx, row); err != nil {
		j.log.Error("the journal's end could not be written: the next start will record a gap", home.KeyError, err)
	}
}

// waiting is how many changes were not taken yet and the oldest one's time.
func (j *Journal) waiting() (int, time.Time) {
	if j.watch == nil {
		return 0, time.Time{}
	}
	n, oldest := j.watch.Waiting()
	return n, oldest.At
}

// Lag is how far the journal is behind the mirror: changes waiting and the age
// of the oldest.
func (j *Journal) Lag() (waiting int, age time.Duration) {
	n, oldest := j.waiting()
	if n == 0 {
		return 0, 0
	}
	return n, time.Since(oldest)
}

// Unwritten is how many rows wait in memory for the disk.
func (j *Journal) Unwritten() int { return j.db.Waiting() }

// Lost is how much of this run could not be kept: changes the stream or the
// store had no room for, and records of our own calls.
func (j *Journal) Lost() int {
	n := &j.counters
	return int(n.lost.Load() + n.missed.Load() + n.unrecorded.Load())
}

// catchUp returns when everything the mirror has shown so far is in the
// database, so that an answer misses nothing the caller may have seen. It gives
// up after a while or with ctx; behind is then the time up to which the
// database is complete.
func (j *Journal) catchUp(ctx context.Context) (behind time.Time, err error) {
	j.begin(ctx)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err = j.taken(ctx)
	j.mu.Lock()
	j.settle(time.Now())
	j.mu.Unlock()
	if ferr := j.db.Flush(ctx); ferr != nil {
		err = ferr
	}
	if err != nil {
		behind = time.UnixMilli(j.durable.Load())
		if j.durable.Load() == 0 {
			behind = j.started
		}
	}
	return behind, err
}

// taken returns when the journal has taken, though not written, everything the
// mirror has shown so far.
func (j *Journal) taken(ctx context.Context) error {
	if j.house == nil {
		return nil
	}
	want := j.house.View().Seq()
	j.mu.Lock()
	if j.seq >= want {
		j.mu.Unlock()
		return nil
	}
	w := waiter{want, make(chan struct{})}
	j.waiters = append(j.waiters, w)
	j.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// seed looks up the last number kept of e before this start.
func (j *Journal) seed(e *entity) {
	e.seeded = true
	var s string
	where, arg := e.subject.where()
	// A missing row or a failing disk alike leave the entity without a last
	// number: the next one is kept.
	err := j.db.Reader().QueryRow(`SELECT ev.new FROM entity en JOIN event ev ON ev.entity = en.id
		WHERE `+where+` AND ev.kind = 1 AND ev.new IS NOT NULL ORDER BY ev.at DESC, ev.id DESC LIMIT 1`, arg).Scan(&s)
	if err != nil {
		return
	}
	e.last, e.has = number(s)
}
