package hass

import (
	"context"
	"encoding/json"
	"strings"

	"hearth/internal/home"
)

// reading reports whether a command only reads. What ends in /list reads by
// Home Assistant's own custom; everything else is named here or refused.
func reading(kind string) bool {
	switch kind {
	case "ping", "auth/current_user", "get_config", "get_states", "get_services", "get_panels",
		"config/entity_registry/get", "config/entity_registry/get_entries", "config/entity_registry/list_for_display",
		"config/device_registry/list_composite_splits", "config/device_registry/list_linked_devices",
		"config_entries/get", "config_entries/get_single",
		"history/history_during_period", "logbook/get_events",
		"recorder/info", "recorder/list_statistic_ids", "recorder/get_statistics_metadata", "recorder/statistics_during_period", "recorder/statistic_during_period",
		"trace/get", "trace/contexts", "automation/config", "script/config", "search/related",
		"extract_from_target", "explain_target", "get_triggers_for_target", "get_conditions_for_target", "get_services_for_target",
		"validate_config", "entity/source", "manifest/get",
		"lovelace/config", "lovelace/info", "lovelace/resources",
		"energy/get_prefs", "energy/info", "repairs/list_issues", "repairs/get_issue_data",
		"homeassistant/expose_entity/list", "homeassistant/expose_new_entities/get", "weather/convertible_units":
		return true
	}
	return strings.HasSuffix(kind, "/list")
}

// Call sends a reading command and decodes its result into out (may be nil). A
// command that could write is refused with code denied. It waits at most 10 s
// for the session and 30 s for the answer.
func (c *Client) Call(ctx context.Context, kind string, fields map[string]any, out any) error {
	if !reading(kind) {
		return home.Errorf(home.Denied, "%s is not a reading command", quoted(kind)).WithHint("what changes the house goes through a tool that plans it")
	}
	raw, err := c.command(ctx, kind, fields)
	if err != nil || out == nil {
		return err
	}
	if into, ok := out.(*json.RawMessage); ok {
		*into = raw
		return nil
	}
	return decode(kind, raw, out)
}

// command waits for the session and asks.
func (c *Client) command(ctx context.Context, kind string, fields map[string]any) ([]byte, error) {
	s, err := c.await(ctx)
	if err != nil {
		return nil, err
	}
	return s.do(ctx, kind, fields)
}
