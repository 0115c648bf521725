package home

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxDuration bounds ParseDuration: a hundred years.
const maxDuration = 100 * 365 * 24 * time.Hour

var durationPart = regexp.MustCompile(`^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d|w)`)

// ParseDuration reads a length of time such as "1h30m", "45s", "2d" or "1.5h".
// Units are ms, s, m, h, d (24 hours) and w (7 days), each at most once and
// larger ones first; spaces between parts are allowed. Anything else, and more
// than a hundred years, is an Invalid error that shows the form.
func ParseDuration(s string) (time.Duration, error) {
	bad := func() (time.Duration, error) {
		return 0, Errorf(Invalid, "%q is not a duration", Clip(s, 40)).WithHint("write it as 45s, 30m, 1h30m or 2d")
	}
	rest := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), " ", "")
	var total time.Duration
	last := time.Duration(1<<63 - 1)
	for rest != "" {
		m := durationPart.FindStringSubmatch(rest)
		if m == nil {
			return bad()
		}
		unit := unitOf(m[2])
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil || unit >= last || n*float64(unit) > float64(maxDuration) {
			return bad()
		}
		total += time.Duration(n * float64(unit))
		last, rest = unit, rest[len(m[0]):]
	}
	if last == 1<<63-1 || total > maxDuration {
		return bad()
	}
	return total, nil
}

func unitOf(s string) time.Duration {
	switch s {
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	case "d":
		return 24 * time.Hour
	}
	return 7 * 24 * time.Hour
}

// FormatDuration writes a length of time as ParseDuration reads it, with at
// most two parts: "450ms", "45s", "1h30m", "3d4h". Negative lengths lose their
// sign: the words around them say which way.
func FormatDuration(d time.Duration) string {
	d = max(d, -d)
	if d < 0 { // the one value that has no opposite
		d = maxDuration
	}
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	units := []struct {
		d time.Duration
		s string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	var b strings.Builder
	for i, u := range units {
		if d < u.d {
			continue
		}
		b.WriteString(strconv.FormatInt(int64(d/u.d), 10) + u.s)
		if i+1 < len(units) {
			if n := units[i+1]; d%u.d >= n.d {
				b.WriteString(strconv.FormatInt(int64(d%u.d/n.d), 10) + n.s)
			}
		}
		break
	}
	return b.String()
}
