// Package secret holds values that must not be printed, the one list of
// sensitive key names, and the slog handler that stars them.
//
// Promises: a Value never shows what it holds through fmt, JSON, text or slog,
// not even as a field of another struct; only Reveal gives it. Star and Text
// never change what is not secret, byte for byte. Everything here is safe for
// concurrent use and does no input or output except Load, Loose and Write.
//
//	token, err := secret.Load("/data/token")
//	log := slog.New(secret.NewHandler(slog.NewTextHandler(os.Stderr, nil)))
//	log.Info("linked", "token", token)            // token=***
//	secret.Star(json.RawMessage(`{"code":"1234"}`)) // {"code":"***"}
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Stars is what stands in place of a secret.
const Stars = "***"

// ownPrefix begins Hearth's own tokens.
const ownPrefix = "hearth_"

// Value is a string that prints as stars, or as nothing when it is empty. The
// zero Value is empty. Compare with Equal, not with ==.
type Value struct {
	// A pointer, because fmt cannot call methods on unexported fields of other
	// structs: there it shows the address and not the text.
	p *string
}

// New wraps s.
func New(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{p: &s}
}

// Reveal gives the secret itself.
func (v Value) Reveal() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

// Empty reports whether there is no secret.
func (v Value) Empty() bool { return v.p == nil }

// Equal compares in constant time.
func (v Value) Equal(o Value) bool {
	a, b := sha256.Sum256([]byte(v.Reveal())), sha256.Sum256([]byte(o.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Hint is the first four characters and stars, so that a person can tell
// tokens apart; Hearth's own begin all alike, so theirs come after "hearth_". A
// secret shorter than 16 bytes beside that gives only stars.
func (v Value) Hint() string {
	s := v.Reveal()
	n := 4
	if strings.HasPrefix(s, ownPrefix) {
		n += len(ownPrefix)
	}
	if len(s) < n+12 {
		return v.String()
	}
	return s[:n] + Stars
}

// String gives stars, or "" when empty.
func (v Value) String() string {
	if v.p == nil {
		return ""
	}
	return Stars
}

// GoString gives stars for %#v.
func (v Value) GoString() string { return `secret.Value("` + v.String() + `")` }

// Format gives stars for every verb.
func (v Value) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		io.WriteString(f, v.GoString())
		return
	}
	io.WriteString(f, v.String())
}

// MarshalText gives stars.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// MarshalJSON gives stars as a JSON string.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + v.String() + `"`), nil }

// MarshalYAML gives stars.
func (v Value) MarshalYAML() (any, error) { return v.String(), nil }

// LogValue gives stars.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// errInline is what decoding a secret out of a document gives.
var errInline = errors.New("a secret is given as a file or by environment, never inline")

// UnmarshalText refuses: secrets come from files and the environment only.
func (v *Value) UnmarshalText([]byte) error { return errInline }

// UnmarshalJSON refuses: secrets come from files and the environment only.
func (v *Value) UnmarshalJSON([]byte) error { return errInline }
