package tool

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"hearth/internal/home"
)

// Registry is the catalogue and its door. The func fields are set once, before
// the first call; Log may be nil.
type Registry struct {
	Judge  Judge
	Eyes   Eyes
	Hands  Hands
	Record Record
	Now    func() time.Time
	Log    *slog.Logger

	tools   []Tool
	byName  map[string]int
	byLoose map[string]int
}

// NewRegistry makes a registry; a duplicate name panics, also one that differs
// only in case or separators.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{tools: slices.Clone(tools), byName: map[string]int{}, byLoose: map[string]int{}}
	for i, t := range r.tools {
		if t.d == nil {
			panic("tool: an empty Tool in the registry")
		}
		name := t.d.spec.Name
		if _, twice := r.byLoose[loose(name)]; twice {
			fault(name, "the name is declared twice")
		}
		r.byName[name] = i
		r.byLoose[loose(name)] = i
	}
	return r
}

// All lists every tool in order. The caller may keep the slice.
func (r *Registry) All() []Tool { return slices.Clone(r.tools) }

// Visible lists the tools that the caller's grant reaches, in order.
func (r *Registry) Visible(c Caller) []Tool {
	var out []Tool
	for _, t := range r.tools {
		if c.Grant.Allows(t.d.spec.Class) {
			out = append(out, t)
		}
	}
	return out
}

// Find finds a tool by name; case and separators do not count, so EntityGet,
// entity-get and entity_get are one. A client's own prefix is taken off.
func (r *Registry) Find(name string) (Tool, bool) {
	if i, ok := r.byName[name]; ok {
		return r.tools[i], true
	}
	if len(name) > 200 {
		return Tool{}, false
	}
	n := loose(name)
	for _, prefix := range []string{"", "mcphearth", "hearth"} {
		rest, ok := strings.CutPrefix(n, prefix)
		if !ok {
			continue
		}
		if i, ok := r.byLoose[rest]; ok {
			return r.tools[i], true
		}
	}
	return Tool{}, false
}

// missing is the error for a name that is no tool, with the nearest names
// within the caller's grant.
func (r *Registry) missing(c Caller, name string) *home.Error {
	var names []string
	for _, t := range r.tools {
		if c.Grant.Allows(t.d.spec.Class) {
			names = append(names, t.d.spec.Name)
		}
	}
	msg := fmt.Sprintf("no tool %s", Quote(name, 80))
	near := Nearest(home.Clip(name, 200), names, 3)
	if len(near) == 0 {
		return home.Errorf(home.NotFound, "%s", msg).WithHint("the list of tools names all there are")
	}
	return home.Errorf(home.NotFound, "%s. Did you mean %s?", msg, strings.Join(near, ", ")).WithHint("the list of tools names all there are")
}

func (r *Registry) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Registry) log() *slog.Logger {
	if r.Log != nil {
		return r.Log
	}
	return slog.New(slog.DiscardHandler)
}
