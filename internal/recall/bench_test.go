package recall

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"hearth/internal/home"
)

// big is a house of n entities in sixty rooms, with the words real ones use.
func big(n int) []thing {
	rooms := []string{"Kitchen", "Living Room", "Bedroom", "Office", "Garage", "Garden", "Hallway", "Bathroom", "Attic", "Cellar"}
	kinds := []struct{ domain, word, class string }{
		{"light", "Ceiling Light", ""}, {"light", "Floor Lamp", ""}, {"switch", "Plug", "outlet"}, {"sensor", "Temperature", "temperature"},
		{"sensor", "Humidity", "humidity"}, {"sensor", "Power", "power"}, {"sensor", "Energy Today", "energy"}, {"binary_sensor", "Motion", "motion"},
		{"binary_sensor", "Window", "window"}, {"cover", "Blinds", "blind"}, {"climate", "Thermostat", ""}, {"media_player", "Speaker", "speaker"},
		{"sensor", "Battery", "battery"}, {"sensor", "Signal Strength", "signal_strength"}, {"update", "Firmware", "firmware"}, {"button", "Restart", "restart"},
	}
	makers := []string{"Hue", "Shelly", "Aqara", "Sonoff", "Tuya", "Ikea", "Fibaro", "Tado", "Netatmo", "Zooz"}
	var out []thing
	for i := range n {
		k := kinds[i%len(kinds)]
		room := rooms[i/len(kinds)%len(rooms)]
		if f := i / len(kinds) / len(rooms) % 6; f > 0 {
			room = fmt.Sprintf("%s %d", room, f+1)
		}
		maker := makers[i*7%len(makers)]
		out = append(out, thing{id: fmt.Sprintf("%s.thing_%d", k.domain, i), class: k.class, area: room,
			name: fmt.Sprintf("%s %s %s %d", room, maker, k.word, i)})
	}
	out = append(out, thing{id: "light.kitchen_lights", name: "Kitchen Lights", area: "Kitchen"})
	return out
}

var asked = []Query{
	{Text: "kitchen light"}, {Text: "kichen lihgt"}, {Text: "is the window in the bedroom open"}, {Text: "tempratur living rom"},
	{Text: "sensor"}, {Text: "Licht Küche"}, {Text: "how warm is it in the office", Domain: "sensor"}, {Text: "shely plug garage"}, {Text: "thing 4711"},
	{Text: "battery low", Area: "attic"}, {Text: "qwertzuiop asdfgh"}, {Text: "the quick brown fox jumps over the lazy dog while the kitchen light is on and the motion sensor sleeps"},
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{5_000, 10_000, 40_000} {
		x := New(house(b, big(n)))
		x.catalog()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var took []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t := time.Now()
				x.Find(home.Visible(), asked[i%len(asked)])
				took = append(took, time.Since(t))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10_000, 40_000} {
		h := house(b, big(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var c *catalog
			for b.Loop() {
				c = build(h.View())
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB")
			runtime.KeepAlive(c)
		})
	}
}

func TestTypoInABigHouse(t *testing.T) {
	x := New(house(t, big(10_000)))
	for _, q := range []string{"kitchen lights", "kichen lihgts"} {
		hits, _ := x.Find(home.Visible(), Query{Text: q})
		if len(hits) == 0 || hits[0].Entity.ID != "light.kitchen_lights" {
			t.Errorf("%q finds %+v", q, hits[:min(2, len(hits))])
		}
	}
}
