package home

import (
	"crypto/rand"
	"regexp"
	"strings"
)

// Site names one connected system, such as "ha" or "tower". Sites are short
// lower-case names chosen in the configuration.
type Site string

// EntityID is Home Assistant's id of an entity: a domain, a dot, an object id.
type EntityID string

// AreaID, FloorID, LabelID and DeviceID are Home Assistant's registry ids.
type (
	AreaID   string
	FloorID  string
	LabelID  string
	DeviceID string
)

var entityPattern = regexp.MustCompile(`^[a-z0-9_]+\.[a-z0-9_]+$`)

// Domain is the part before the dot, or "" where there is no dot.
func (e EntityID) Domain() string {
	d, _, ok := strings.Cut(string(e), ".")
	if !ok {
		return ""
	}
	return d
}

// Object is the part after the dot, or the whole where there is no dot.
func (e EntityID) Object() string {
	if _, o, ok := strings.Cut(string(e), "."); ok {
		return o
	}
	return string(e)
}

// Valid reports whether e has the form Home Assistant accepts.
func (e EntityID) Valid() bool { return entityPattern.MatchString(string(e)) }

// Pattern is the JSON-schema pattern of an entity id.
func (EntityID) Pattern() string { return `^[a-z0-9_]+\.[a-z0-9_]+$` }

// ParseEntityID trims and lower-cases s and checks its form.
func ParseEntityID(s string) (EntityID, error) {
	id := EntityID(strings.ToLower(strings.TrimSpace(s)))
	if !id.Valid() {
		return "", Errorf(Invalid, "%q is not an entity id", Clip(s, 80)).WithHint("write it as domain.object, for example light.kitchen; entity_search finds ids by name")
	}
	return id, nil
}

// crockford is the alphabet of our own ids: no I, L, O, U.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns prefix (with its underscore: "call_", "chg_", "apr_", "job_",
// "tok_") and ten random Crockford base32 characters.
func NewID(prefix string) string {
	var b [10]byte
	rand.Read(b[:]) // never fails since Go 1.24
	for i := range b {
		b[i] = crockford[b[i]&31]
	}
	return prefix + string(b[:])
}

// Clip cuts s to at most n bytes on a rune edge and marks the cut with "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:max(n, 0)] + "…"
}
