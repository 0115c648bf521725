package simhome

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// recorder is what the house remembers: states by entity, and events.
type recorder struct {
	states map[string][]*state
	events []event
}

// How much is remembered: enough for an hour of life, never for a flood.
const (
	keepStates = 2000
	keepEvents = 5000
)

// event is something remembered for the logbook.
type event struct {
	kind           string
	at             time.Time
	ctx            cause
	domain, name   string
	entity, source string
	item, run      string
}

func (p *recorder) keep(s *state) {
	l := append(p.states[s.id], s)
	if len(l) > keepStates {
		l = slices.Clone(l[len(l)-keepStates/2:])
	}
	p.states[s.id] = l
}

func (p *recorder) note(e event) {
	p.events = append(p.events, e)
	if len(p.events) > keepEvents {
		p.events = slices.Clone(p.events[len(p.events)-keepEvents/2:])
	}
}

func pastCommands() map[string]command {
	return map[string]command{
		"history/history_during_period": {keys: "start_time! end_time entity_ids! include_start_time_state significant_changes_only minimal_response no_attributes", do: historyDuring},
		"logbook/get_events":            {keys: "start_time! end_time entity_ids device_ids context_id", do: logbookEvents},
		"trace/list":                    {admin: true, keys: "domain! item_id", do: traceList},
		"trace/get":                     {admin: true, keys: "domain! item_id! run_id!", do: traceGet},
	}
}

// parseTime takes what Home Assistant's own parser takes of the forms Hearth sends.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// span reads start_time and end_time and answers the real errors.
func span(c *conn, r request) (from, to time.Time, ok bool) {
	from, ok = parseTime(r.text("start_time"))
	if !ok {
		c.fail(r.id, &fault{code: "invalid_start_time", message: "Invalid start_time"})
		return
	}
	to = c.h.now()
	if r.fields["end_time"] != nil {
		if to, ok = parseTime(r.text("end_time")); !ok {
			c.fail(r.id, &fault{code: "invalid_end_time", message: "Invalid end_time"})
		}
	}
	return
}

// past is what one question to the recorder asks for.
type question struct {
	from, to                 time.Time
	start, significant, bare bool
}

// seen are the recorded states of an entity within a span; the first stands for the state at its start.
func (h *House) seen(id string, q question) []*state {
	var out []*state
	for _, s := range h.past.states[id] {
		switch {
		case s.updated.After(q.to):
		case !s.updated.After(q.from):
			if q.start {
				out = []*state{s}
			}
		default:
			if q.significant && len(out) > 0 && out[len(out)-1].value == s.value && !strings.Contains(" climate device_tracker humidifier thermostat water_heater ", " "+domainOf(id)+" ") {
				continue
			}
			out = append(out, s)
		}
	}
	return out
}

func historyDuring(c *conn, r request) {
	h := c.h
	from, to, ok := span(c, r)
	if !ok {
		return
	}
	var ids list
	r.decode("entity_ids", &ids)
	for _, id := range ids {
		if !validID(id) {
			c.fail(r.id, &fault{code: "invalid_entity_ids", message: "Invalid entity_ids"})
			return
		}
	}
	q := question{from: from, to: to, start: true, significant: true}
	r.decode("include_start_time_state", &q.start)
	r.decode("significant_changes_only", &q.significant)
	r.decode("no_attributes", &q.bare)
	result := map[string][]map[string]any{}
	if from.After(h.last) {
		ids = nil
	}
	for _, id := range ids {
		for _, s := range h.seen(id, q) {
			at := s.updated
			if at.Before(from) {
				at = from
			}
			p := map[string]any{"s": s.value, "lu": unix(at)}
			if !s.changed.Equal(s.updated) && !s.updated.Before(from) {
				p["lc"] = unix(s.changed)
			}
			if !q.bare {
				p["a"] = recorded(id, s.attrs)
			}
			result[id] = append(result[id], p)
		}
	}
	c.result(r.id, result)
}

// recorded are the attributes the recorder keeps: not those that only say what an entity can do.
func recorded(id string, attrs map[string]any) map[string]any {
	out := map[string]any{}
	drop := unrecorded(domainOf(id))
	for k, v := range attrs {
		if !strings.Contains(drop, " "+k+" ") {
			out[k] = v
		}
	}
	return out
}

// unrecorded names, space separated, what a domain keeps out of the recorder.
func unrecorded(domain string) string {
	all := " supported_features access_token entity_picture editable "
	switch domain {
	case "light":
		return all + "supported_color_modes effect_list min_color_temp_kelvin max_color_temp_kelvin brightness color_mode color_temp_kelvin hs_color rgb_color xy_color rgbw_color rgbww_color effect "
	case "climate":
		return all + "hvac_modes fan_modes swing_modes swing_horizontal_modes preset_modes min_temp max_temp min_humidity max_humidity target_temp_step target_humidity_step temperature_unit "
	case "input_number", "number":
		return all + "min max step mode initial "
	case "input_select", "select":
		return all + "options "
	}
	return all
}

// replyHistory is the REST form: a list for each entity, full states.
func (h *House) replyHistory(w http.ResponseWriter, ids []string, from, to time.Time, q url.Values) {
	_, minimal := q["minimal_response"]
	_, bare := q["no_attributes"]
	_, skip := q["skip_initial_state"]
	all := [][]json.RawMessage{}
	for _, id := range ids {
		var one []json.RawMessage
		states := h.seen(id, question{from: from, to: to, start: !skip, significant: q.Get("significant_changes_only") != "0"})
		for i, s := range states {
			changed := s.changed
			if changed.Before(from) {
				changed = from
			}
			if minimal && i > 0 {
				one = append(one, mustJSON(map[string]any{"state": s.value, "last_changed": iso(changed)}))
				continue
			}
			attrs := recorded(id, s.attrs)
			if bare {
				attrs = map[string]any{}
			}
			updated := s.updated
			if updated.Before(from) {
				updated = from
			}
			one = append(one, mustJSON(map[string]any{"entity_id": id, "state": s.value, "attributes": attrs, "last_changed": iso(changed), "last_updated": iso(updated)}))
		}
		if one != nil {
			all = append(all, one)
		}
	}
	reply(w, 200, all)
}
