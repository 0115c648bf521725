package journal

import (
	"regexp"
	"strings"

	"hearth/internal/home"
)

// What Home Assistant writes as the source of an automation's run, where an
// entity can be read off it (homeassistant/triggers/*.py, helpers/trigger,
// template, zone, calendar and geo_location triggers):
//
//	state of X                    state, device and purpose-made triggers
//	numeric state of X
//	X via template
//	X entering Zone, X leaving Zone
//	time set in X                 a helper or sensor that holds the time
//	domain - X                    alerts of some integrations
//
// All others (time, time pattern, sun, event, mqtt, webhook, tag …) name none.
var triggerForms = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bstate of ([a-z0-9_]+\.[a-z0-9_]+)`),
	regexp.MustCompile(`(?i)^([a-z0-9_]+\.[a-z0-9_]+) via template\b`),
	regexp.MustCompile(`(?i)^([a-z0-9_]+\.[a-z0-9_]+) (?:entering|leaving) `),
	regexp.MustCompile(`(?i)\btime set in ([a-z0-9_]+\.[a-z0-9_]+)`),
	regexp.MustCompile(`(?i)^[a-z0-9_]+ - ([a-z0-9_]+\.[a-z0-9_]+)$`),
}

// triggerEntity reads the entity off a trigger's description, "" when it
// names none.
func triggerEntity(description string) home.EntityID {
	description = strings.TrimSpace(description)
	for _, form := range triggerForms {
		if m := form.FindStringSubmatch(description); m != nil {
			id := home.EntityID(strings.ToLower(m[1]))
			if id.Valid() && !strings.HasPrefix(string(id), "_") {
				return id
			}
		}
	}
	return ""
}
