package home

import "time"

// When reads an expression as a moment, with a zero end, or as the stretch that
// a range word means. The end may lie after now.
func (c Clock) When(s string) (from, to time.Time, err error) {
	sp, err := parseSpan(s, c.Now, c.Loc, c.Dir)
	return sp.from, sp.to, err
}
