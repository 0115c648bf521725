package simhome

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// machine is an automation or a script: a body that runs.
type machine struct {
	entity, domain, item, alias string
	body                        body
	raw                         json.RawMessage
	running                     *run
	traces                      []*run // the newest last, five at most
}

// body is the stored text of an automation or a script.
type body struct {
	ID         string           `json:"id"`
	Alias      string           `json:"alias"`
	Triggers   []trigger        `json:"triggers"`
	Conditions []condition      `json:"conditions"`
	Actions    []map[string]any `json:"actions"`
	Sequence   []map[string]any `json:"sequence"`
}

type trigger struct {
	Kind   string   `json:"trigger"`
	Entity list     `json:"entity_id"`
	From   *string  `json:"from"`
	To     *string  `json:"to"`
	Above  *float64 `json:"above"`
	Below  *float64 `json:"below"`
}

type condition struct {
	Entity string `json:"entity_id"`
	State  string `json:"state"`
}

type sceneBody struct {
	ID       string                    `json:"id"`
	Name     string                    `json:"name"`
	Entities map[string]map[string]any `json:"entities"`
	raw      json.RawMessage
}

// run is one run of a machine, and its trace afterwards.
type run struct {
	id, path, state, outcome, err string
	source                        string // "state of x", "" when triggered by hand
	start, finish                 time.Time
	ctx                           cause
	steps                         []traceStep
	from, to                      *state
	over                          bool
}

type traceStep struct {
	path   string
	at     time.Time
	result any
}

// fires reports whether a change is what the trigger waits for.
func (t trigger) fires(old, s *state) bool {
	if !slices.Contains(t.Entity, s.id) || old == nil {
		return false
	}
	if t.Kind == "numeric_state" {
		return t.within(s.value) && !t.within(old.value)
	}
	if t.To == nil && t.From == nil {
		return true
	}
	return old.value != s.value && (t.To == nil || *t.To == s.value) && (t.From == nil || *t.From == old.value)
}

func (t trigger) within(value string) bool {
	v, err := strconv.ParseFloat(value, 64)
	return err == nil && (t.Above == nil || v > *t.Above) && (t.Below == nil || v < *t.Below)
}

func (t trigger) describe(id string) string {
	if t.Kind == "numeric_state" {
		return "numeric state of " + id
	}
	return "state of " + id
}

func (h *House) holds(all []condition) bool {
	for _, c := range all {
		if h.value(c.Entity) != c.State {
			return false
		}
	}
	return true
}

// addMachine puts a stored body to work.
func (h *House) addMachine(id string, raw json.RawMessage) {
	m := &machine{entity: id, domain: domainOf(id), raw: raw}
	if json.Unmarshal(raw, &m.body) != nil {
		panic("simhome: body of " + id)
	}
	m.alias, m.item = m.body.Alias, m.body.ID
	if m.domain == "script" {
		m.item = id[len("script."):]
		m.body.Actions = m.body.Sequence
	}
	h.runs[id] = m
}

// react lets everything that follows s move: what is computed from it, groups
// it is in, automations it triggers.
func (h *House) react(old, s *state) {
	if h.quiet {
		return
	}
	for _, f := range h.followers[s.id] {
		v := f.no
		if s.value == f.when {
			v = f.yes
		}
		h.write(f.id, v, h.attrs(f.id), s.ctx)
	}
	for _, g := range h.groupsOf[s.id] {
		h.regroup(g, s.ctx)
	}
	for _, id := range h.triggeredBy[s.id] {
		m := h.runs[id]
		if h.value(id) != "on" {
			continue
		}
		for _, t := range m.body.Triggers {
			if t.fires(old, s) && h.holds(m.body.Conditions) {
				h.runAutomation(m, &run{source: t.describe(s.id), from: old, to: s, ctx: h.newCause(s.ctx.ID, "")})
				break
			}
		}
	}
}

// follower is an entity computed from another one.
type follower struct{ id, when, yes, no string }

// regroup is on while any member is.
func (h *House) regroup(g string, ctx cause) {
	attrs := h.attrs(g)
	v := "off"
	for _, m := range members(attrs) {
		if s := h.value(m); s == "on" || s == "open" || s == "home" || s == "unlocked" {
			v = "on"
			break
		}
	}
	if h.value(g) != v {
		h.write(g, v, attrs, ctx)
	}
}

// runAutomation starts a run; what it does comes right after what triggered it.
func (h *House) runAutomation(m *machine, r *run) {
	if m.running != nil {
		return
	}
	h.begin(m, r)
	data := []byte(`{"name":`)
	data = append(appendString(data, m.alias), `,"entity_id":`...)
	data = appendString(data, m.entity)
	if r.source != "" {
		data = appendString(append(data, `,"source":`...), r.source)
	}
	data = append(appendString(append(data, `,"item_id":`...), m.item), `,"run_id":"`...)
	data = append(append(data, r.id...), `"}`...)
	h.past.note(event{kind: "automation_triggered", at: h.last, ctx: r.ctx, name: m.alias, entity: m.entity, source: r.source, item: m.item, run: r.id})
	h.fire("automation_triggered", r.ctx, func(b []byte) []byte { return append(b, data...) })
	h.hold(m.entity, r.ctx)
	h.show(m.entity, h.value(m.entity), merged(h.attrs(m.entity), map[string]any{"last_triggered": iso(r.start), "current": 1}))
	h.soon(func() {
		h.perform(r, m.body.Actions, "action/", func(f *fault) {
			h.end(m, r, f)
			h.show(m.entity, h.value(m.entity), merged(h.attrs(m.entity), map[string]any{"current": 0}))
		})
	})
}

