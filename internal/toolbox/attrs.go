package toolbox

import (
	"encoding/json"
	"iter"
	"strconv"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// members yields the keys and raw values of a JSON object in their order,
// decoding nothing: attribute objects are read once per entity and answer, and
// most of what they hold is not looked at. It stops at the first fault.
func members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		mirror.EachMember(raw, func(name, value []byte) bool { return yield(string(name), value) })
	}
}

// attrText is a string attribute, "" without it.
func attrText(s *home.State, key string) string {
	t, _ := mirror.Unquote(mirror.Attribute(s, key))
	return t
}

// attrNumber is a numeric attribute; null and anything else is no number.
func attrNumber(s *home.State, key string) (float64, bool) {
	f, err := strconv.ParseFloat(string(mirror.Attribute(s, key)), 64)
	return f, err == nil
}

// attrTexts is an attribute that is a list of strings, nil when it is none.
func attrTexts(s *home.State, key string) []string {
	v := mirror.Attribute(s, key)
	if v == nil {
		return nil
	}
	var out []string
	if json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

// attrTrue reports whether an attribute is true.
func attrTrue(s *home.State, key string) bool { return string(mirror.Attribute(s, key)) == "true" }
