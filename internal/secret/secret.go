// Package secret holds values that must not be printed, the one list of
// sensitive key names, and the slog handler that stars them.
package secret

// Value is a string that prints as stars. Reveal gives it.
type Value struct{ s string }

// New wraps s.
func New(s string) Value { return Value{s} }

// Reveal gives the secret itself.
func (v Value) Reveal() string { return v.s }