// begin opens the books of a run.
func (h *House) begin(m *machine, r *run) {
	r.id, r.start, r.state = h.hexID(), h.now(), "running"
	m.running = r
	m.traces = append(m.traces, r)
	if len(m.traces) > 5 {
		m.traces = m.traces[1:]
	}
}

func (h *House) end(m *machine, r *run, f *fault) {
	r.finish, r.state, r.outcome, r.over = h.now(), "stopped", "finished", true
	if f != nil {
		r.outcome, r.err = "error", trimValidation(f.message)
	}
	m.running = nil
}

func trimValidation(s string) string {
	const prefix = "Validation error: "
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):]
	}
	return s
}

// runScript starts a script; done, which may be nil, hears how it ended.
func (h *House) runScript(id string, ctx cause, done func(*fault)) {
	m := h.runs[id]
	if m == nil || m.running != nil {
		if done != nil {
			done(nil)
		}
		return
	}
	r := &run{ctx: ctx}
	h.begin(m, r)
	h.past.note(event{kind: "script_started", at: h.last, ctx: ctx, name: m.alias, entity: id, item: m.item, run: r.id})
	h.fireJSON("script_started", ctx, map[string]any{"name": m.alias, "entity_id": id, "item_id": m.item, "run_id": r.id})
	h.hold(id, ctx)
	h.show(id, "on", merged(h.attrs(id), map[string]any{"last_triggered": iso(r.start), "current": 1}))
	h.perform(r, m.body.Actions, "sequence/", func(f *fault) {
		if !r.over {
			h.end(m, r, f)
			attrs := merged(h.attrs(id), map[string]any{"current": 0})
			delete(attrs, "last_action")
			h.show(id, "off", attrs)
		}
		if done != nil {
			done(f)
		}
	})
}

// stopRun ends a script's run where it stands.
func (h *House) stopRun(id string) {
	m := h.runs[id]
	if m == nil || m.running == nil {
		return
	}
	r := m.running
	h.end(m, r, nil)
	r.outcome = "cancelled"
	attrs := merged(h.attrs(id), map[string]any{"current": 0})
	delete(attrs, "last_action")
	h.show(id, "off", attrs)
}

// runScript is the service named like the script: the call lasts as long as the run.
func (c *call) runScript(id string) *fault {
	c.pending++
	c.h.runScript(id, c.ctx, func(f *fault) {
		c.err = f
		c.finish()
	})
	return nil
}

func triggerNow(c *call, id string) *fault {
	if m := c.h.runs[id]; m != nil {
		c.h.runAutomation(m, &run{ctx: c.h.newCause(c.ctx.ID, "")})
	}
	return nil
}

// perform does one step after the other; done hears the end or the first fault.
func (h *House) perform(r *run, steps []map[string]any, path string, done func(*fault)) {
	h.step(r, steps, path, 0, done)
}

func (h *House) step(r *run, steps []map[string]any, path string, i int, done func(*fault)) {
	if i >= len(steps) || r.over {
		done(nil)
		return
	}
	next := func(f *fault) {
		if f != nil {
			done(f)
			return
		}
		h.step(r, steps, path, i+1, done)
	}
	s := steps[i]
	r.path = path + strconv.Itoa(i)
	t := traceStep{path: r.path, at: h.now()}
	switch {
	case s["action"] != nil:
		a := askOf(s, r.ctx)
		t.result = map[string]any{"params": map[string]any{"domain": a.domain, "service": a.name, "service_data": orNone(a.data), "target": orNone(a.target)}, "running_script": a.domain == "script"}
		r.steps = append(r.steps, t)
		h.call(a, func(_ map[string]any, f *fault) { next(f) })
		return
	case s["delay"] != nil:
		d := delayOf(s["delay"])
		t.result = map[string]any{"delay": d.Seconds(), "done": true}
		h.lastAction(r, "delay "+clockText(d))
		h.after(d, func() { next(nil) })
	case s["if"] != nil:
		var all []condition
		json.Unmarshal(mustJSON(s["if"]), &all)
		branch := "else"
		if h.holds(all) {
			branch = "then"
		}
		t.result = map[string]any{"choice": branch}
		r.steps = append(r.steps, t)
		h.perform(r, branchOf(s[branch]), r.path+"/"+branch+"/", next)
		return
	default:
		next(nil)
	}
	r.steps = append(r.steps, t)
}

func branchOf(v any) []map[string]any {
	var steps []map[string]any
	json.Unmarshal(mustJSON(v), &steps)
	return steps
}

func askOf(s map[string]any, ctx cause) ask {
	name, _ := s["action"].(string)
	d := domainOf(name)
	a := ask{domain: d, name: name[len(d)+1:], ctx: ctx}
	a.data, _ = s["data"].(map[string]any)
	a.target, _ = s["target"].(map[string]any)
	return a
}

func delayOf(v any) time.Duration {
	m, _ := v.(map[string]any)
	sec, _ := number(m["seconds"])
	minutes, _ := number(m["minutes"])
	return time.Duration((sec + 60*minutes) * float64(time.Second))
}

// orNone makes a missing object an empty one, which JSON shows as {}.
func orNone(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// bodyOf is automation/config and script/config.
func bodyOf(c *conn, r request) {
	domain, _, _ := strings.Cut(r.kind, "/")
	m := c.h.runs[r.text("entity_id")]
	if m == nil || m.domain != domain {
		c.fail(r.id, &errNoEntity)
		return
	}
	c.result(r.id, map[string]any{"config": m.raw})
}

// lastAction is what a script shows while it waits.
func (h *House) lastAction(r *run, what string) {
	for id, m := range h.runs {
		if m.running == r && m.domain == "script" {
			h.show(id, h.value(id), merged(h.attrs(id), map[string]any{"last_action": what}))
		}
	}
}
