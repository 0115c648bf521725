package journal

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"hearth/internal/home"
)

// A cursor is base64url of: version, 8 bytes of the filter's hash, the window
// it was made for (from, to, and the now it was asked at, UTC milliseconds),
// the sort key (milliseconds) and the sequence of the last row given.
const (
	cursorVersion = 1
	cursorSize    = 1 + 8 + 5*8
)

// place is where a page continues: after the row with that time and sequence.
type place struct {
	set bool
	at  int64
	id  int64
}

// filterHash covers everything that chooses rows, except the window and how
// many are wanted at once.
func (q *Query) filterHash() []byte {
	f := *q
	f.From, f.To, f.Now, f.Limit, f.Cursor, f.Location = time.Time{}, time.Time{}, time.Time{}, 0, "", nil
	b, err := json.Marshal(f)
	if err != nil {
		b = nil // a Query of strings always marshals
	}
	sum := sha256.Sum256(b)
	return sum[:8]
}

func (q *Query) cursor(at, id int64) string {
	b := make([]byte, 0, cursorSize)
	b = append(b, cursorVersion)
	b = append(b, q.filterHash()...)
	for _, n := range []int64{q.From.UnixMilli(), q.To.UnixMilli(), q.Now.UnixMilli(), at, id} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// resume reads the cursor, fixes the window to the one it was made for and says
// where to go on. A window given anew must be the same one: the same times, or
// times that moved along with now (a relative window asked again).
func (q *Query) resume() (place, error) {
	given := *q
	if err := q.window(); err != nil {
		return place{}, err
	}
	if q.Cursor == "" {
		return place{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(b) != cursorSize || b[0] != cursorVersion {
		return place{}, home.Errorf(home.Invalid, "this is no cursor of the journal").WithHint("pass the cursor exactly as it was given, or leave it out")
	}
	if string(b[1:9]) != string(q.filterHash()) {
		return place{}, home.Errorf(home.Invalid, "the cursor belongs to another filter").WithHint("repeat the filter the cursor came with, or leave the cursor out")
	}
	var n [5]int64
	for i := range n {
		n[i] = int64(binary.BigEndian.Uint64(b[9+8*i:]))
	}
	from, to, now := time.UnixMilli(n[0]), time.UnixMilli(n[1]), time.UnixMilli(n[2])
	drift := q.Now.Sub(now)
	if !sameEnd(given.From, from, drift) || !sameEnd(given.To, to, drift) {
		return place{}, home.Errorf(home.Invalid, "the cursor belongs to another window").WithHint("repeat the times the cursor came with, or leave the cursor out")
	}
	q.From, q.To, q.Now = from, to, now
	return place{set: true, at: n[3], id: n[4]}, nil
}

// sameEnd reports whether an end given anew means the one of the cursor.
func sameEnd(given, was time.Time, drift time.Duration) bool {
	if given.IsZero() {
		return true
	}
	d := given.Sub(was)
	return d.Abs() < 2*time.Millisecond || (d-drift).Abs() < 2*time.Second
}
