package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

// rig is a real store, mirror and journal that a test feeds by hand.
type rig struct {
	t     *testing.T
	path  string
	alive string // its alive file, "" for none
	db    *store.DB
	h     *health.Registry
	j     *Journal
	hs    *mirror.House
	w     *mirror.Writer
	now   time.Time
	stop  func()
	n     int
}

// rigStart is when rigs' houses begin: long ago enough that all lies in the past.
func rigStart() time.Time { return time.Now().UTC().Truncate(time.Second).Add(-time.Hour) }

func newRig(t *testing.T, rules ...Rule) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "hearth.db"), now: rigStart()}
	r.start(rules...)
	return r
}

// start opens the store and runs the journal; the house is empty.
func (r *rig) start(rules ...Rule) {
	r.t.Helper()
	r.h = new(health.Registry)
	db, err := store.Open(r.t.Context(), store.Config{Path: r.path}, slog.New(slog.DiscardHandler), r.h)
	if err != nil {
		r.t.Fatal(err)
	}
	r.db = db
	r.hs, r.w = mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), r.h)
	r.j = New(Config{Rules: rules, Alive: r.alive}, db, r.hs, nil, r.h)
	r.j.started = r.now
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := r.j.Run(ctx); err != nil {
			r.t.Error(err)
		}
	})
	once := sync.Once{}
	r.stop = func() {
		once.Do(func() {
			cancel()
			wg.Wait()
			if err := db.Close(); err != nil {
				r.t.Error(err)
			}
		})
	}
	r.t.Cleanup(r.stop)
}

// up brings the link up with the test house.
func (r *rig) up(states ...home.Patch) {
	r.w.Apply(home.Report{Kind: home.ReportLink, Up: true, At: r.tick()})
	r.w.Apply(home.Report{Kind: home.ReportSnapshot, At: r.tick(), Registries: testHouse(), Patches: states, Info: &home.Info{Zone: "Europe/Amsterdam"}})
}

func (r *rig) tick() time.Time {
	r.now = r.now.Add(10 * time.Millisecond)
	return r.now
}

func (r *rig) pass(d time.Duration) { r.now = r.now.Add(d) }

func full(id, value, attrs string, at time.Time) home.Patch {
	return home.Patch{ID: home.EntityID(id), Full: true, Value: &value, Set: json.RawMessage(attrs), Changed: at, Updated: at, Context: &home.Context{}}
}

// set changes an entity's value and attributes under a context.
func (r *rig) set(id, value, attrs string, c home.Context) time.Time {
	at := r.tick()
	r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: []home.Patch{r.patch(id, value, attrs, c, at)}})
	return at
}

func (r *rig) patch(id, value, attrs string, c home.Context, at time.Time) home.Patch {
	p := home.Patch{ID: home.EntityID(id), Updated: at, Context: &c}
	if s := r.hs.View().State(p.ID); s == nil {
		p.Full, p.Value, p.Set, p.Changed = true, &value, json.RawMessage(attrs), at
		return p
	} else if s.Value != value {
		p.Value, p.Changed = &value, at
	}
	if attrs != "" {
		p.Set = json.RawMessage(attrs)
	}
	return p
}

func (r *rig) event(kind, data string, c home.Context) time.Time {
	at := r.tick()
	r.w.Apply(home.Report{Kind: home.ReportEvent, At: at, Event: &home.Event{Type: kind, Fired: at, Origin: "LOCAL", Context: c, Data: json.RawMessage(data)}})
	return at
}

// ctx makes a fresh context id that looks like Home Assistant's.
func (r *rig) ctx() string {
	r.n++
	return fmt.Sprintf("01M8PHPZVATRGA3VNRQKB%05d", r.n)
}

// query asks over the rig's time and fails the test on an error.
func (r *rig) query(q Query) Page {
	r.t.Helper()
	if q.From.IsZero() {
		q.From = r.now.Add(-2 * time.Hour)
	}
	if q.To.IsZero() {
		q.To = r.now.Add(time.Hour)
	}
	if q.Now.IsZero() {
		q.Now = r.now
	}
	p, err := r.j.Query(r.t.Context(), home.Everything(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) count(name string) int64 { return r.h.Counter(name).Load() }

// testHouse is a small house: a kitchen with lamps, an automation, a script.
func testHouse() *home.Registries {
	row := func(id, rid, name string, area home.AreaID) home.Entity {
		return home.Entity{ID: home.EntityID(id), RegistryID: rid, UniqueID: rid, Platform: "demo", OwnName: name, OwnArea: area}
	}
	hidden := row("light.secret", "r9", "Secret", "kitchen")
	hidden.HiddenBy = "user"
	return &home.Registries{
		Entities: []home.Entity{
			row("light.kitchen_lights", "r1", "Kitchen Lights", "kitchen"),
			row("light.ceiling_lights", "r2", "Ceiling Lights", "kitchen"),
			row("sensor.kitchen_power", "r3", "Kitchen power", "kitchen"),
			row("input_boolean.guest_mode", "r4", "Guest mode", ""),
			row("automation.guests", "r5", "Guests make the kitchen bright", ""),
			row("script.announce", "r6", "Announce", ""),
			row("lock.front", "r7", "Front door", "hall"),
			row("binary_sensor.kuchenfenster", "r8", "Küchenfenster", "kitchen"),
			hidden,
		},
		Devices: []home.Device{},
		Areas:   []home.Area{{ID: "kitchen", Name: "Kitchen", Floor: "ground"}, {ID: "hall", Name: "Hall", Floor: "ground"}},
		Floors:  []home.Floor{{ID: "ground", Name: "Ground"}},
		Labels:  []home.Label{},
		Users:   []home.User{{ID: "u1", Name: "Anna Account", Person: "person.anna"}, {ID: "u2", Name: "Hearth"}},
	}
}

func testStates(at time.Time) []home.Patch {
	return []home.Patch{
		full("light.kitchen_lights", "off", `{"friendly_name":"Kitchen Lights"}`, at),
		full("light.ceiling_lights", "on", `{"brightness":100}`, at),
		full("light.secret", "off", `{}`, at),
		full("sensor.kitchen_power", "3", `{"unit_of_measurement":"W","device_class":"power"}`, at),
		full("input_boolean.guest_mode", "off", `{}`, at),
		full("automation.guests", "on", `{}`, at),
		full("script.announce", "off", `{}`, at),
		full("lock.front", "locked", `{}`, at),
		full("binary_sensor.kuchenfenster", "off", `{"device_class":"window"}`, at),
		full("person.anna", "home", `{"friendly_name":"Anna"}`, at),
		full("input_text.note", "", `{}`, at),
	}
}
