package toolbox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

func samples(values ...string) []sample {
	var out []sample
	for i, v := range values {
		f, err := strconv.ParseFloat(v, 64)
		out = append(out, sample{at: t0.Add(time.Duration(i) * time.Minute), v: v, f: f, ok: err == nil})
	}
	return out
}

// TestThinKeepsHighsAndLows thins a long series with one peak and one hole.
func TestThinKeepsHighsAndLows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var values []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf("%.2f", 20+math.Sin(float64(i)/300)+rnd.Float64()))
	}
	values[1234], values[4321], values[2000] = "99.5", "-40", "unavailable"
	all := samples(values...)
	for _, n := range []int{4, 5, 10, 50, 125, 250} {
		got := thin(all, n)
		if len(got) > n || got[0] != all[0] || got[len(got)-1] != all[len(all)-1] {
			t.Fatalf("%d: %d samples, ends kept: %t", n, len(got), got[0] == all[0] && got[len(got)-1] == all[len(all)-1])
		}
		low, high := false, false
		for i, x := range got {
			low, high = low || x.v == "-40", high || x.v == "99.5"
			if i > 0 && !x.at.After(got[i-1].at) {
				t.Fatalf("%d: out of order at %d", n, i)
			}
		}
		if n >= 10 && (!low || !high) {
			t.Errorf("%d: lowest kept %t, highest kept %t", n, low, high)
		}
	}
	if got := thin(all[:3], 2); len(got) != 2 {
		t.Errorf("three samples thinned to two give %d", len(got))
	}
}

func TestSummaryWeighsByTime(t *testing.T) {
	all := samples("10", "20", "unavailable", "40")
	// 10 for a minute, 20 for a minute, nothing for a minute, 40 for seven.
	lo, hi, mean := summary(all, t0.Add(10*time.Minute))
	if *lo != 10 || *hi != 40 || math.Abs(*mean-(10+20+7*40)/9.0) > 0.001 {
		t.Errorf("min %v max %v mean %v", *lo, *hi, *mean)
	}
	got := shares(samples("on", "off", "on"), t0.Add(time.Hour))
	if len(got) != 2 || got[0].State != "on" || got[0].Count != 2 || got[0].Lasts != "59m" || got[1].Lasts != "1m" {
		t.Errorf("shares %+v", got)
	}
}

func TestHistoryCut(t *testing.T) {
	all := samples("1", "5", "2", "9", "3", "0", "4", "7", "2", "6")
	o := historyOut{Series: []series{{Points: points(all), all: all}, {Points: points(all[:2]), all: all[:2]}}}
	short, ok := o.Cut(5)
	if s := short.(historyOut).Series; !ok || len(s[0].Points) > 5 || !s[0].Thinned || len(s[1].Points) != 2 {
		t.Errorf("%+v", s)
	}
	if len(o.Series[0].Points) != 10 || o.Len() != 10 {
		t.Error("Cut changed its receiver")
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{Filter: "f", Key: "light.kitchen", Seq: 7}.String())
	f.Add("e30")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s, "f")
		if err == nil && s != "" {
			if again, err := parseCursor(c.String(), "f"); err != nil || again.Key != c.Key {
				t.Fatalf("%q: %+v, %v", s, again, err)
			}
		}
	})
}
