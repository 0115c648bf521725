package home

import (
	"regexp"
	"strings"
)

// What people and models write beside ISO and the short forms.
var (
	noonRE  = regexp.MustCompile(`^(\d{1,2})(?::(\d{2}))?\s?(am|pm)$`)
	unitsRE = regexp.MustCompile(`(\d)\s?(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?)\b`)
)

// shorten writes the words for units as ParseDuration has them: "1 hour 30
// minutes" becomes "1h 30m", "an hour" "1h".
func shorten(s string) string {
	if one, ok := strings.CutPrefix(s, "an "); ok {
		s = "1 " + one
	} else if one, ok := strings.CutPrefix(s, "a "); ok {
		s = "1 " + one
	}
	return unitsRE.ReplaceAllStringFunc(s, func(m string) string {
		p := unitsRE.FindStringSubmatch(m)
		return p[1] + p[2][:1]
	})
}

// timeOfDay reads 7:00, 07:00:30, 6pm, 6:30 pm, noon and midnight.
func timeOfDay(s string) (tod, bool) {
	switch s {
	case "noon":
		return tod{h: 12}, true
	case "midnight":
		return tod{}, true
	}
	if m := clockRE.FindStringSubmatch(s); m != nil {
		return clock(m[1:4])
	}
	m := noonRE.FindStringSubmatch(s)
	if m == nil {
		return tod{}, false
	}
	h := number(m[1])
	if h < 1 || h > 12 {
		return tod{}, false
	}
	if h %= 12; m[3] == "pm" {
		h += 12
	}
	c := tod{h: h, m: number(m[2])}
	return c, c.m < 60
}

// bare reads a time of day alone: the last one for reads, the next for jobs.
func (q query) bare(s string) (span, bool) {
	c, ok := timeOfDay(strings.TrimPrefix(s, "at "))
	if !ok {
		return span{}, false
	}
	today := civil(q.now)
	t := q.at(today, c)
	switch {
	case q.dir == Past && t.After(q.now):
		t = q.at(today.add(-1), c)
	case q.dir == Future && !t.After(q.now):
		t = q.at(today.add(1), c)
	}
	return span{from: t}, true
}

// dayPart is the hours a part of a day lies between.
func dayPart(s string) (from, to int, ok bool) {
	switch s {
	case "morning":
		return 5, 12, true
	case "afternoon":
		return 12, 18, true
	case "evening":
		return 18, 24, true
	}
	return 0, 0, false
}

// part reads "this morning", "yesterday evening", "tonight" and "last hour".
func (q query) part(s string) (span, bool) {
	today := civil(q.now)
	word, rest, _ := strings.Cut(strings.TrimPrefix(s, "the "), " ")
	switch {
	case s == "tonight" || s == "this night":
		return span{q.at(today, tod{h: 18}), q.late(today.add(1), tod{h: 8})}, true
	case s == "yesterday night":
		return q.words("last night")
	case word == "last" && q.dir == Past || word == "next" && q.dir == Future:
		return q.stretch(rest)
	case word == "this", word == "today":
		return q.partOf(today, rest)
	case word == "yesterday":
		return q.partOf(today.add(-1), rest)
	case word == "tomorrow":
		return q.partOf(today.add(1), rest)
	}
	w, ok := weekday(word)
	if !ok {
		return span{}, false
	}
	from, _, ok := dayPart(rest)
	if !ok {
		return span{}, false
	}
	return q.partOf(q.nearest(w, tod{h: from}), rest)
}

func (q query) partOf(d day, name string) (span, bool) {
	from, to, ok := dayPart(name)
	switch {
	case !ok:
		return span{}, false
	case to == 24:
		return span{q.at(d, tod{h: from}), q.at(d.add(1), tod{})}, true
	}
	return span{q.at(d, tod{h: from}), q.at(d, tod{h: to})}, true
}

// stretch reads the rest of "last hour", "last 30 minutes" and "next 2 days":
// so long up to now, or from now.
func (q query) stretch(s string) (span, bool) {
	switch s {
	case "hour", "minute", "day", "week":
		s = "1 " + s
	}
	d, err := ParseDuration(shorten(s))
	switch {
	case err != nil:
		return span{}, false
	case q.dir == Past:
		return span{q.now.Add(-d), q.now}, d > 0
	}
	return span{q.now, q.now.Add(d)}, d > 0
}
