// Package recall finds entities by what people call them.
package recall

import (
	"context"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// Index is the search index over the mirror.
type Index struct{}

// New makes an empty index; Run keeps it.
func New(house *mirror.House) *Index { panic("skeleton") }

// Run follows the derived stream until ctx ends.
func (x *Index) Run(ctx context.Context) error { panic("skeleton") }

// Query is a search. Domain and Area narrow before ranking.
type Query struct {
	Text   string
	Domain string
	Area   home.AreaID
	Floor  home.FloorID
	Label  home.LabelID
	Limit  int // 0 means 10; at most 50
}

// Hit is one entity found; Why says which words matched what.
type Hit struct {
	Entity *home.Entity
	State  *home.State
	Score  float64
	Why    string
}

// Find gives the best hits first. Ambiguous is true when the first two cannot be told apart by the words.
func (x *Index) Find(sc home.Scope, q Query) (hits []Hit, ambiguous bool) { panic("skeleton") }

// Near gives the ids nearest to a misspelt id, at most n, within sight.
func (x *Index) Near(sc home.Scope, id string, n int) []Hit { panic("skeleton") }
