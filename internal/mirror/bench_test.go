package mirror

import (
	"encoding/json"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"hearth/internal/home"
)

// big is a house of n entities in 60 areas and n/4 devices, with attributes of
// a usual size, as a link reports it after connecting.
func big(n int) home.Report {
	kinds := []string{"sensor", "sensor", "sensor", "light", "switch", "binary_sensor", "cover", "sensor", "sensor", "update"}
	r := home.Report{Kind: home.ReportSnapshot, At: t0, Info: &home.Info{Zone: "Europe/Berlin"}, Registries: &home.Registries{}}
	g := r.Registries
	for i := range 3 {
		g.Floors = append(g.Floors, home.Floor{ID: home.FloorID(fmt.Sprint("floor", i)), Name: fmt.Sprint("Floor ", i)})
	}
	for i := range 60 {
		g.Areas = append(g.Areas, home.Area{ID: home.AreaID(fmt.Sprint("area", i)), Name: fmt.Sprint("Area ", i), Floor: g.Floors[i%3].ID})
	}
	for i := range n / 4 {
		g.Devices = append(g.Devices, home.Device{ID: home.DeviceID(fmt.Sprintf("%032d", i)), Name: fmt.Sprintf("Device number %d", i), Manufacturer: "Maker", Model: "Model", Area: g.Areas[i%60].ID})
	}
	for i := range n {
		id := home.EntityID(fmt.Sprintf("%s.device_number_%d_thing_%d", kinds[i%len(kinds)], i/4, i))
		g.Entities = append(g.Entities, home.Entity{ID: id, RegistryID: fmt.Sprintf("r%031d", i), UniqueID: fmt.Sprintf("00:11:22:33-%d-thing", i),
			Platform: "zigbee", Device: g.Devices[i/4%len(g.Devices)].ID, OriginalName: "Thing", HasEntity: true,
			Options: json.RawMessage(`{"conversation":{"should_expose":false}}`)})
		v := fmt.Sprintf("%d.%d", i%40, i%10)
		r.Patches = append(r.Patches, home.Patch{ID: id, Full: true, Value: &v, Changed: t0, Updated: t0, Context: &home.Context{ID: fmt.Sprintf("01CONTEXT%017d", i)},
			Set: json.RawMessage(fmt.Sprintf(`{"state_class":"measurement","unit_of_measurement":"°C","device_class":"temperature","friendly_name":"Device number %d Thing %d","battery":88,"linkquality":%d,"voltage":3012,"update":{"state":"idle","installed_version":16,"latest_version":16},"icon":"mdi:thermometer"}`, i/4, i, i%200))})
	}
	return r
}

func sizes(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{5_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, n) })
	}
}

// cpu reports the processor time per operation since it was called, collection
// of garbage included: on a busy machine the clock says little.
func cpu(b *testing.B) (report func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

func loaded(b *testing.B, n int) (*House, *Writer, home.Report) {
	b.Helper()
	r := big(n)
	h, w := New(Config{Site: "ha"}, nil, nil, nil)
	w.Apply(r)
	return h, w, r
}

func BenchmarkApplyOne(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		_, w, r := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		ctx := &home.Context{ID: "01CONTEXTOFTHECHANGE000000"}
		values := [...]string{"1.0", "2.0", "3.0"}
		for i := 0; b.Loop(); i++ {
			p := home.Patch{ID: r.Patches[(i*7919)%n].ID, Value: &values[i%3], Set: json.RawMessage(`{"linkquality":77}`),
				Changed: t0.Add(time.Duration(i) * time.Millisecond), Context: ctx, KeepContext: home.ContextParent | home.ContextUser}
			w.Apply(home.Report{Kind: home.ReportStates, At: t0, Patches: []home.Patch{p}})
		}
	})
}

func BenchmarkApplyOneWatched(b *testing.B) {
	_, w, r := loaded(b, 40_000)
	for _, m := range []Mode{Durable, Live, Derived} {
		watch := w.house.Watch("bench", m)
		defer watch.Close()
		go func() {
			for {
				if _, _, err := watch.Next(b.Context(), 1000); err != nil {
					return
				}
			}
		}()
	}
	b.ReportAllocs()
	b.ResetTimer()
	defer cpu(b)()
	for i := 0; b.Loop(); i++ {
		v := fmt.Sprint(i)
		w.Apply(states(home.Patch{ID: r.Patches[(i*7919)%40_000].ID, Value: &v, Changed: t0.Add(time.Duration(i))}))
	}
}

func BenchmarkColdStart(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		r := big(n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		for b.Loop() {
			_, w := New(Config{}, nil, nil, nil)
			w.Apply(r)
		}
	})
}

func BenchmarkReplaceEqual(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		_, w, r := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		for b.Loop() {
			w.Apply(r)
		}
	})
}

// BenchmarkStorm makes every entity unavailable and available again in batches
// of 500, as Home Assistant's coalesced frames bring it.
func BenchmarkStorm(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		_, w, r := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		at := t0
		for b.Loop() {
			for _, v := range []string{"unavailable", "21.5"} {
				at = at.Add(time.Second)
				for i := 0; i < n; i += 500 {
					ps := make([]home.Patch, 0, 500)
					for k := i; k < min(i+500, n); k++ {
						ps = append(ps, home.Patch{ID: r.Patches[k].ID, Value: &v, Changed: at, Unset: []string{"battery"}})
					}
					w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: ps})
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/change")
	})
}

func BenchmarkLookup(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		h, _, r := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		for i := 0; b.Loop(); i++ {
			if _, s, ok := h.View().Entity(home.Visible(), r.Patches[i%n].ID); !ok || s == nil {
				b.Fatal("gone")
			}
		}
	})
}

func BenchmarkArea(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		h, _, _ := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		for b.Loop() {
			k := 0
			for range h.View().Entities(home.Visible(), Filter{Area: "area7", Domain: "sensor"}) {
				k++
			}
			if k == 0 {
				b.Fatal("none")
			}
		}
	})
}

func BenchmarkResolveFloor(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		h, _, _ := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		for b.Loop() {
			h.View().Resolve(home.Target{Floors: []home.FloorID{"floor1"}}, true)
		}
	})
}

func BenchmarkSave(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		h, w, _ := loaded(b, n)
		b.ReportAllocs()
		b.ResetTimer()
		defer cpu(b)()
		size := 0
		for b.Loop() {
			data, err := w.pack(t0, h.View().writeStates)
			if err != nil {
				b.Fatal(err)
			}
			size = len(data)
		}
		b.ReportMetric(float64(size)/1024, "KB")
	})
}

func BenchmarkMemory(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		for b.Loop() {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			h, _, _ := loaded(b, n)
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/entity")
			runtime.KeepAlive(h)
		}
	})
}
