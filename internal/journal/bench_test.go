package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

// cpu is the process's CPU time so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIngest measures the journal's and the store's CPU per event, from
// the stream to the disk, with 5,000 entities; "kept" are all written,
// "filtered" all left out.
func BenchmarkIngest(b *testing.B) {
	for _, kind := range []string{"kept", "filtered", "lights"} {
		b.Run(kind, func(b *testing.B) {
			h := new(health.Registry)
			db, err := store.Open(b.Context(), store.Config{Path: filepath.Join(b.TempDir(), "hearth.db")}, nil, h)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			j := New(Config{}, db, nil, nil, h)
			ctx, stop := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			wg.Go(func() { _ = db.Run(ctx) })
			changes := benchChanges(kind, min(b.N, 200_000))
			b.ReportAllocs()
			b.ResetTimer()
			start := cpu()
			for i := 0; i < b.N; {
				n := min(256, b.N-i, len(changes)-i%len(changes))
				at := i % len(changes)
				for db.Waiting() > 40_000 { // a benchmark outruns any house: let the writer work
					_ = db.Flush(ctx)
				}
				j.feed(changes[at:at+n], 0)
				i += n
			}
			if err := db.Flush(ctx); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((cpu()-start).Nanoseconds())/1000/float64(b.N), "µs-cpu/event")
			stop()
			wg.Wait()
			if got := h.Counter("journal.kept").Load() + h.Counter("journal.filtered").Load(); got != int64(b.N) {
				b.Fatalf("%d counted of %d", got, b.N)
			}
		})
	}
}

func benchChanges(kind string, n int) []home.Change {
	const entities = 5000
	last := make([]*home.State, entities)
	out := make([]home.Change, n)
	now := time.Now()
	for i := range out {
		e := i % entities
		id := home.EntityID(fmt.Sprintf("sensor.filler_temperature_%04d", e))
		attrs := json.RawMessage(`{"state_class":"measurement","unit_of_measurement":"°C","device_class":"temperature","friendly_name":"Filler temperature in some room of the house"}`)
		value := fmt.Sprintf("%.1f", 20+float64((i/entities)%7)*0.6)
		switch kind {
		case "filtered":
			value = fmt.Sprintf("%.2f", 20+float64((i/entities)%7)*0.01)
		case "lights":
			id = home.EntityID(fmt.Sprintf("light.filler_lamp_%04d", e))
			value = "on"
			attrs = json.RawMessage(fmt.Sprintf(`{"min_color_temp_kelvin":2000,"max_color_temp_kelvin":6535,"effect_list":["rainbow","none"],"supported_color_modes":["color_temp","hs"],"color_mode":"hs","brightness":%d,"hs_color":[345.75,75.294],"rgb_color":[255,63,111],"friendly_name":"Filler lamp"}`, i/entities%200))
		}
		now = now.Add(80 * time.Microsecond)
		s := &home.State{ID: id, Value: value, Attrs: attrs, Changed: now, Updated: now, Context: home.Context{ID: fmt.Sprintf("01M8PHPZVATRGA%012d", i)}}
		if last[e] == nil {
			prev := *s
			prev.Value, prev.Attrs = "10", json.RawMessage(`{}`)
			if kind == "filtered" {
				prev.Value = "20"
			}
			last[e] = &prev
		}
		out[i] = home.Change{Seq: uint64(i + 1), Kind: home.StateChanged, Site: "ha", At: now, Entity: id, Old: last[e], New: s}
		last[e] = s
	}
	return out
}

// BenchmarkQuery measures typical questions over a day of 100,000 rows.
func BenchmarkQuery(b *testing.B) {
	db, err := store.Open(b.Context(), store.Config{Path: filepath.Join(b.TempDir(), "hearth.db")}, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	j := New(Config{}, db, nil, nil, nil)
	changes := benchChanges("kept", 100_000)
	for at := 0; at < len(changes); at += 1000 {
		j.feed(changes[at:at+1000], 0)
		if err := db.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	now := changes[len(changes)-1].At.Add(time.Second)
	for name, q := range map[string]Query{
		"everything": {}, "entity": {Entities: []home.EntityID{"sensor.filler_temperature_0007"}}, "calls": {Kinds: []RowKind{KindCall}},
		"pattern": {Pattern: "sensor.*_000*"}, "domain": {Domain: "sensor"}, "text": {Text: "nothing"}, "by entity": {GroupBy: "entity"}, "by hour": {GroupBy: "hour"},
	} {
		b.Run(name, func(b *testing.B) {
			q.Now = now
			for b.Loop() {
				if _, err := j.Query(b.Context(), home.Visible(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("why", func(b *testing.B) {
		for b.Loop() {
			if _, err := j.Why(b.Context(), home.Visible(), WhyQuery{Entity: "sensor.filler_temperature_0007", Now: now}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
