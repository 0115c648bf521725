package simhome

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// entryOf is one row of the logbook with its moment.
type entry struct {
	at  time.Time
	row map[string]any
}

func logbookEvents(c *conn, r request) {
	h := c.h
	from, to, ok := span(c, r)
	if !ok {
		return
	}
	var ids, devices list
	r.decode("entity_ids", &ids)
	r.decode("device_ids", &devices)
	ctx := r.text("context_id")
	if ctx != "" && len(ids)+len(devices) > 0 {
		c.fail(r.id, &fault{code: "invalid_format", message: "context_id cannot be combined with entity_ids or device_ids"})
		return
	}
	for _, e := range h.reg.entities {
		if slices.Contains(devices, deref(e.DeviceID)) {
			ids = append(ids, e.EntityID)
		}
	}
	wants := func(id string, x cause) bool {
		return (len(ids)+len(devices) == 0 || slices.Contains(ids, id)) && (ctx == "" || x.ID == ctx)
	}
	var all []entry
	for id, states := range h.past.states {
		if continuous(id, h.attrs(id)) {
			continue
		}
		for i, s := range states {
			if i == 0 || states[i-1].value == s.value || s.changed.Before(from) || s.changed.After(to) || !wants(id, s.ctx) {
				continue
			}
			row := map[string]any{"state": s.value, "entity_id": id, "when": unix(s.changed)}
			if icon, ok := s.attrs["icon"]; ok {
				row["icon"] = icon
			}
			all = append(all, entry{s.changed, h.explain(row, s.ctx, event{}, ctx != "")})
		}
	}
	for _, e := range h.past.events {
		if e.kind == "call_service" || e.at.Before(from) || e.at.After(to) || !wants(e.entity, e.ctx) {
			continue
		}
		all = append(all, entry{e.at, h.explain(h.eventRow(e), e.ctx, e, ctx != "")})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	rows := make([]map[string]any, 0, len(all))
	for _, e := range all {
		rows = append(rows, e.row)
	}
	c.result(r.id, rows)
}

// continuous entities never appear: what has a unit or a state class, and the sun.
func continuous(id string, attrs map[string]any) bool {
	_, unit := attrs["unit_of_measurement"]
	_, class := attrs["state_class"]
	return unit || class || strings.Contains(" sun counter proximity automation ", " "+domainOf(id)+" ")
}

func (h *House) eventRow(e event) map[string]any {
	row := map[string]any{"name": e.name, "entity_id": e.entity, "context_id": e.ctx.ID, "item_id": e.item, "run_id": e.run, "domain": domainOf(e.entity), "when": unix(e.at)}
	if e.kind == "automation_triggered" {
		row["message"] = "triggered"
		if e.source != "" {
			row["source"] = e.source
			row["message"] = "triggered by " + e.source
		}
	} else {
		row["message"] = "started"
	}
	return row
}

// explain adds who or what was behind a row: the first event of its context, or
// of its parent's, and the user at the root.
func (h *House) explain(row map[string]any, ctx cause, self event, alone bool) map[string]any {
	origin, ok := h.origin(ctx.ID, self)
	if !ok && ctx.Parent != "" {
		origin, ok = h.origin(ctx.Parent, self)
	}
	if ok {
		row["context_event_type"] = origin.kind
		if origin.kind == "call_service" {
			row["context_domain"], row["context_service"] = origin.domain, origin.name
		} else {
			row["context_domain"], row["context_name"], row["context_entity_id"] = domainOf(origin.entity), origin.name, origin.entity
			row["context_message"] = h.eventRow(origin)["message"]
			if origin.source != "" {
				row["context_source"] = origin.source
			}
		}
	}
	user := ctx.User
	if user == "" && ctx.Parent != "" && !alone {
		if parent, ok := h.origin(ctx.Parent, event{}); ok {
			user = parent.ctx.User
		}
	}
	if user != "" {
		row["context_user_id"] = user
	}
	return row
}

// origin is the first event with a context id, other than the row's own.
func (h *House) origin(ctx string, self event) (event, bool) {
	for _, e := range h.past.events {
		if e.ctx.ID == ctx {
			if e == self {
				return event{}, false
			}
			return e, true
		}
	}
	return event{}, false
}

// summary is a run as trace/list shows it.
func (r *run) summary(m *machine) map[string]any {
	var finish, path, outcome any
	if r.over {
		finish, outcome = iso(r.finish), r.outcome
	}
	if r.path != "" {
		path = r.path
	}
	s := map[string]any{"last_step": path, "run_id": r.id, "state": r.state, "script_execution": outcome,
		"timestamp": map[string]any{"start": iso(r.start), "finish": finish}, "domain": m.domain, "item_id": m.item}
	if m.domain == "automation" {
		s["trigger"] = nil
		if r.source != "" {
			s["trigger"] = r.source
		}
	}
	if r.err != "" {
		s["error"] = r.err
	}
	return s
}

func traceList(c *conn, r request) {
	domain, item := r.text("domain"), r.text("item_id")
	if domain != "automation" && domain != "script" {
		c.fail(r.id, &fault{code: "invalid_format", message: "value must be one of ['automation', 'script'] at 'domain'. Got '" + domain + "'"})
		return
	}
	type dated struct {
		at  time.Time
		row map[string]any
	}
	var all []dated
	for _, m := range c.h.runs {
		if m.domain == domain && (item == "" || m.item == item) {
			for _, t := range m.traces {
				all = append(all, dated{t.start, t.summary(m)})
			}
		}
	}
	slices.SortFunc(all, func(a, b dated) int { return a.at.Compare(b.at) })
	rows := []map[string]any{}
	for _, d := range all {
		rows = append(rows, d.row)
	}
	c.result(r.id, rows)
}

func traceGet(c *conn, r request) {
	for _, m := range c.h.runs {
		if m.domain != r.text("domain") || m.item != r.text("item_id") {
			continue
		}
		for _, t := range m.traces {
			if t.id == r.text("run_id") {
				c.result(r.id, t.full(m))
				return
			}
		}
	}
	c.fail(r.id, &fault{code: "not_found", message: "The trace could not be found"})
}

func (r *run) full(m *machine) map[string]any {
	all := r.summary(m)
	steps := map[string][]any{}
	if r.to != nil {
		steps["trigger/0"] = []any{map[string]any{"path": "trigger/0", "timestamp": iso(r.start), "changed_variables": map[string]any{
			"trigger": map[string]any{"id": "0", "idx": "0", "alias": nil, "platform": "state", "entity_id": r.to.id,
				"from_state": json.RawMessage(r.from.appendFull(nil)), "to_state": json.RawMessage(r.to.appendFull(nil)),
				"for": nil, "attribute": nil, "description": r.source}}}}
	}
	for _, s := range r.steps {
		steps[s.path] = append(steps[s.path], map[string]any{"path": s.path, "timestamp": iso(s.at), "result": s.result})
	}
	all["trace"], all["config"], all["blueprint_inputs"], all["context"] = steps, m.raw, nil, r.ctx
	return all
}
