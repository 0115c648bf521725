package home

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Direction says which way an expression without a date looks: "2h" is two
// hours ago for a read and in two hours for a job. The zero value is refused.
type Direction uint8

// The directions.
const (
	_      Direction = iota
	Past             // reads: the last monday, 2h ago
	Future           // jobs: the next monday, in 2h
)

// TimeForms is the sentence that lists what ParseTime accepts, for hints and
// for the descriptions of arguments.
const TimeForms = "2026-11-30T07:00, 2026-11-30T07:00:00+01:00, 2026-11-30, 2h, NOW-30m, 7:00, 6pm, today 7:00, yesterday, last night, this morning, last hour, monday 14:00"

// ParseTime reads a time expression as a moment: ISO 8601 with or without zone
// (without one it is local), "2h" and "2h ago", "30 minutes", "in 2h",
// "NOW-30m", "7:00" and "6pm" alone (the last one looking back, the next one
// looking ahead), "today 7:00", "yesterday", "tomorrow", "monday 14:00", "last
// night" and "tonight" (18:00 to 8:00), morning (5:00 to 12:00), afternoon (to
// 18:00) and evening (to midnight) behind this, yesterday, tomorrow or a
// weekday, and "last hour". A range word gives its beginning. loc nil means UTC. A local time that a clock change
// skips is moved forward by the change; one that happens twice is the first.
// Anything else is an Invalid error whose hint shows the accepted forms.
func ParseTime(s string, now time.Time, loc *time.Location, dir Direction) (time.Time, error) {
	sp, err := parseSpan(s, now, loc, dir)
	return sp.from, err
}

// ParseRange reads a time expression as a stretch of time. A range word
// ("yesterday", "last night", "monday", a date) sets both ends; a moment
// reaches to now when it looks back and from now when it looks ahead. Looking
// back, the end is never after now. The beginning belongs to the range, the
// end does not.
func ParseRange(s string, now time.Time, loc *time.Location, dir Direction) (from, to time.Time, err error) {
	sp, err := parseSpan(s, now, loc, dir)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	switch {
	case sp.to.IsZero() && dir == Past:
		sp.to = now
	case sp.to.IsZero():
		sp.from, sp.to = now, sp.from
	}
	if dir == Past && sp.to.After(now) {
		sp.to = now
	}
	if sp.to.Before(sp.from) {
		return time.Time{}, time.Time{}, Errorf(Invalid, "the time %q does not lie in the %s", Clip(s, 60), dir).WithHint("it is %s now", FormatTime(now, loc))
	}
	return sp.from, sp.to, nil
}

// String names the direction.
func (d Direction) String() string {
	switch d {
	case Past:
		return "past"
	case Future:
		return "future"
	}
	return "invalid"
}

// Clock is the moment, place and direction that time expressions are read with.
type Clock struct {
	Now time.Time
	Loc *time.Location // nil means UTC
	Dir Direction
}

// Window reads the two ends of a question about the past. An empty from that
// stands alone means def before now; with an end given, def before that end, so
// that an old end never yields an empty window. A range word in from sets the
// end too unless to is given; a range word in to ends where the range ends.
func (c Clock) Window(from, to string, def time.Duration) (a, b time.Time, err error) {
	b = c.Now
	if strings.TrimSpace(to) != "" {
		sp, err := parseSpan(to, c.Now, c.Loc, c.Dir)
		if err != nil {
			return a, b, err
		}
		if b = sp.from; !sp.to.IsZero() {
			b = sp.to
		}
	}
	if strings.TrimSpace(from) == "" {
		a = b.Add(-def)
	} else {
		sp, err := parseSpan(from, c.Now, c.Loc, c.Dir)
		if err != nil {
			return a, b, err
		}
		if a = sp.from; strings.TrimSpace(to) == "" && !sp.to.IsZero() {
			b = sp.to
		}
	}
	if c.Dir == Past && b.After(c.Now) {
		b = c.Now
	}
	if !a.Before(b) {
		return a, b, Errorf(Invalid, "the window is empty: it begins %s and ends %s", FormatTime(a, c.Loc), FormatTime(b, c.Loc)).WithHint("give a beginning before the end; it is %s now", FormatTime(c.Now, c.Loc))
	}
	return a, b, nil
}

