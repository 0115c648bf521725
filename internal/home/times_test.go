package home

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func moment(t testing.TB, s string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestParseTime asks on Wednesday 2026-07-15 at 10:30 in Amsterdam.
func TestParseTime(t *testing.T) {
	loc := zone(t, "Europe/Amsterdam")
	now := moment(t, "2026-07-15T10:30:00+02:00")
	for _, c := range []struct{ in, past, future string }{
		{"2026-07-14T07:00", "2026-07-14T07:00:00+02:00", ""},
		{"2026-01-14 7:00:05", "2026-01-14T07:00:05+01:00", ""},
		{"2026-07-14T07:00:00.250", "2026-07-14T07:00:00.25+02:00", ""},
		{"2026-07-14T07:00:00Z", "2026-07-14T09:00:00+02:00", ""},
		{"2026-07-14T07:00:00.123456+00:00", "2026-07-14T09:00:00.123456+02:00", ""},
		{"2026-07-14T07:00-0500", "2026-07-14T14:00:00+02:00", ""},
		{"2026-07-14", "2026-07-14T00:00:00+02:00", ""},
		{"2h", "2026-07-15T08:30:00+02:00", "2026-07-15T12:30:00+02:00"},
		{"1h30m", "2026-07-15T09:00:00+02:00", "2026-07-15T12:00:00+02:00"},
		{"90m ago", "2026-07-15T09:00:00+02:00", ""},
		{"in 2d", "2026-07-17T10:30:00+02:00", ""},
		{"now", "2026-07-15T10:30:00+02:00", ""},
		{"NOW-30m", "2026-07-15T10:00:00+02:00", ""},
		{"NOW - 1.5h", "2026-07-15T09:00:00+02:00", ""},
		{"NOW-2w", "2026-07-01T10:30:00+02:00", ""},
		{"NOW+1h", "2026-07-15T11:30:00+02:00", ""},
		{"today 7:00", "2026-07-15T07:00:00+02:00", ""},
		{"Today", "2026-07-15T00:00:00+02:00", ""},
		{"yesterday", "2026-07-14T00:00:00+02:00", ""},
		{"yesterday  23:59:59", "2026-07-14T23:59:59+02:00", ""},
		{"tomorrow 07:15", "2026-07-16T07:15:00+02:00", ""},
		{"last night", "2026-07-14T18:00:00+02:00", ""},
		{"monday 14:00", "2026-07-13T14:00:00+02:00", "2026-07-20T14:00:00+02:00"},
		{"wednesday 10:00", "2026-07-15T10:00:00+02:00", "2026-07-22T10:00:00+02:00"},
		{"wed 11:00", "2026-07-08T11:00:00+02:00", "2026-07-15T11:00:00+02:00"},
		{"wednesday 10:30", "2026-07-15T10:30:00+02:00", "2026-07-22T10:30:00+02:00"},
		{"thu", "2026-07-09T00:00:00+02:00", "2026-07-16T00:00:00+02:00"},
		{"18:12", "2026-07-14T18:12:00+02:00", "2026-07-15T18:12:00+02:00"},
		{"7:00", "2026-07-15T07:00:00+02:00", "2026-07-16T07:00:00+02:00"},
		{"10:30", "2026-07-15T10:30:00+02:00", "2026-07-16T10:30:00+02:00"},
		{"6pm", "2026-07-14T18:00:00+02:00", "2026-07-15T18:00:00+02:00"},
		{"at 6:30 PM", "2026-07-14T18:30:00+02:00", "2026-07-15T18:30:00+02:00"},
		{"12am", "2026-07-15T00:00:00+02:00", "2026-07-16T00:00:00+02:00"},
		{"noon", "2026-07-14T12:00:00+02:00", "2026-07-15T12:00:00+02:00"},
		{"today 6pm", "2026-07-15T18:00:00+02:00", ""},
		{"yesterday at 12pm", "2026-07-14T12:00:00+02:00", ""},
		{"monday noon", "2026-07-13T12:00:00+02:00", "2026-07-20T12:00:00+02:00"},
		{"30min", "2026-07-15T10:00:00+02:00", "2026-07-15T11:00:00+02:00"},
		{"30 minutes", "2026-07-15T10:00:00+02:00", "2026-07-15T11:00:00+02:00"},
		{"1 hour ago", "2026-07-15T09:30:00+02:00", ""},
		{"an hour ago", "2026-07-15T09:30:00+02:00", ""},
		{"2 hours 30 mins", "2026-07-15T08:00:00+02:00", "2026-07-15T13:00:00+02:00"},
		{"in 3 days", "2026-07-18T10:30:00+02:00", ""},
		{"NOW-2 weeks", "2026-07-01T10:30:00+02:00", ""},
		{"this morning", "2026-07-15T05:00:00+02:00", ""},
		{"tonight", "2026-07-15T18:00:00+02:00", ""},
		{"yesterday evening", "2026-07-14T18:00:00+02:00", ""},
		{"monday afternoon", "2026-07-13T12:00:00+02:00", "2026-07-20T12:00:00+02:00"},
		{"wednesday evening", "2026-07-08T18:00:00+02:00", "2026-07-15T18:00:00+02:00"},
	} {
		for dir, want := range map[Direction]string{Past: c.past, Future: c.future} {
			if want == "" {
				want = c.past
			}
			got, err := ParseTime(c.in, now, loc, dir)
			if err != nil {
				t.Errorf("%q %s: %v", c.in, dir, err)
			} else if s := got.In(loc).Format(time.RFC3339Nano); s != want {
				t.Errorf("%q %s = %s, want %s", c.in, dir, s, want)
			}
		}
	}
}

func TestParseTimeRefuses(t *testing.T) {
	now := moment(t, "2026-07-15T10:30:00+02:00")
	for _, s := range []string{
		"", " ", "soon", "2", "-2h", "h", "2h30", "13pm", "0am", "6:60pm", "30", "hour", "2 fortnights", "this", "this noon", "last", "last -1h", "this morning 7:00", "monday night", "NOW-", "NOW--1h", "now-yesterday",
		"today 25:00", "today 7:60", "2026-13-01", "2026-02-30", "2026-07-14T24:00",
		"0000-00-00", "1969-12-31", "2026-07-14T07:00+99:99", "last nigth", "99999999999h", "NOW-9999w",
		strings.Repeat("9", 400), "昨日", "yesterday; drop table",
	} {
		got, err := ParseTime(s, now, nil, Past)
		if CodeOf(err) != Invalid {
			t.Errorf("%q = %v, %v; want invalid", s, got, err)
			continue
		}
		if e := err.(*Error); !strings.Contains(e.Hint, "last night") || len(e.Error()) > 400 {
			t.Errorf("%q: the error does not show the forms briefly: %v", s, err)
		}
	}
	if _, err := ParseTime("2h", now, nil, 0); CodeOf(err) != Internal {
		t.Errorf("a missing direction passes: %v", err)
	}
}

func TestParseRange(t *testing.T) {
	loc := zone(t, "America/New_York")
	now := moment(t, "2026-07-15T10:30:00-04:00")
	night := moment(t, "2026-07-15T03:00:00-04:00")
	for _, c := range []struct {
		in       string
		now      time.Time
		dir      Direction
		from, to string
	}{
		{"yesterday", now, Past, "2026-07-14T00:00:00-04:00", "2026-07-15T00:00:00-04:00"},
		{"today", now, Past, "2026-07-15T00:00:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"today", now, Future, "2026-07-15T00:00:00-04:00", "2026-07-16T00:00:00-04:00"},
		{"last night", now, Past, "2026-07-14T18:00:00-04:00", "2026-07-15T08:00:00-04:00"},
		{"last night", night, Past, "2026-07-14T18:00:00-04:00", "2026-07-15T03:00:00-04:00"},
		{"monday", now, Past, "2026-07-13T00:00:00-04:00", "2026-07-14T00:00:00-04:00"},
		{"2026-07-01", now, Past, "2026-07-01T00:00:00-04:00", "2026-07-02T00:00:00-04:00"},
		{"this morning", now, Past, "2026-07-15T05:00:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"this morning", now, Future, "2026-07-15T05:00:00-04:00", "2026-07-15T12:00:00-04:00"},
		{"yesterday evening", now, Past, "2026-07-14T18:00:00-04:00", "2026-07-15T00:00:00-04:00"},
		{"yesterday night", now, Past, "2026-07-14T18:00:00-04:00", "2026-07-15T08:00:00-04:00"},
		{"tomorrow afternoon", now, Future, "2026-07-16T12:00:00-04:00", "2026-07-16T18:00:00-04:00"},
		{"tonight", now, Future, "2026-07-15T18:00:00-04:00", "2026-07-16T08:00:00-04:00"},
		{"last hour", now, Past, "2026-07-15T09:30:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"the last 30 minutes", now, Past, "2026-07-15T10:00:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"next 2 days", now, Future, "2026-07-15T10:30:00-04:00", "2026-07-17T10:30:00-04:00"},
		{"18:12", now, Past, "2026-07-14T18:12:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"18:12", now, Future, "2026-07-15T10:30:00-04:00", "2026-07-15T18:12:00-04:00"},
		{"2h", now, Past, "2026-07-15T08:30:00-04:00", "2026-07-15T10:30:00-04:00"},
		{"2h", now, Future, "2026-07-15T10:30:00-04:00", "2026-07-15T12:30:00-04:00"},
	} {
		from, to, err := ParseRange(c.in, c.now, loc, c.dir)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if f, g := FormatTime(from, loc), FormatTime(to, loc); f != c.from || g != c.to {
			t.Errorf("%q %s = %s … %s, want %s … %s", c.in, c.dir, f, g, c.from, c.to)
		}
	}
	if _, _, err := ParseRange("tomorrow", now, loc, Past); CodeOf(err) != Invalid {
		t.Errorf("tomorrow passes as a range in the past: %v", err)
	}
	if _, _, err := ParseRange("yesterday 7:00", now, loc, Future); CodeOf(err) != Invalid {
		t.Errorf("yesterday passes as a range ahead: %v", err)
	}
}

func TestWindow(t *testing.T) {
	loc := zone(t, "Europe/Amsterdam")
	now := moment(t, "2026-07-15T10:30:00+02:00")
	c := Clock{now, loc, Past}
	for _, w := range []struct{ from, to, a, b string }{
		{"", "", "2026-07-14T10:30:00+02:00", "2026-07-15T10:30:00+02:00"},
		{"", "2026-07-01T12:00", "2026-06-30T12:00:00+02:00", "2026-07-01T12:00:00+02:00"},
		{"yesterday", "", "2026-07-14T00:00:00+02:00", "2026-07-15T00:00:00+02:00"},
		{"yesterday", "now", "2026-07-14T00:00:00+02:00", "2026-07-15T10:30:00+02:00"},
		{"monday", "tuesday", "2026-07-13T00:00:00+02:00", "2026-07-15T00:00:00+02:00"},
		{"yesterday morning", "", "2026-07-14T05:00:00+02:00", "2026-07-14T12:00:00+02:00"},
		{"last hour", "", "2026-07-15T09:30:00+02:00", "2026-07-15T10:30:00+02:00"},
		{"2h", "tomorrow", "2026-07-15T08:30:00+02:00", "2026-07-15T10:30:00+02:00"},
	} {
		a, b, err := c.Window(w.from, w.to, 24*time.Hour)
		if err != nil {
			t.Errorf("%q to %q: %v", w.from, w.to, err)
		} else if f, g := FormatTime(a, loc), FormatTime(b, loc); f != w.a || g != w.b {
			t.Errorf("%q to %q = %s … %s, want %s … %s", w.from, w.to, f, g, w.a, w.b)
		}
	}
	for _, w := range [][2]string{{"1h", "2h"}, {"in 2h", ""}, {"nonsense", ""}, {"", "nonsense"}} {
		if _, _, err := c.Window(w[0], w[1], time.Hour); CodeOf(err) != Invalid {
			t.Errorf("%q to %q: %v, want invalid", w[0], w[1], err)
		}
	}
}

// TestClockChange walks through both changes in two zones: days of 23 and 25
// hours, an hour that does not exist and one that happens twice.
func TestClockChange(t *testing.T) {
	for _, c := range []struct {
		zone, now, in, from, to string
	}{
		{"Europe/Amsterdam", "2026-03-30T12:00:00+02:00", "yesterday", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"Europe/Amsterdam", "2026-03-29T12:00:00+02:00", "last night", "2026-03-28T18:00:00+01:00", "2026-03-29T08:00:00+02:00"},
		{"Europe/Amsterdam", "2026-03-29T12:00:00+02:00", "today 2:30", "2026-03-29T03:30:00+02:00", "2026-03-29T12:00:00+02:00"},
		{"Europe/Amsterdam", "2026-10-26T12:00:00+01:00", "yesterday", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		{"Europe/Amsterdam", "2026-10-25T12:00:00+01:00", "today 2:30", "2026-10-25T02:30:00+02:00", "2026-10-25T12:00:00+01:00"},
		{"Europe/Amsterdam", "2026-10-25T12:00:00+01:00", "12h", "2026-10-25T01:00:00+02:00", "2026-10-25T12:00:00+01:00"},
		{"Europe/Amsterdam", "2026-10-25T12:00:00+01:00", "NOW-1d", "2026-10-24T13:00:00+02:00", "2026-10-25T12:00:00+01:00"},
		{"America/New_York", "2026-03-09T12:00:00-04:00", "yesterday", "2026-03-08T00:00:00-05:00", "2026-03-09T00:00:00-04:00"},
		{"America/New_York", "2026-03-08T12:00:00-04:00", "today 2:30", "2026-03-08T03:30:00-04:00", "2026-03-08T12:00:00-04:00"},
		{"America/New_York", "2026-11-02T12:00:00-05:00", "sunday", "2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"},
		{"America/New_York", "2026-11-01T12:00:00-05:00", "2026-11-01T01:30", "2026-11-01T01:30:00-04:00", "2026-11-01T12:00:00-05:00"},
		{"Pacific/Apia", "2011-12-31T12:00:00+14:00", "2011-12-30T12:00", "2011-12-31T12:00:00+14:00", "2011-12-31T12:00:00+14:00"},
	} {
		loc := zone(t, c.zone)
		from, to, err := ParseRange(c.in, moment(t, c.now), loc, Past)
		if err != nil {
			t.Errorf("%s %q: %v", c.zone, c.in, err)
		} else if f, g := FormatTime(from, loc), FormatTime(to, loc); f != c.from || g != c.to {
			t.Errorf("%s %q = %s … %s, want %s … %s", c.zone, c.in, f, g, c.from, c.to)
		}
	}
	loc := zone(t, "Europe/Amsterdam")
	next, err := ParseTime("sunday 2:30", moment(t, "2026-03-28T12:00:00+01:00"), loc, Future)
	if got := FormatTime(next, loc); err != nil || got != "2026-03-29T03:30:00+02:00" {
		t.Errorf("a job in the skipped hour = %s, %v", got, err)
	}
}

func TestDurations(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1h30m": 90 * time.Minute, "45s": 45 * time.Second, "2d": 48 * time.Hour, "1w 2d": 216 * time.Hour,
		"1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1H": time.Hour, "0s": 0,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "1", "h", "1m1h", "1h1h", "-1h", "1y", "1e3s", "999999999w", "1h30"} {
		if got, err := ParseDuration(in); CodeOf(err) != Invalid {
			t.Errorf("%q = %v, %v; want invalid", in, got, err)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0ms", 450 * time.Millisecond: "450ms", 45 * time.Second: "45s", 90 * time.Minute: "1h30m",
		76 * time.Hour: "3d4h", 24*time.Hour + 5*time.Minute: "1d", -time.Hour: "1h", 1500 * time.Millisecond: "1s",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v = %q, want %q", d, got, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2h", "6:30pm", "this morning", "the last 30 minutes", "an hour ago", "NOW-30m", "last night", "monday 14:00", "2026-03-29T02:30", "2026-10-25 02:30:00.5", "2026-07-14T07:00-0500", "1w2d"} {
		f.Add(s, int64(1774756800000), true)
	}
	zones := []*time.Location{zone(f, "Europe/Amsterdam"), zone(f, "America/New_York"), nil}
	f.Fuzz(func(t *testing.T, s string, ms int64, past bool) {
		dir := Future
		if past {
			dir = Past
		}
		now := time.UnixMilli(ms % 4e12)
		for _, loc := range zones {
			at, err := ParseTime(s, now, loc, dir)
			if err != nil {
				if c := CodeOf(err); c != Invalid || len(err.Error()) > 500 {
					t.Fatalf("%q: %v", s, err)
				}
				continue
			}
			again, err := ParseTime(FormatMoment(at.Truncate(time.Microsecond), loc), now, loc, dir)
			if err != nil || !again.Equal(at.Truncate(time.Microsecond)) {
				t.Fatalf("%q = %v, but written and read again %v, %v", s, at, again, err)
			}
			if from, to, err := ParseRange(s, now, loc, dir); err == nil && to.Before(from) {
				t.Fatalf("%q: %v … %v", s, from, to)
			}
		}
	})
}
