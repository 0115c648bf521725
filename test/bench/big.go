package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hearth/internal/daemon"
	"hearth/internal/simhome"
)

// bigPart: 40,000 entities: cold start, a reconnect, a storm, every tool.
func bigPart(ctx context.Context, b *bench) error {
	s, err := startSim(ctx, 40000)
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
	b.say("40,000: the house's own snapshot, read by a plain client", "%.0f ms", ms(snapshot))
	b.say("40,000: start → first answered call, beyond the snapshot", "%.0f ms", ms(answered-snapshot))
	if _, err := srv.live(ctx, s); err != nil {
		return err
	}
	b.say("40,000: cold start until all is mirrored", "%.0f ms", ms(time.Since(srv.began)))
	if _, err := settled(ctx, srv); err != nil {
		return err
	}
	now, peak := srv.memory()
	b.hold("40,000: RSS after the cold start", now, 300, "MB")
	b.say("40,000: RSS, peak of the cold start", "%.0f MB", peak)

	for _, f := range []struct {
		fault simhome.Fault
		what  string
	}{{simhome.Drop, "the link cut, reconnect and Replace"}, {simhome.Restart, "restart: all unavailable, away, all back"}} {
		before, err := srv.ctl.Status(ctx)
		if err != nil {
			return err
		}
		begun, cpu := time.Now(), srv.cpu()
		s.Inject(f.fault)
		if _, err := srv.until(ctx, 10*time.Second, func(st daemon.Status) bool { return !st.Online }); err != nil {
			return err
		}
		if _, err := srv.live(ctx, s); err != nil {
			return err
		}
		took := time.Since(begun)
		end, err := settled(ctx, srv)
		if err != nil {
			return err
		}
		now, peak := srv.memory()
		b.say("40,000: "+f.what, "%.0f ms until live (the wait before reconnecting included), CPU %.0f ms, %d changes", ms(took), ms(srv.cpu()-cpu), end.Counters["journal.seen"]-before.Counters["journal.seen"])
		b.hold("40,000: RSS after that", now, 300, "MB")
		b.say("40,000: RSS, peak so far", "%.0f MB", peak)
	}
	if err := storm(ctx, b, s, srv); err != nil {
		return err
	}
	return everyTool(b, srv)
}

// storm makes every entity unavailable and available again while the link stands.
func storm(ctx context.Context, b *bench, s *sim, srv *server) error {
	before, err := settled(ctx, srv)
	if err != nil {
		return err
	}
	begun, cpu := time.Now(), srv.cpu()
	n := s.Storm()
	end, err := srv.until(ctx, 60*time.Second, func(st daemon.Status) bool {
		return st.Waiting == 0 && st.Counters["journal.seen"]-before.Counters["journal.seen"] >= int64(n)
	})
	if err != nil {
		return err
	}
	diff := func(name string) int64 { return end.Counters[name] - before.Counters[name] }
	b.say("40,000: storm of all unavailable and back", "%d changes in %.0f ms, CPU %.1f µs a change", n, ms(time.Since(begun)), float64((srv.cpu()-cpu).Microseconds())/float64(n))
	b.hold("40,000: storm: changes beside kept + filtered, difference", abs(float64(int64(n)-diff("journal.kept")-diff("journal.filtered"))), 0, "events")
	now, peak := srv.memory()
	b.hold("40,000: RSS after the storm", now, 300, "MB")
	b.say("40,000: RSS, peak so far", "%.0f MB", peak)
	return nil
}

func everyTool(b *bench, srv *server) error {
	c, err := newClient(srv, true)
	if err != nil {
		return err
	}
	for _, t := range toolCalls() {
		var bytes int
		n := 60
		if b.short {
			n = 15
		}
		all, err := load(n, 1, func(int) error {
			text, err := c.call(t.name, t.args)
			bytes = len(text)
			return err
		})
		if err != nil {
			return err
		}
		now, _ := srv.memory()
		b.hold(fmt.Sprintf("40,000: %s %s, p99 (p50 %.2f ms, %d bytes, RSS after it %.0f MB)", t.name, arguments(t.args), all.at(0.5), bytes, now), all.at(0.99), 1000, "ms")
	}
	now, peak := srv.memory()
	b.hold("40,000: RSS after every tool", now, 300, "MB")
	b.say("40,000: RSS, peak of everything", "%.0f MB", peak)
	return nil
}

// arguments writes a call's arguments for the table.
func arguments(args map[string]any) string {
	b, err := json.Marshal(args)
	if err != nil {
		return err.Error()
	}
	return "`" + string(b) + "`"
}