// FormatTime writes t as RFC 3339 with the offset of loc (UTC when nil) at that
// moment, to the second. The zero time gives "".
func FormatTime(t time.Time, loc *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return Local(t, loc).Format(time.RFC3339)
}

// FormatMoment is FormatTime with the fraction of the second that Home
// Assistant keeps (up to microseconds).
func FormatMoment(t time.Time, loc *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return Local(t, loc).Format("2006-01-02T15:04:05.999999Z07:00")
}

// Local is t in loc, or in UTC where loc is nil.
func Local(t time.Time, loc *time.Location) time.Time {
	if loc == nil {
		loc = time.UTC
	}
	return t.In(loc)
}

// span is what an expression means: a moment (to is zero) or a stretch.
type span struct{ from, to time.Time }

var (
	relative = regexp.MustCompile(`^now(?:\s*([+-])\s*(.+))?$`)
	clockRE  = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2}))?$`)
	dateRE   = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)
	localRE  = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})[t ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?$`)
	zonedRE  = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})[t ](\d{2}:\d{2})(:\d{2}(?:[.,]\d{1,9})?)?\s?(z|[+-]\d{2}:?\d{2})$`)
)

func parseSpan(s string, now time.Time, loc *time.Location, dir Direction) (span, error) {
	if dir != Past && dir != Future {
		return span{}, Errorf(Internal, "a time expression needs a direction")
	}
	if loc == nil {
		loc = time.UTC
	}
	q := query{now: now.In(loc), loc: loc, dir: dir}
	text := strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if len(text) <= 64 {
		for _, read := range []func(string) (span, bool){q.iso, q.relative, q.words, q.bare, q.part} {
			if sp, ok := read(text); ok && sane(sp) {
				return sp, nil
			}
		}
	}
	return span{}, Errorf(Invalid, "%q is not a time", Clip(s, 60)).WithHint("write it as one of: " + TimeForms)
}

// sane keeps years where formatting and milliseconds cannot overflow.
func sane(sp span) bool {
	y := sp.from.Year()
	return y >= 1970 && y <= 9999 && (sp.to.IsZero() || sp.to.Year() <= 9999)
}

// query is what one expression is read against.
type query struct {
	now time.Time // in loc
	loc *time.Location
	dir Direction
}

func (q query) iso(s string) (span, bool) {
	if m := dateRE.FindStringSubmatch(s); m != nil {
		d, ok := date(m[1:4])
		return q.day(d), ok
	}
	if m := localRE.FindStringSubmatch(s); m != nil {
		d, ok := date(m[1:4])
		c, okc := clock(m[4:7])
		frac := m[7] + strings.Repeat("0", 9-len(m[7]))
		return span{from: q.at(d, c).Add(time.Duration(number(frac)))}, ok && okc
	}
	m := zonedRE.FindStringSubmatch(s)
	if m == nil {
		return span{}, false
	}
	sec, off := strings.Replace(m[3], ",", ".", 1), strings.ToUpper(m[4])
	if sec == "" {
		sec = ":00"
	}
	if len(off) == 5 {
		off = off[:3] + ":" + off[3:]
	}
	t, err := time.Parse(time.RFC3339Nano, m[1]+"T"+m[2]+sec+off)
	return span{from: t}, err == nil
}

func (q query) relative(s string) (span, bool) {
	if m := relative.FindStringSubmatch(s); m != nil {
		if m[1] == "" {
			return span{from: q.now}, true
		}
		d, err := ParseDuration(shorten(m[2]))
		if m[1] == "-" {
			d = -d
		}
		return span{from: q.now.Add(d)}, err == nil
	}
	sign := time.Duration(-1)
	if q.dir == Future {
		sign = 1
	}
	if t, ok := strings.CutSuffix(s, " ago"); ok {
		s, sign = t, -1
	} else if t, ok := strings.CutPrefix(s, "in "); ok {
		s, sign = t, 1
	}
	d, err := ParseDuration(shorten(s))
	return span{from: q.now.Add(sign * d)}, err == nil
}

// words reads a day word with an optional time of day.
func (q query) words(s string) (span, bool) {
	today := civil(q.now)
	if s == "last night" {
		return span{q.at(today.add(-1), tod{h: 18}), q.late(today, tod{h: 8})}, true
	}
	word, rest, timed := strings.Cut(s, " ")
	var c tod
	if timed {
		var ok bool
		if c, ok = timeOfDay(strings.TrimPrefix(rest, "at ")); !ok {
			return span{}, false
		}
	}
	var d day
	switch word {
	case "today":
		d = today
	case "yesterday":
		d = today.add(-1)
	case "tomorrow":
		d = today.add(1)
	default:
		w, ok := weekday(word)
		if !ok {
			return span{}, false
		}
		d = q.nearest(w, c)
	}
	if timed {
		return span{from: q.at(d, c)}, true
	}
	return q.day(d), true
}

// nearest is the last day w whose c is not after now, or the next whose c is
// after now.
func (q query) nearest(w time.Weekday, c tod) day {
	today := civil(q.now)
	back := (int(q.now.Weekday()) - int(w) + 7) % 7
	d := today.add(-back)
	if q.dir == Past {
		if q.at(d, c).After(q.now) {
			d = d.add(-7)
		}
		return d
	}
	if !q.at(d, c).After(q.now) {
		d = d.add(7)
	}
	return d
}

// day is the whole of a day, 23 to 25 hours long.
func (q query) day(d day) span { return span{q.at(d, tod{}), q.at(d.add(1), tod{})} }

// at is the first moment at which the clocks of the house show d and c.
func (q query) at(d day, c tod) time.Time { t, _ := wall(d, c, q.loc); return t }

// late is the last moment at which they do.
func (q query) late(d day, c tod) time.Time { _, t := wall(d, c, q.loc); return t }

type (
	// day is a date in the calendar, without a zone.
	day struct {
		y int
		m time.Month
		d int
	}
	// tod is a time of day.
	tod struct{ h, m, s int }
)

func civil(t time.Time) day { y, m, d := t.Date(); return day{y, m, d} }

func (d day) add(n int) day { return civil(time.Date(d.y, d.m, d.d+n, 12, 0, 0, 0, time.UTC)) }

// wall gives the first and the last moment at which clocks in loc show d and c.
// Both are the same except in the hour that a clock change repeats. A time that
// a change skips is read with the offset before it, which lands as far after
// the change as the time was into the hole. (time.Date leaves both undefined.)
func wall(d day, c tod, loc *time.Location) (first, last time.Time) {
	u := time.Date(d.y, d.m, d.d, c.h, c.m, c.s, 0, time.UTC)
	_, before := u.Add(-24 * time.Hour).In(loc).Zone()
	_, after := u.Add(24 * time.Hour).In(loc).Zone()
	a := u.Add(-time.Duration(before) * time.Second).In(loc)
	b := u.Add(-time.Duration(after) * time.Second).In(loc)
	okA, okB := shows(a, d, c), shows(b, d, c)
	switch {
	case okA && okB && b.Before(a):
		return b, a
	case okA && okB:
		return a, b
	case okB:
		return b, b
	}
	return a, a
}

func shows(t time.Time, d day, c tod) bool {
	h, m, s := t.Clock()
	return civil(t) == d && (tod{h, m, s}) == c
}

func date(m []string) (day, bool) {
	d := day{number(m[0]), time.Month(number(m[1])), number(m[2])}
	return d, d.add(0) == d && d.y >= 1970
}

func clock(m []string) (tod, bool) {
	c := tod{number(m[0]), number(m[1]), number(m[2])}
	return c, c.h < 24 && c.m < 60 && c.s < 60
}

// number reads digits that a pattern has already matched; "" is 0.
func number(s string) int { n, _ := strconv.Atoi(s); return n }

func weekday(s string) (time.Weekday, bool) {
	for w := time.Sunday; w <= time.Saturday; w++ {
		name := strings.ToLower(w.String())
		if s == name || s == name[:3] {
			return w, true
		}
	}
	return 0, false
}
