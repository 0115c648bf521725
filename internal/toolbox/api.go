// Package toolbox declares the tools and does their work, one file per shelf.
package toolbox

import (
	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/tool"
)

// Box is what the tools work with. new(Box).Tools() works with nothing inside, for docs and snapshots.
type Box struct {
	House   *mirror.House
	Hass    *hass.Client
	Journal *journal.Journal
	Recall  *recall.Index
	Health  *health.Registry
	Version string
}

// Tools are all tools, in the order they are listed.
func (b *Box) Tools() []tool.Tool { panic("skeleton") }
