// Package hands does what the door decided: executes and verifies each kind of Step.
package hands

import (
	"log/slog"

	"hearth/internal/hass"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// New makes the hands of the door.
func New(actor *hass.Actor, house *mirror.House, log *slog.Logger) tool.Hands { panic("skeleton") }
