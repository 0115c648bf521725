package toolbox

import (
	"cmp"
	"math"
	"slices"
	"time"

	"hearth/internal/home"
)

// thin keeps at most n samples so that the picture stays true: the first and
// the last, and of each stretch of equal length the lowest and the highest
// number; of stretches without numbers the first and the last. The result is in
// order, and every sample in it is a real one.
func thin(all []sample, n int) []sample {
	if len(all) <= n {
		return all
	}
	if n < 4 {
		return append(slices.Clone(all[:max(n-1, 0)]), all[len(all)-1])
	}
	inner := all[1 : len(all)-1]
	buckets := (n - 2) / 2
	out := make([]sample, 0, n)
	out = append(out, all[0])
	for b := range buckets {
		part := inner[b*len(inner)/buckets : (b+1)*len(inner)/buckets]
		if len(part) == 0 {
			continue
		}
		lo, hi := extremes(part)
		if lo > hi {
			lo, hi = hi, lo
		}
		out = append(out, part[lo])
		if hi != lo {
			out = append(out, part[hi])
		}
	}
	return append(out, all[len(all)-1])
}

// extremes are the places of the lowest and the highest number, or of the first
// and the last sample where there are no numbers.
func extremes(part []sample) (lo, hi int) {
	lo, hi = -1, -1
	for i, x := range part {
		if !x.ok {
			continue
		}
		if lo < 0 || x.f < part[lo].f {
			lo = i
		}
		if hi < 0 || x.f > part[hi].f {
			hi = i
		}
	}
	if lo < 0 {
		return 0, len(part) - 1
	}
	return lo, hi
}

// summary is the lowest and highest number and the mean weighted by how long
// each held until the next sample or the end. Stretches without a number do not
// count.
func summary(all []sample, end time.Time) (lo, hi, mean *float64) {
	low, high := math.Inf(1), math.Inf(-1)
	var sum, weight float64
	for i, x := range all {
		if !x.ok {
			continue
		}
		low, high = min(low, x.f), max(high, x.f)
		until := end
		if i+1 < len(all) {
			until = all[i+1].at
		}
		if w := until.Sub(x.at).Seconds(); w > 0 {
			sum, weight = sum+w*x.f, weight+w
		}
	}
	m := (low + high) / 2
	if weight > 0 {
		m = sum / weight
	}
	return rounded(low), rounded(high), rounded(m)
}

func rounded(f float64) *float64 {
	f = math.Round(f*1000) / 1000
	return &f
}

// shares says how often and how long each state held, the longest first.
func shares(all []sample, end time.Time) []share {
	type sum struct {
		n int
		d time.Duration
	}
	sums := map[string]*sum{}
	for i, x := range all {
		until := end
		if i+1 < len(all) {
			until = all[i+1].at
		}
		s := sums[x.v]
		if s == nil {
			s = &sum{}
			sums[x.v] = s
		}
		s.n++
		s.d += max(0, until.Sub(x.at))
	}
	var names []string
	for v := range sums {
		names = append(names, v)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].d, sums[a].d), cmp.Compare(a, b))
	})
	var out []share
	for _, v := range names {
		out = append(out, share{home.Clip(clean(v), 60), sums[v].n, home.FormatDuration(sums[v].d)})
	}
	return out
}
