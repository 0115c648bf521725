package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"hearth/internal/home"
)

// Cutter is implemented by outputs that know how to shorten themselves: list
// items are dropped from the end until the JSON fits; Cut returns the shorter
// value with its continuation set (cursor, truncated) or false when it cannot.
// Cut leaves the receiver as it is, since it is asked more than once.
type Cutter interface {
	Cut(keep int) (any, bool) // keep: how many items may stay
	Len() int
}

// leastItem is how many bytes the smallest item of a list takes: longer lists
// are shortened before they are written for the first time.
const leastItem = 8

// fitted writes v so that it has at most limit bytes: as it is, or cut by
// itself. What cannot be cut is an error that says how to ask for less.
func fitted(v any, limit int) (b json.RawMessage, cut bool, err *home.Error) {
	c, can := v.(Cutter)
	if !can || c.Len() <= limit/leastItem {
		b, bad := marshal(v)
		if bad != nil {
			return nil, false, home.Errorf(home.Internal, "the answer cannot be written as JSON: %w", bad)
		}
		if len(b) <= limit {
			return b, false, nil
		}
		if !can {
			return nil, false, tooLong(len(b), limit)
		}
	}
	return shorten(c, limit)
}

func tooLong(size, limit int) *home.Error {
	return home.Errorf(home.Invalid, "the answer would have %d bytes, at most %d are sent", size, limit).
		WithHint("ask for less: fewer entities or fields, a narrower filter, a shorter time, a smaller limit")
}

// shorten looks for the most items that fit. Sizes grow about evenly with the
// number of items, so a guess by proportion is near after one or two tries.
func shorten(c Cutter, limit int) (json.RawMessage, bool, *home.Error) {
	low, high := -1, c.Len() // low fits (when not -1), high does not
	keep := min(high-1, limit/leastItem)
	var best json.RawMessage
	for tries := 0; keep >= 0 && keep > low && keep < high && tries < 24; tries++ {
		short, ok := c.Cut(keep)
		if !ok {
			break
		}
		b, err := marshal(short)
		if err != nil {
			return nil, false, home.Errorf(home.Internal, "the answer cannot be written as JSON: %w", err)
		}
		if len(b) <= limit {
			best, low = b, keep
			if len(b) > limit*9/10 {
				break
			}
			keep += max(1, (limit-len(b))*max(keep, 1)/max(len(b), 1)*9/10)
			keep = min(keep, high-1)
			continue
		}
		high = keep
		keep = max(low+1, min(high-1, keep*limit/len(b)))
	}
	if best == nil {
		b, err := marshal(c)
		if err != nil {
			return nil, false, home.Errorf(home.Internal, "the answer cannot be written as JSON: %w", err)
		}
		return nil, false, tooLong(len(b), limit)
	}
	return best, true, nil
}

// Len is how many parts of the receipt can be left out.
func (r Receipt) Len() int {
	n := len(r.Targets) + len(r.Would)
	if r.Result != nil {
		n++
	}
	return n
}

// Cut leaves out the service's answer first, then what would be sent, then
// targets, those that went well before those that did not.
func (r Receipt) Cut(keep int) (any, bool) {
	out := r
	out.Notes = slices.Clone(r.Notes)
	if out.Result != nil && keep < r.Len() {
		out.Notes = append(out.Notes, fmt.Sprintf("the service's answer has %d bytes and was left out", len(out.Result)))
		out.Result = nil
	}
	if n := max(0, keep-len(out.Targets)); n < len(out.Would) {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d steps are not shown", len(out.Would)-n, len(out.Would)))
		out.Would = out.Would[:n]
	}
	if keep < len(out.Targets) {
		out.Targets = slices.Clone(r.Targets)
		slices.SortStableFunc(out.Targets, func(a, b home.LeafResult) int {
			return -cmp.Compare(trouble(a.Outcome), trouble(b.Outcome))
		})
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d targets are not shown; the journal has all of them under %s", len(out.Targets)-keep, len(out.Targets), r.Call))
		out.Targets = out.Targets[:keep]
	}
	return out, true
}

// trouble orders outcomes for a receipt that must be cut.
func trouble(o home.Outcome) int {
	switch o {
	case home.Done, home.Already, home.Accepted:
		return 0
	case home.Assumed, home.Sent, home.Waiting:
		return 1
	}
	return 2
}
