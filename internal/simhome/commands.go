package simhome

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
)

// list is one string or several, as the protocol accepts both.
type list []string

// UnmarshalJSON takes a string or a list of strings.
func (l *list) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = nil
		for s := range strings.SplitSeq(one, ",") {
			*l = append(*l, strings.TrimSpace(s))
		}
		return nil
	}
	var many []string
	err := json.Unmarshal(b, &many)
	*l = many
	return err
}

// command is one WebSocket command: who may send it, which keys it takes
// (those with ! must be there; bare means none, checked the short way).
type command struct {
	admin bool
	keys  string
	do    func(*conn, request)
}

// check refuses what the real schema refuses.
func (cmd command) check(u *user, r request) *fault {
	if cmd.admin && !u.admin() {
		return &fault{code: "unauthorized", message: "Unauthorized"}
	}
	known := map[string]bool{"id": true, "type": true}
	for key := range strings.FieldsSeq(cmd.keys) {
		name, must := strings.CutSuffix(key, "!")
		known[name] = true
		if _, ok := r.fields[name]; must && !ok {
			return &fault{code: "invalid_format", message: "required key not provided at '" + name + "'. Got None"}
		}
	}
	for key, v := range r.fields {
		if known[key] {
			continue
		}
		if cmd.keys == "" {
			return &fault{code: "invalid_format", message: "extra keys not allowed. Got " + string(mustJSON(r.fields))}
		}
		return &fault{code: "invalid_format", message: "not a valid option at '" + key + "'. Got " + string(v)}
	}
	return nil
}

// Commands are the WebSocket commands the house knows, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(commands())) }

// commands is the table of all handlers, made once and never changed.
var commands = sync.OnceValue(func() map[string]command {
	all := map[string]command{}
	for _, part := range []map[string]command{coreCommands(), registryCommands(), pastCommands(), accountCommands()} {
		maps.Copy(all, part)
	}
	return all
})

func coreCommands() map[string]command {
	return map[string]command{
		"ping":                {do: func(c *conn, r request) { c.answer(pong(r.id)) }},
		"supported_features":  {keys: "features!", do: supportedFeatures},
		"get_states":          {do: getStates},
		"get_config":          {do: func(c *conn, r request) { c.result(r.id, c.h.config) }},
		"get_services":        {do: func(c *conn, r request) { c.result(r.id, c.h.serviceTable()) }},
		"subscribe_events":    {keys: "event_type", do: subscribeEvents},
		"unsubscribe_events":  {keys: "subscription!", do: unsubscribeEvents},
		"subscribe_entities":  {keys: "entity_ids", do: subscribeEntities},
		"call_service":        {keys: "domain! service! target service_data return_response", do: callService},
		"extract_from_target": {keys: "target! expand_group primary_entities_only", do: extractFromTarget},
		"automation/config":   {admin: true, keys: "entity_id!", do: bodyOf},
		"script/config":       {admin: true, keys: "entity_id!", do: bodyOf},
	}
}

func registryCommands() map[string]command {
	all := map[string]command{
		"config/entity_registry/list":                  {keys: "", do: entityList},
		"config/entity_registry/get":                   {keys: "entity_id!", do: entityGet},
		"config/entity_registry/get_entries":           {keys: "entity_ids!", do: entityEntries},
		"config/entity_registry/update":                {admin: true, keys: "entity_id! aliases area_id categories device_class icon labels name new_entity_id disabled_by hidden_by options_domain options", do: entityUpdate},
		"config/device_registry/list":                  {do: deviceList},
		"config/device_registry/list_composite_splits": {do: compositeSplits},
		"config/device_registry/update":                {admin: true, keys: "device_id! area_id name_by_user disabled_by labels", do: deviceUpdate},
	}
	maps.Copy(all, areaShelf().commands("config/area_registry", "aliases floor_id icon labels"))
	maps.Copy(all, floorShelf().commands("config/floor_registry", "aliases icon level"))
	maps.Copy(all, labelShelf().commands("config/label_registry", "color description icon"))
	return all
}

func pong(id int) []byte { return mustJSON(map[string]any{"id": id, "type": "pong"}) }

func supportedFeatures(c *conn, r request) {
	var features map[string]int
	r.decode("features", &features)
	c.mu.Lock()
	c.coalesce = features["coalesce_messages"] > 0
	c.mu.Unlock()
	c.result(r.id, nil)
}

func getStates(c *conn, r request) { c.resultJSON(r.id, c.h.statesJSON()) }

func (h *House) statesJSON() []byte {
	b := []byte{'['}
	for i, id := range h.order {
		if i > 0 {
			b = append(b, ',')
		}
		b = h.states[id].appendFull(b)
	}
	return append(b, ']')
}

// openEvents may be subscribed to by anyone; all others need an administrator.
const openEvents = " area_registry_updated component_loaded core_config_updated device_registry_updated " +
	"entity_registry_updated floor_registry_updated label_registry_updated lovelace_updated " +
	"panels_updated persistent_notifications_updated recorder_5min_statistics_generated " +
	"recorder_hourly_statistics_generated repairs_issue_registry_updated service_registered " +
	"service_removed shopping_list_updated state_changed themes_updated "

func subscribeEvents(c *conn, r request) {
	kind := r.text("event_type")
	if kind == "*" {
		kind = ""
	}
	if !c.user.admin() && !strings.Contains(openEvents, " "+kind+" ") {
		c.fail(r.id, &fault{code: "unauthorized", message: "Unauthorized"})
		return
	}
	c.h.subscribe(&subscription{conn: c, id: r.id, event: kind})
	c.result(r.id, nil)
}

func unsubscribeEvents(c *conn, r request) {
	var id int
	r.decode("subscription", &id)
	if id == 0 || !c.h.unsubscribe(c, id) {
		c.fail(r.id, &fault{code: "not_found", message: "Subscription not found."})
		return
	}
	c.result(r.id, nil)
}

func subscribeEntities(c *conn, r request) {
	h := c.h
	s := &subscription{conn: c, id: r.id, entities: true}
	var ids list
	if r.decode("entity_ids", &ids); len(ids) > 0 {
		s.only = set{}
		for _, id := range ids {
			s.only[id] = true
		}
	}
	h.subscribe(s)
	c.result(r.id, nil)
	b := []byte(`{"a":{`)
	first := true
	for _, id := range h.order {
		if s.only != nil && !s.only[id] {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, id), ':')
		b = h.states[id].appendCompressed(b)
	}
	c.event(r.id, append(b, `}}`...))
}

func extractFromTarget(c *conn, r request) {
	var t target
	if !r.decode("target", &t) {
		c.fail(r.id, &fault{code: "invalid_format", message: "expected a dictionary at 'target'"})
		return
	}
	expand, primary := false, true
	r.decode("expand_group", &expand)
	r.decode("primary_entities_only", &primary)
	x := c.h.extract(t, expand, primary)
	all := maps.Clone(x.direct)
	maps.Copy(all, x.indirect)
	c.result(r.id, map[string]any{
		"referenced_entities": all.sorted(), "referenced_devices": x.devices.sorted(), "referenced_areas": x.areas.sorted(),
		"missing_devices": x.missingDevices.sorted(), "missing_areas": x.missingAreas.sorted(),
		"missing_floors": x.missingFloors.sorted(), "missing_labels": x.missingLabels.sorted(),
	})
}

func domainOf(id string) string {
	d, _, _ := strings.Cut(id, ".")
	return d
}
