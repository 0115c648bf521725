package hass

import (
	"context"
	"sync"
	"time"

	"hearth/internal/home"
)

// The rhythm of the lists.
const (
	settleTime   = 100 * time.Millisecond // events are gathered so long before the lists are read again
	listGap      = time.Second            // between two reads of the same list
	retryTime    = 5 * time.Second        // after a list could not be read
	startingTime = 5 * time.Second        // between two looks at a house that is starting
	refreshTime  = 10 * time.Minute       // everything is read again
	resyncGap    = time.Minute            // between two snapshots that broken frames asked for
)

// list names what is read as a whole.
type list uint8

const (
	listDevices list = iota
	listAreas
	listFloors
	listLabels
	listUsers
	listServices
	listInfo
	listEntities // all of the entity registry
	lists
)

// keeper keeps the lists of one session true: it makes the snapshot, and reads
// again what events or time say has changed. All its reads are in one goroutine,
// so a list never overtakes a newer one.
type keeper struct {
	s      *session
	bodies *bodies
	wake   chan struct{} // takes one

	mu      sync.Mutex
	dirty   [lists]bool
	touched map[home.EntityID]bool          // rows of the entity registry to read again
	renamed map[home.EntityID]home.EntityID // old id → new id
	urgent  bool                            // do not gather: a rename must not wait
	want    bool                            // a fresh snapshot, now
	lost    bool                            // a frame was lost: a fresh snapshot, in time
	lostAt  time.Time                       // when one was last made for that

	read    [lists]time.Time // when a list was last asked for; run's
	state   string           // of the house: RUNNING, STARTING…; run's
	persons map[string]home.EntityID
	me      userRow // the account of our own token; run's
}

func newKeeper(s *session) *keeper {
	k := &keeper{
		s: s, wake: make(chan struct{}, 1),
		touched: map[home.EntityID]bool{}, renamed: map[home.EntityID]home.EntityID{}, persons: map[string]home.EntityID{},
	}
	k.bodies = newBodies(s)
	return k
}

// mark says that a list has to be read again.
func (k *keeper) mark(l list) {
	k.mu.Lock()
	k.dirty[l] = true
	k.mu.Unlock()
	k.poke()
}

// entityChanged says that a row of the entity registry was made, changed,
// removed, or renamed from old.
func (k *keeper) entityChanged(id, old home.EntityID) {
	k.mu.Lock()
	if id != "" {
		k.touched[id] = true
	}
	if old != "" && old != id {
		k.touched[old] = true
		k.renamed[old] = id
		k.urgent = true
	}
	k.mu.Unlock()
	k.poke()
}

// appeared looks at an entity that came or went; inFull says that it is part of
// a full state, around which the lists are read anyway.
func (k *keeper) appeared(p *home.Patch, inFull bool) {
	switch p.ID.Domain() {
	case "person":
		if !inFull {
			k.mark(listUsers)
		}
	case "automation", "script", "scene":
		k.bodies.appeared(p, inFull)
	}
}

// resync asks for a fresh snapshot because a frame was lost: at once, or when
// the last one that was asked for so is long enough ago.
func (k *keeper) resync() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = true
	k.poke()
}

// resyncNow asks for a fresh snapshot because a person wants one.
func (k *keeper) resyncNow() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.want = true
	k.poke()
}

func (k *keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run makes the snapshot and then keeps the lists until the session ends.
func (k *keeper) run(ctx context.Context) error {
	if err := k.identify(ctx); err != nil {
		return err
	}
	if err := k.subscribe(ctx); err != nil {
		return err
	}
	if err := k.snapshot(ctx, true); err != nil {
		return err
	}
	k.bodies.open()
	refresh := time.NewTicker(refreshTime)
	defer refresh.Stop()
	next := time.NewTimer(startingTime)
	defer next.Stop()
	due := time.Now().Add(startingTime)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-refresh.C:
			k.markAll()
			k.s.c.calm()
			k.s.c.askTime(ctx)
		case <-k.wake:
			wait := settleTime
			if k.hurried() {
				wait = 0
			}
			if at := time.Now().Add(wait); at.Before(due) { // else a storm would put it off for ever
				due = at
				next.Reset(wait)
			}
		case <-next.C:
			wait, err := k.work(ctx)
			if err != nil {
				return err
			}
			due = time.Now().Add(wait)
			next.Reset(wait)
		}
	}
}

func (k *keeper) hurried() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.urgent || k.want || k.lost
}

// markAll is the slow safety refresh: whatever an event failed to say.
func (k *keeper) markAll() {
	k.mu.Lock()
	for l := range k.dirty {
		k.dirty[l] = true
	}
	k.mu.Unlock()
	k.poke()
}

// work reads again what is marked, and says when to look next. Its error ends
// the session; a list that cannot be read is tried again.
func (k *keeper) work(ctx context.Context) (next time.Duration, err error) {
	now, next := k.wanted(time.Now())
	if now {
		if err := k.snapshot(ctx, false); err != nil {
			return 0, err
		}
	}
	if err := k.entities(ctx); err != nil {
		if k.s.over() != nil {
			return 0, err
		}
		k.s.c.log.Warn("the entity registry could not be read; it will be tried again", home.KeyError, err)
		next = retryTime
	}
	todo, wait := k.due(time.Now())
	next = min(next, wait)
	for _, l := range todo {
		if err := k.reread(ctx, l); err != nil {
			if k.s.over() != nil {
				return 0, err
			}
			k.s.c.log.Warn("a list of Home Assistant could not be read; it will be tried again", home.KeyList, l.String(), home.KeyError, err)
			k.again(l)
			next = min(next, retryTime)
		}
	}
	if k.state != "RUNNING" { // who may not hear homeassistant_started looks
		k.again(listInfo)
		next = min(next, startingTime)
	}
	return next, nil
}

// wanted reports whether a snapshot is due now, and when to look again.
func (k *keeper) wanted(now time.Time) (due bool, next time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next = refreshTime
	if left := resyncGap - now.Sub(k.lostAt); k.lost && left > 0 && !k.want {
		return false, left
	}
	due = k.want || k.lost
	if k.lost {
		k.lostAt = now
	}
	k.want, k.lost = false, false
	return due, next
}

// again marks a list without waking anybody.
func (k *keeper) again(l list) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dirty[l] = true
}

// due takes the marked lists whose last read is long enough ago, and says when
// the others will be.
func (k *keeper) due(now time.Time) (todo []list, wait time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait = refreshTime
	for l := range lists {
		if !k.dirty[l] {
			continue
		}
		if left := listGap - now.Sub(k.read[l]); left > 0 {
			wait = min(wait, left)
			continue
		}
		k.dirty[l] = false
		k.read[l] = now
		todo = append(todo, l)
	}
	return todo, wait
}

func (l list) String() string {
	return [...]string{"devices", "areas", "floors", "labels", "users", "services", "config", "entities"}[l]
}
