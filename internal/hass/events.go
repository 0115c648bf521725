package hass

import (
	"time"

	"hearth/internal/home"
)

// openEvents are the event types anybody may subscribe to. They tell that a
// list changed.
func openEvents() []string {
	return []string{
		"entity_registry_updated", "device_registry_updated", "area_registry_updated",
		"floor_registry_updated", "label_registry_updated", "core_config_updated",
		"service_registered", "service_removed",
	}
}

// adminEvents are those only an administrator gets: what the journal is made of,
// and more that tells of changed lists.
func adminEvents() []string {
	return []string{
		"call_service", "automation_triggered", "script_started", "mobile_app_notification_action",
		"homeassistant_started", "homeassistant_stop", "automation_reloaded", "scene_reloaded",
		"user_added", "user_updated", "user_removed",
	}
}

// reported says which events the sink gets; the others only mark lists.
func reported(event string) bool {
	switch event {
	case "call_service", "automation_triggered", "script_started", "mobile_app_notification_action",
		"homeassistant_started", "homeassistant_stop", "automation_reloaded", "scene_reloaded":
		return true
	}
	return false
}

// eventData is what the link itself needs of an event's data.
type eventData struct {
	action  string // create, update, remove
	entity  home.EntityID
	old     home.EntityID
	domain  string
	service string
}

// decodeEvent decodes {event_type, data, origin, time_fired, context}.
func decodeEvent(raw []byte) (e home.Event, d eventData, ok bool) {
	s := scanner{b: raw}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "event_type":
			e.Type = s.text()
		case "data":
			data := s.raw()
			e.Data = append([]byte(nil), data...)
			d = dataOf(data)
		case "origin":
			e.Origin = s.textOrNull()
		case "time_fired":
			at, err := time.Parse(time.RFC3339Nano, s.text())
			if err != nil {
				s.fail()
			}
			e.Fired = at.UTC()
		case "context":
			e.Context = wholeContext(&s)
		default:
			s.skip()
		}
	}
	return e, d, s.end() && e.Type != ""
}

// dataOf picks the members the link needs; raw is known to be JSON.
func dataOf(raw []byte) (d eventData) {
	s := scanner{b: raw}
	if s.peek() != '{' {
		return d
	}
	for s.open('{'); s.more('}'); {
		key := string(s.key())
		if s.peek() != '"' {
			s.skip()
			continue
		}
		switch key {
		case "action":
			d.action = s.text()
		case "entity_id":
			d.entity = home.EntityID(s.text())
		case "old_entity_id":
			d.old = home.EntityID(s.text())
		case "domain":
			d.domain = s.text()
		case "service":
			d.service = s.text()
		default:
			s.skip()
		}
	}
	return d
}

func wholeContext(s *scanner) (c home.Context) {
	if s.peek() == 'n' {
		s.literal("null")
		return c
	}
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "id":
			c.ID = s.textOrNull()
		case "parent_id":
			c.Parent = s.textOrNull()
		case "user_id":
			c.User = s.textOrNull()
		default:
			s.skip()
		}
	}
	return c
}

// happened takes an event: it is reported where the journal wants it, and marks
// what has to be read again.
func (s *session) happened(kind string, raw []byte, at time.Time) {
	e, d, ok := decodeEvent(raw)
	if !ok {
		s.c.badFrame(raw, "not an event", at)
		return
	}
	if reported(kind) {
		s.flow.event(&e)
	}
	k := s.keeper
	switch kind {
	case "entity_registry_updated":
		k.entityChanged(d.entity, d.old)
	case "device_registry_updated":
		k.mark(listDevices)
	case "area_registry_updated":
		k.mark(listAreas)
	case "floor_registry_updated":
		k.mark(listFloors)
	case "label_registry_updated":
		k.mark(listLabels)
	case "user_added", "user_updated", "user_removed":
		k.mark(listUsers)
	case "service_registered", "service_removed":
		k.mark(listServices)
	case "core_config_updated", "homeassistant_started":
		k.mark(listInfo)
	case "automation_reloaded":
		k.bodies.again("automation", 0)
	case "scene_reloaded":
		k.bodies.again("scene", 0)
	case "call_service":
		k.bodies.called(d)
	}
}
