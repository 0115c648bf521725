package journal

import (
	"bytes"
	"encoding/json"

	"hearth/internal/mirror"
)

// member is the raw value of one key, nil when the object has none.
func member(obj []byte, key string) []byte {
	var out []byte
	mirror.EachMember(obj, func(k, v []byte) bool {
		if string(k) == key {
			out = v
			return false
		}
		return true
	})
	return out
}

// text is the string in a raw JSON value, "" when it is none.
func text(raw []byte) string {
	s, _ := mirror.Unquote(raw)
	return s
}

// changed gives, as a JSON object, those of the named attributes whose value
// differs between two attribute objects; null stands for one that is gone. It
// is nil when none differs.
func changed(old, now []byte, names []string) json.RawMessage {
	if len(names) == 0 || bytes.Equal(old, now) {
		return nil
	}
	var before, after [maxAttributes][]byte
	pick(old, names, &before)
	pick(now, names, &after)
	var out []byte
	for i, name := range names {
		a, b := before[i], after[i]
		if bytes.Equal(a, b) || (isNull(a) && isNull(b)) {
			continue
		}
		if b == nil {
			b = []byte("null")
		}
		if out == nil {
			out = append(make([]byte, 0, 64), '{')
		} else {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, name...)
		out = append(out, '"', ':')
		out = append(out, b...)
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}

func isNull(v []byte) bool { return v == nil || string(v) == "null" }

// maxAttributes bounds the attributes one rule may name.
const maxAttributes = 16

func pick(obj []byte, names []string, into *[maxAttributes][]byte) {
	left := len(names)
	mirror.EachMember(obj, func(k, v []byte) bool {
		for i, n := range names {
			if string(k) == n {
				into[i] = v
				left--
				break
			}
		}
		return left > 0
	})
}
