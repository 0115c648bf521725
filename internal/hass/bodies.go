package hass

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hearth/internal/home"
)

const (
	bodyWorkers = 4                // requests for bodies at once
	bodyChunk   = 64               // bodies in one report
	bodyRetry   = 30 * time.Second // after one could not be read
	reloadTime  = 2 * time.Second  // what a reload needs before the new bodies are there
)

// bodies reads what automations, scripts and scenes consist of, in the
// background, and again when they may have changed.
type bodies struct {
	s    *session
	wake chan struct{} // takes one

	mu    sync.Mutex
	known map[home.EntityID]string    // with the config id of scenes, "" otherwise
	due   map[home.EntityID]time.Time // when to read which
	ready bool                        // the snapshot is through
}

func newBodies(s *session) *bodies {
	return &bodies{s: s, wake: make(chan struct{}, 1), known: map[home.EntityID]string{}, due: map[home.EntityID]time.Time{}}
}

// open lets the reading begin.
func (b *bodies) open() {
	b.mu.Lock()
	b.ready = true
	b.mu.Unlock()
	b.poke()
}

func (b *bodies) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// appeared looks at an automation, script or scene that came, went or was made
// anew. inFull says that it is part of a full state: whoever takes that doubts
// all bodies by itself.
func (b *bodies) appeared(p *home.Patch, inFull bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case p.Removed:
		delete(b.known, p.ID)
		delete(b.due, p.ID)
	case p.Full && p.ID.Domain() == "scene":
		b.known[p.ID] = configID(p.Set)
		b.due[p.ID] = time.Now()
	case p.Full || p.ID.Domain() != "scene":
		b.known[p.ID] = ""
		b.due[p.ID] = time.Now()
	default: // a scene that comes back keeps its config id
		b.due[p.ID] = time.Now()
	}
	if !inFull {
		b.doubt(p.ID)
	}
	b.poke()
}

// remade reports whether a difference shows that an entity is being taken out
// and put in again, as a reload does with those whose text changed: it goes to
// unavailable, and comes back from having been restored.
func remade(p *home.Patch) bool {
	if (p.Value == nil || *p.Value != home.Unavailable) && !slices.Contains(p.Unset, "restored") {
		return false
	}
	switch p.ID.Domain() {
	case "automation", "script", "scene":
		return true
	}
	return false
}

// doubt reports bodies as old until they have been read again. mu is held, so
// that no text that was read before can come after it.
func (b *bodies) doubt(ids ...home.EntityID) {
	if len(ids) == 0 {
		return
	}
	old := make([]home.Body, len(ids))
	for i, id := range ids {
		old[i] = home.Body{Entity: id, Old: true}
	}
	b.s.flow.emit(home.Report{Kind: home.ReportBodies, At: time.Now(), Bodies: old})
}

// configID is the attribute "id" of a scene that has one.
func configID(attrs []byte) (id string) {
	s := scanner{b: attrs}
	for s.open('{'); s.more('}'); {
		if string(s.key()) == "id" && s.peek() == '"' {
			id = s.text()
		} else {
			s.skip()
		}
	}
	return id
}

// called looks for the reloads that announce themselves only as calls.
func (b *bodies) called(d eventData) {
	switch {
	case d.service == "reload" && (d.domain == "automation" || d.domain == "script" || d.domain == "scene"):
		b.again(d.domain, reloadTime)
	case d.domain == "homeassistant" && d.service == "reload_all":
		for _, domain := range []string{"automation", "script", "scene"} {
			b.again(domain, reloadTime)
		}
	}
}

// again reads all bodies of a domain once more, after wait, and doubts them
// until then.
func (b *bodies) again(domain string, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := time.Now().Add(wait)
	var ids []home.EntityID
	for id := range b.known {
		if id.Domain() == domain {
			b.due[id] = at
			ids = append(ids, id)
		}
	}
	b.doubt(ids...)
	b.poke()
}

// job is one body to read.
type job struct {
	id     home.EntityID
	config string
}

// take gives the jobs that are due, at most bodyChunk, and how long to wait for
// the next where there are none.
func (b *bodies) take(now time.Time) (jobs []job, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait = time.Hour
	if !b.ready {
		return nil, wait
	}
	for id, at := range b.due {
		if left := at.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		jobs = append(jobs, job{id, b.known[id]})
		delete(b.due, id)
		if len(jobs) == bodyChunk {
			break
		}
	}
	return jobs, wait
}

// run reads what is due until the session ends.
func (b *bodies) run(ctx context.Context) error {
	for {
		jobs, wait := b.take(time.Now())
		if len(jobs) > 0 {
			b.read(ctx, jobs)
			continue
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case <-b.wake:
			t.Stop()
		case <-t.C:
		}
	}
}

// read reads the bodies of jobs and reports those that came; the others are
// tried again later.
func (b *bodies) read(ctx context.Context, jobs []job) {
	got := make([]home.Body, len(jobs))
	var g errgroup.Group
	g.SetLimit(bodyWorkers)
	for i, j := range jobs {
		g.Go(func() error {
			body, err := b.one(ctx, j)
			if err != nil {
				b.later(j.id, err)
				return nil
			}
			got[i] = body
			return nil
		})
	}
	_ = g.Wait() // a body that fails is not the others' fault
	b.mu.Lock()
	defer b.mu.Unlock()
	read := got[:0]
	for _, body := range got {
		// What is due once more may have been read before it changed.
		if _, again := b.due[body.Entity]; body.Entity != "" && !again {
			read = append(read, body)
		}
	}
	if len(read) > 0 {
		b.s.flow.emit(home.Report{Kind: home.ReportBodies, At: time.Now(), Bodies: read})
	}
}

func (b *bodies) later(id home.EntityID, err error) {
	if b.s.over() != nil {
		return
	}
	b.s.c.log.Debug("a body could not be read; it will be tried again", home.KeyEntity, id, home.KeyError, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, still := b.known[id]; still {
		b.due[id] = time.Now().Add(bodyRetry)
	}
}

// one reads one body. The WebSocket gives automations and scripts from Home
// Assistant's memory, those written in YAML included, without a look at its
// files; scenes are only had over REST.
func (b *bodies) one(ctx context.Context, j job) (home.Body, error) {
	body := home.Body{Entity: j.id, Fetched: time.Now()}
	if admin, known := b.s.c.Admin(); known && !admin {
		body.Missing = home.NoRights
		return body, nil
	}
	var err error
	if j.id.Domain() == "scene" {
		if j.config == "" {
			body.Missing = home.NoID
			return body, nil
		}
		body.Config, err = b.s.c.Body(ctx, "scene", j.config)
	} else {
		body.Config, err = b.config(ctx, j.id)
	}
	switch home.CodeOf(err) {
	case "":
		if body.Config == nil {
			body.Missing = home.NoText
		}
		return body, nil
	case home.NotFound:
		body.Missing = home.NoText
		return body, nil
	case home.Denied:
		body.Missing = home.NoRights
		return body, nil
	}
	return body, err
}

func (b *bodies) config(ctx context.Context, id home.EntityID) (json.RawMessage, error) {
	raw, err := b.s.do(ctx, id.Domain()+"/config", map[string]any{"entity_id": id})
	if err != nil {
		return nil, err
	}
	var out struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	if string(out.Config) == "null" {
		return nil, nil
	}
	return out.Config, nil
}
