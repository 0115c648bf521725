package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"hearth/internal/daemon"
	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/secret"
	"hearth/internal/simhome"
	"hearth/internal/store"
)

// mcpPart: one entity read over MCP, each era, at 5,000 entities; start; catalogue.
func mcpPart(ctx context.Context, b *bench) error {
	s, err := startSim(ctx, 5000)
	if err != nil {
		return err
	}
	defer s.stop()
	snapshot, err := snapshotTime(ctx, s)
	if err != nil {
		return err
	}
	srv, err := startServer(ctx, b.bin, s, "")
	if err != nil {
		return err
	}
	defer srv.close()
	answered, err := firstAnswer(srv, "light.kitchen_lights")
	if err != nil {
		return err
	}
	b.say("the house's own snapshot at 5,000, read by a plain client", "%.0f ms", ms(snapshot))
	b.hold("start → first answered call, beyond the snapshot, 5,000 entities", ms(answered-snapshot), 300, "ms")
	if _, err := srv.live(ctx, s); err != nil {
		return err
	}
	n := 4000
	if b.short {
		n = 800
	}
	for _, modern := range []bool{true, false} {
		era := map[bool]string{true: "2026-07-28", false: "2025-11-25, session"}[modern]
		c, err := newClient(srv, modern)
		if err != nil {
			return err
		}
		read := func(int) error {
			_, err := c.call("entity_get", map[string]any{"entity_id": "light.kitchen_lights"})
			return err
		}
		if _, err := load(300, 1, read); err != nil {
			return err
		}
		cpu := srv.cpu()
		all, err := load(n, 1, read)
		if err != nil {
			return err
		}
		used := srv.cpu() - cpu
		b.hold("one entity read, "+era+", p50", all.at(0.5), 1, "ms")
		b.say("one entity read, "+era+", p99", "%.2f ms", all.at(0.99))
		b.hold("one entity read, "+era+", Hearth's CPU a call", float64(used.Microseconds())/float64(n), 450, "µs")
		if modern {
			text, err := c.call("entity_get", map[string]any{"entity_id": "light.kitchen_lights"})
			if err != nil {
				return err
			}
			b.hold("one entity read, text", float64(len(text)), 1200, "bytes")
			list, err := c.post("tools/list", map[string]any{})
			if err != nil {
				return err
			}
			b.hold("tools/list, standard profile", float64(len(list)), 24*1024, "bytes")
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// snapshotTime is how long the house itself takes to hand out registries and states.
func snapshotTime(ctx context.Context, s *sim) (time.Duration, error) {
	begun := time.Now()
	client, _, err := hass.New(hass.Config{URL: s.url, Token: secret.New(s.HearthToken())}, slog.New(slog.DiscardHandler), &health.Registry{})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() { // ends with ctx
		client.Run(ctx, func(r home.Report) {
			if r.Kind == home.ReportSnapshot {
				select {
				case seen <- struct{}{}:
				default:
				}
			}
		})
		close(ended)
	}()
	select {
	case <-seen:
	case <-time.After(time.Minute):
		return 0, fmt.Errorf("no snapshot within a minute")
	}
	took := time.Since(begun)
	cancel()
	<-ended
	return took, nil
}

// firstAnswer is the time from the start of the process to the first answered read.
func firstAnswer(srv *server, id string) (time.Duration, error) {
	c, err := newClient(srv, true)
	if err != nil {
		return 0, err
	}
	for time.Since(srv.began) < time.Minute {
		if _, err = c.call("entity_get", map[string]any{"entity_id": id}); err == nil {
			return time.Since(srv.began), nil
		}
		time.Sleep(time.Millisecond)
	}
	return 0, err
}

// local is mirror and search of this process, fed by a simulated house.
type local struct {
	house *mirror.House
	index *recall.Index
	stop  func()
}

func startLocal(ctx context.Context, s *sim) (*local, error) {
	dir, err := os.MkdirTemp("", "hearth-bench-")
	if err != nil {
		return nil, err
	}
	log, lit := slog.New(slog.DiscardHandler), &health.Registry{}
	db, err := store.Open(ctx, store.Config{Path: filepath.Join(dir, "hearth.db")}, log, lit)
	if err != nil {
		return nil, err
	}
	house, writer := mirror.New(mirror.Config{Site: "ha"}, db, log, lit)
	client, _, err := hass.New(hass.Config{URL: s.url, Token: secret.New(s.HearthToken())}, log, lit)
	if err != nil {
		return nil, err
	}
	index := recall.New(house)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{}, 2)
	go func() { client.Run(ctx, writer.Apply); ended <- struct{}{} }() // both end with ctx
	go func() { index.Run(ctx); ended <- struct{}{} }()
	wait, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if _, ok := house.Await(wait, func(v *mirror.View) bool {
		_, stale := v.Stale()
		return !stale && v.Count(home.Everything()) >= s.States()
	}); !ok {
		cancel()
		return nil, fmt.Errorf("the mirror did not come up")
	}
	return &local{house, index, func() { cancel(); <-ended; <-ended; db.Close(); os.RemoveAll(dir) }}, nil
}

// enginePart: search at 10,000 and the way of a change into the mirror at 5,000, inside one process.
func enginePart(ctx context.Context, b *bench) error {
	s, err := startSim(ctx, 10000)
	if err != nil {
		return err
	}
	l, err := startLocal(ctx, s)
	if err != nil {
		s.stop()
		return err
	}
	queries := searchQueries(l.house.View())
	if err := indexed(ctx, l, queries[0]); err != nil {
		return err
	}
	var all spread
	found := 0
	for _, q := range queries {
		t := time.Now()
		hits, _ := l.index.Find(home.Visible(), recall.Query{Text: q, Limit: 10})
		all = append(all, time.Since(t))
		if len(hits) > 0 {
			found++
		}
	}
	slices.Sort(all)
	b.hold("search at 10,000 entities, half of the words misspelt, p99", all.at(0.99), 5, "ms")
	b.say("search at 10,000 entities, p50", "%.2f ms", all.at(0.5))
	b.say("searches that found something", "%d of %d", found, len(queries))
	l.stop()
	s.stop()

	if s, err = startSim(ctx, 5000); err != nil {
		return err
	}
	defer s.stop()
	if l, err = startLocal(ctx, s); err != nil {
		return err
	}
	defer l.stop()
	var ways spread
	for i := range 600 {
		want := strconv.Itoa(100000 + i)
		t := time.Now()
		s.Set("sensor.outside_temperature", want, nil)
		wait, done := context.WithTimeout(ctx, 5*time.Second)
		_, ok := l.house.Await(wait, func(v *mirror.View) bool {
			st := v.State("sensor.outside_temperature")
			return st != nil && st.Value == want
		})
		done()
		if !ok {
			return fmt.Errorf("change %d never came", i)
		}
		ways = append(ways, time.Since(t))
	}
	slices.Sort(ways)
	b.hold("change in the house → in the mirror, 5,000 entities, p99", ways.at(0.99), 5, "ms")
	b.say("change in the house → in the mirror, p50", "%.2f ms", ways.at(0.5))
	return nil
}

// indexed waits until the index answers.
func indexed(ctx context.Context, l *local, q string) error {
	for range 2000 {
		if hits, _ := l.index.Find(home.Visible(), recall.Query{Text: q}); len(hits) > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return fmt.Errorf("the index did not come up")
}

// searchQueries are names of the house as people type them: every second one with a typing error.
func searchQueries(v *mirror.View) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []string
	i := 0
	for e := range v.Entities(home.Visible(), mirror.Filter{}) {
		if i++; i%10 != 0 || len(e.Name) < 6 {
			continue
		}
		name := []rune(e.Name)
		if len(out)%2 == 1 {
			p := 1 + rng.IntN(len(name)-2)
			name[p], name[p-1] = name[p-1], name[p]
		}
		out = append(out, string(name))
	}
	return out
}

// ingestPart: from the socket into the journal.
func ingestPart(ctx context.Context, b *bench) error {
	s, err := startSim(ctx, 5000)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, run := range []struct {
		rate int
		d    time.Duration
	}{{12000, 60 * time.Second}, {20000, 5 * time.Second}} {
		if b.short {
			run.d = min(run.d, 10*time.Second)
		}
		srv, err := startServer(ctx, b.bin, s, "")
		if err != nil {
			return err
		}
		if err := flood(ctx, b, s, srv, run.rate, run.d); err != nil {
			srv.close()
			return err
		}
		srv.close()
	}
	return nil
}

func flood(ctx context.Context, b *bench, s *sim, srv *server, rate int, d time.Duration) error {
	if _, err := srv.live(ctx, s); err != nil {
		return err
	}
	quiet, err := settled(ctx, srv)
	if err != nil {
		return err
	}
	cpu, begun := srv.cpu(), time.Now()
	sent, err := s.FloodMix(ctx, simhome.Mix{Rate: rate, For: d})
	if err != nil {
		return err
	}
	took := time.Since(begun)
	end, err := srv.until(ctx, 30*time.Second, func(st daemon.Status) bool {
		return st.Waiting == 0 && st.Counters["journal.seen"]-quiet.Counters["journal.seen"] >= int64(sent)
	})
	if err != nil {
		return err
	}
	lag := time.Since(begun) - took
	used := srv.cpu() - cpu
	diff := func(name string) int64 { return end.Counters[name] - quiet.Counters[name] }
	what := fmt.Sprintf("ingest at %d/s for %s: ", rate, d)
	b.reach(what+"events a second", float64(sent)/took.Seconds(), float64(rate)*0.99, "/s")
	b.hold(what+"Hearth's CPU an event", float64(used.Microseconds())/float64(sent), 60, "µs")
	b.hold(what+"time until all was taken in after the last", ms(lag), 1000, "ms")
	b.hold(what+"sent beside kept + filtered, difference", abs(float64(int64(sent)-diff("journal.kept")-diff("journal.filtered"))), 0, "events")
	b.say(what+"sent, kept, filtered, lost", "%d, %d, %d, %d", sent, diff("journal.kept"), diff("journal.filtered"), diff("journal.lost")+diff("store.lost"))
	now, peak := srv.memory()
	b.say(what+"RSS after, peak", "%.0f MB, %.0f MB", now, peak)
	return nil
}

func abs(v float64) float64 { return max(v, -v) }

// settled waits until nothing is being written down.
func settled(ctx context.Context, srv *server) (daemon.Status, error) {
	var last int64 = -1
	return srv.until(ctx, 30*time.Second, func(st daemon.Status) bool {
		seen := st.Counters["journal.seen"]
		ok := st.Waiting == 0 && seen == last
		last = seen
		time.Sleep(200 * time.Millisecond)
		return ok
	})
}

// sizePart: memory at 5,000 entities, at rest and under load.
func sizePart(ctx context.Context, b *bench) error {
	s, err := startSim(ctx, 5000)
	if err != nil {
		return err
	}
	defer s.stop()
	srv, err := startServer(ctx, b.bin, s, "")
	if err != nil {
		return err
	}
	defer srv.close()
	if _, err := srv.live(ctx, s); err != nil {
		return err
	}
	if _, err := settled(ctx, srv); err != nil {
		return err
	}
	rest := 20 * time.Second
	if b.short {
		rest = 5 * time.Second
	}
	time.Sleep(rest)
	now, _ := srv.memory()
	b.hold("RSS at 5,000 entities, steady", now, 90, "MB")
	c, err := newClient(srv, true)
	if err != nil {
		return err
	}
	begun := time.Now()
	n := 6000
	if b.short {
		n = 1500
	}
	tools := toolCalls()
	if _, err := load(n, 8, func(i int) error {
		t := tools[i%len(tools)]
		_, err := c.call(t.name, t.args)
		return err
	}); err != nil {
		return err
	}
	_, peak := srv.memory()
	b.hold("RSS at 5,000 entities, peak under MCP load of every tool, 8 at once", peak, 120, "MB")
	b.say("calls a second of that load", "%.0f", float64(n)/time.Since(begun).Seconds())
	return nil
}

type toolCall struct {
	name string
	args map[string]any
}

// toolCalls is one ordinary call of every tool of the first shelf.
func toolCalls() []toolCall {
	return []toolCall{
		{"house_overview", map[string]any{}},
		{"hearth_status", map[string]any{}},
		{"entity_search", map[string]any{"query": "kichen lihgt"}},
		{"entity_list", map[string]any{"domain": "light"}},
		{"entity_list", map[string]any{}},
		{"entity_get", map[string]any{"entity_id": "light.kitchen_lights"}},
		{"area_list", map[string]any{}},
		{"device_list", map[string]any{}},
		{"service_list", map[string]any{"domain": "light"}},
		{"service_call", map[string]any{"service": "light.turn_on", "entity_id": []string{"light.bed_light"}}},
		{"history_get", map[string]any{"entity_id": []string{"sensor.outside_temperature"}, "from": "1h"}},
		{"journal_query", map[string]any{"from": "1h"}},
		{"journal_why", map[string]any{"entity_id": "light.bed_light"}},
	}
}
