package journal

import (
	"time"

	"hearth/internal/home"
)

const (
	foldMany  = 20              // more than this many in one wave become one row
	foldPause = 2 * time.Second // a wave ends after this long without another
)

// The waves that are folded.
const (
	waveDown = iota
	waveUp
	waveFirst
	waveGone
	waves
)

// waveText says what a wave's row says its members did.
func waveText(w int) string {
	return [waves]string{"became unavailable", "became available", "appeared", "were removed"}[w]
}

// wave is many entities doing the same within a short time: the storm of a
// restart. The first ones get rows of their own; when there are too many, those
// become members of one bulk row, as do all that follow.
type wave struct {
	last    time.Time // of the stream
	wall    time.Time // when it was taken
	singles []*event
	bulk    *event
	n       int64
	told    int64 // n as the disk knows it
	lastAt  int64
}

// add takes one change and gives the rows to write for it.
func (w *wave) add(j *Journal, which int, e *event, seen time.Time) {
	if seen.Sub(w.last) > foldPause {
		w.end(j)
	}
	w.last, w.wall = seen, j.wall
	w.lastAt = max(w.lastAt, e.at)
	switch {
	case w.bulk != nil:
		w.n++
		j.rows = append(j.rows, memberRow{w.bulk, e.subject, e.at, e.old, e.now})
	case len(w.singles) < foldMany:
		w.singles = append(w.singles, e)
		j.rows = append(j.rows, e)
	default:
		w.singles = append(w.singles, e)
		first := w.singles[0].at
		for _, s := range w.singles {
			first = min(first, s.at)
		}
		w.n = int64(len(w.singles))
		w.bulk = &event{j: j, at: first, kind: kindBulk, now: e.now, what: waveText(which), n: w.n, flags: e.flags}
		if which != waveDown {
			w.bulk.now = ""
		}
		// The newest single was never written by itself.
		j.rows = append(j.rows, foldRow{w.bulk, w.singles})
		w.singles = nil
	}
}

// tell writes how far the wave has come.
func (w *wave) tell(j *Journal) {
	if w.bulk != nil && w.told != w.n {
		w.told = w.n
		j.rows = append(j.rows, endRow{e: w.bulk, till: w.lastAt, n: w.n})
	}
}

// end closes the wave.
func (w *wave) end(j *Journal) {
	w.tell(j)
	*w = wave{}
}

// settleWaves tells the disk how far each wave has come, and ends those that
// are over at now. While changes still wait to be taken none is over: the
// journal may lag behind the storm.
func (j *Journal) settleWaves(now time.Time) {
	for i := range j.waves {
		w := &j.waves[i]
		if w.bulk == nil && w.singles == nil {
			continue
		}
		if waiting, _ := j.waiting(); waiting == 0 && now.Sub(w.wall) > foldPause {
			w.end(j)
		} else {
			w.tell(j)
		}
	}
}

// waveOf says which wave a state change belongs to; ok is false for none.
func waveOf(old, now *home.State) (which int, ok bool) {
	switch {
	case old == nil:
		return waveFirst, true
	case now == nil:
		return waveGone, true
	case now.Value == home.Unavailable && old.Value != home.Unavailable:
		return waveDown, true
	case old.Value == home.Unavailable && now.Value != home.Unavailable:
		return waveUp, true
	}
	return 0, false
}
