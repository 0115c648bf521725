package toolbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"hearth/internal/home"
)

// cursor is the place after the last row of a page: lists are sorted by a key
// that does not change, so the place survives a restart and changes of the house.
type cursor struct {
	Version int    `json:"v"`
	Filter  string `json:"f"` // hash of tool and filter
	Key     string `json:"k"` // the last row's sort key
	Seq     uint64 `json:"s"` // the view that page was read from
}

const cursorVersion = 1

// filterHash names a tool and everything in a request that decides which rows come.
func filterHash(tool string, filter any) string {
	b, _ := json.Marshal(filter) // structs of strings cannot fail
	sum := sha256.Sum256(append([]byte(tool+"\x00"), b...))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

func (c cursor) String() string {
	c.Version = cursorVersion
	b, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a cursor that belongs to filter; "" is the beginning.
func parseCursor(s, filter string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	switch {
	case err != nil || c.Version != cursorVersion:
		return c, home.Errorf(home.Invalid, "cursor %q is not one of ours", home.Clip(s, 40)).WithHint("pass next of the answer before unchanged, or leave cursor out to begin again")
	case c.Filter != filter:
		return c, home.Errorf(home.Invalid, "the cursor belongs to another filter").WithHint("keep all other arguments as they were, or leave cursor out to begin again")
	}
	return c, nil
}
