package journal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

// guestMode plays what the real Home Assistant does when a person turns on the
// guest mode helper: the same contexts in the same order.
func guestMode(r *rig) (call, run string) {
	call, run = r.ctx(), r.ctx()
	c := home.Context{ID: call, User: "u1"}
	a := home.Context{ID: run, Parent: call}
	r.event("call_service", `{"domain":"input_boolean","service":"turn_on","service_data":{"entity_id":["input_boolean.guest_mode"]}}`, c)
	r.set("input_boolean.guest_mode", "on", "", c)
	r.set("binary_sensor.kuchenfenster", "on", "", c)
	r.event("automation_triggered", `{"name":"Guests make the kitchen bright","entity_id":"automation.guests","source":"state of input_boolean.guest_mode"}`, a)
	r.set("automation.guests", "on", `{"last_triggered":"now"}`, a)
	r.event("call_service", `{"domain":"light","service":"turn_on","service_data":{"brightness_pct":80,"entity_id":["light.kitchen_lights","light.ceiling_lights"]}}`, a)
	at := r.tick() // both lamps in the same millisecond
	r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: []home.Patch{
		r.patch("light.ceiling_lights", "on", `{"brightness":204}`, a, at),
		r.patch("light.kitchen_lights", "on", `{"brightness":204}`, a, at),
	}})
	r.event("call_service", `{"domain":"script","service":"turn_on","service_data":{"entity_id":["script.announce"]}}`, a)
	r.event("script_started", `{"name":"Announce","entity_id":"script.announce"}`, a)
	r.set("script.announce", "on", "", a)
	r.event("call_service", `{"domain":"input_text","service":"set_value","service_data":{"value":"welcome","entity_id":["input_text.note"]}}`, a)
	r.set("input_text.note", "welcome", "", a)
	r.set("script.announce", "off", "", a)
	return call, run
}

func (r *rig) why(q WhyQuery) Why {
	r.t.Helper()
	q.Now = r.now
	w, err := r.j.Why(r.t.Context(), home.Visible(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// draw renders a tree as indented lines: role kind subject.
func draw(n *Node) string {
	var b strings.Builder
	var visit func(n *Node, in string)
	visit = func(n *Node, in string) {
		what := string(n.Row.Entity)
		if n.Row.Kind == KindCall || n.Row.Kind == KindOwn {
			what = n.Row.What
		}
		if n.Row.Kind == KindState {
			what += " " + n.Row.Old + ">" + n.Row.New
		}
		fmt.Fprintf(&b, "%s%s %s %s\n", in, n.Role, n.Row.Kind, what)
		for _, c := range n.Children {
			visit(c, in+"  ")
		}
	}
	if n != nil {
		visit(n, "")
	}
	return b.String()
}

func TestWhy_PersonHelperAutomationScript(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.w.Apply(home.Report{Kind: home.ReportBodies, At: r.tick(), Bodies: []home.Body{{Entity: "script.announce",
		Config: []byte(`{"sequence":[{"action":"input_text.set_value"}]}`)}}})
	_, run := guestMode(r)
	got := r.why(WhyQuery{Entity: "light.kitchen_lights"})
	want := `cause service input_boolean.turn_on
  cause state input_boolean.guest_mode off>on
    cause automation automation.guests
      cause service light.turn_on
        sibling state light.ceiling_lights on>on
        this state light.kitchen_lights off>on
      sibling service script.turn_on
        sibling script script.announce
          sibling state script.announce off>on
          sibling service input_text.set_value
            sibling state input_text.note >welcome
          sibling state script.announce on>off
  sibling state binary_sensor.kuchenfenster off>on
`
	if d := draw(got.Root); d != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
	if got.Root.Actor != "Anna" {
		t.Errorf("the root's actor is %q, want the person Anna", got.Root.Actor)
	}
	sentence := `Kitchen Lights changed from off to on at TIME, through light.turn_on, by automation "Guests make the kitchen bright" (trigger: state of input_boolean.guest_mode), set off when Guest mode changed from off to on, through input_boolean.turn_on, by Anna.`
	at := r.query(Query{Entities: []home.EntityID{"light.kitchen_lights"}, Limit: 1}).Rows[0].At
	if s := strings.Replace(got.Summary, at.Format("15:04:05"), "TIME", 1); s != sentence {
		t.Errorf("summary\n%s\nwant\n%s", s, sentence)
	}
	if len(got.Notes) > 0 && !got.Coverage.Complete {
		t.Log(got.Notes)
	}

	causes := draw(r.why(WhyQuery{Entity: "input_text.note", Direction: "causes"}).Root)
	if strings.Contains(causes, "sibling") || !strings.Contains(causes, "cause service input_boolean.turn_on") {
		t.Errorf("causes only:\n%s", causes)
	}
	effects := r.why(WhyQuery{Context: run, Direction: "effects"})
	if d := draw(effects.Root); !strings.HasPrefix(d, "this automation automation.guests\n  effect service light.turn_on") || strings.Contains(d, "guest_mode") {
		t.Errorf("effects only:\n%s", d)
	}
}

func TestWhy_OurOwnCall(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	id := r.ctx()
	c := home.Context{ID: id, User: "u2"}
	r.event("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":["light.kitchen_lights"]}}`, c)
	r.set("light.kitchen_lights", "on", "", c)
	err := r.j.Record(t.Context(), home.CallRecord{ID: "call_0123456789", At: r.tick(), Via: "mcp", Who: "Claude", Tool: "service_call", Class: home.Act,
		Args: []byte(`{"service":"light.turn_on","data":{"code":"4711"}}`), Outcome: home.Done,
		Steps: []home.StepRecord{{Step: home.Step{Kind: home.StepService, Call: &home.ServiceCall{Domain: "light", Service: "turn_on"}},
			Result: home.StepResult{Outcome: home.Done, Context: c}, Leaves: []home.EntityID{"light.kitchen_lights"}}}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.why(WhyQuery{Entity: "light.kitchen_lights"})
	want := "cause hearth service_call\n  cause service light.turn_on\n    this state light.kitchen_lights off>on\n"
	if d := draw(got.Root); d != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
	if got.Root.Actor != "Hearth for Claude" || !strings.HasSuffix(got.Summary, "through light.turn_on, called by Hearth for Claude (service_call).") {
		t.Errorf("%s: %s", got.Root.Actor, got.Summary)
	}
}

func TestWhy_Device(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	got := r.why(WhyQuery{Entity: "lock.front"})
	if !strings.HasSuffix(got.Summary, "; no person, automation or script stands behind it, so the device or its integration (demo) reported it.") {
		t.Error(got.Summary)
	}
	if got.Root.Role != RoleThis || got.Root.Actor != "the device or its integration (demo)" {
		t.Errorf("%+v", got.Root)
	}
}

func TestWhy_Loop(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	parent := ""
	for range 6 {
		c := home.Context{ID: r.ctx(), Parent: parent}
		r.event("automation_triggered", `{"name":"Sync","entity_id":"automation.guests","source":"state of light.kitchen_lights"}`, c)
		v := "on"
		if r.hs.View().State("light.kitchen_lights").Value == "on" {
			v = "off"
		}
		r.set("light.kitchen_lights", v, "", c)
		parent = c.ID
	}
	got := r.why(WhyQuery{Entity: "light.kitchen_lights", Depth: 3})
	notes := strings.Join(got.Notes, "\n")
	if !strings.Contains(notes, `loop: automation "Guests make the kitchen bright" ran`) || !strings.Contains(notes, "beyond depth 3") || !got.Truncated {
		t.Errorf("notes: %s", notes)
	}
}

func TestWhy_SameMillisecondAndManyEffects(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	c := home.Context{ID: r.ctx(), User: "u1"}
	at := r.tick()
	var ps []home.Patch
	for i := range 300 {
		ps = append(ps, r.patch(fmt.Sprintf("switch.s%03d", i), "off", "{}", home.Context{}, at))
	}
	r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: ps})
	at = r.tick()
	ps = nil
	for i := range 300 {
		ps = append(ps, r.patch(fmt.Sprintf("switch.s%03d", i), "on", "", c, at))
	}
	r.event("call_service", `{"domain":"switch","service":"turn_on","service_data":{"entity_id":"all"}}`, c)
	r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: ps})
	p := r.query(Query{Context: c.ID, Limit: 500})
	if p.Total != 301 {
		t.Fatalf("%d rows share the context, want 301: simultaneous rows were merged", p.Total)
	}
	got := r.why(WhyQuery{Context: c.ID})
	shown := size(got.Root)
	if shown > mostNodes || !got.Truncated || !strings.Contains(strings.Join(got.Notes, " "), fmt.Sprintf("%d more rows", 301-shown)) {
		t.Errorf("%d shown, notes %v", shown, got.Notes)
	}
}

func TestWhy_NothingKnown(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	if _, err := r.j.Why(t.Context(), home.Visible(), WhyQuery{Entity: "light.secret"}); home.CodeOf(err) != home.NotFound {
		t.Errorf("a hidden entity: %v", err)
	}
	if _, err := r.j.Why(t.Context(), home.Scope{}, WhyQuery{Entity: "lock.front"}); home.CodeOf(err) != home.NotFound {
		t.Errorf("the zero scope: %v", err)
	}
	if _, err := r.j.Why(t.Context(), home.Visible(), WhyQuery{Context: "nope"}); home.CodeOf(err) != home.NotFound {
		t.Errorf("an unknown context: %v", err)
	}
	for _, q := range []WhyQuery{{}, {Entity: "a.b", Context: "c"}, {Entity: "a.b", Depth: 11}, {Entity: "a.b", Direction: "sideways"}} {
		if _, err := r.j.Why(t.Context(), home.Visible(), q); home.CodeOf(err) != home.Invalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
	got := r.why(WhyQuery{Entity: "vacuum.none"})
	if got.Root != nil || !strings.Contains(got.Summary, "holds no change of vacuum.none") || !strings.Contains(got.Summary, "not complete") {
		t.Errorf("%+v", got)
	}
}

func TestWhy_NearestInTime(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(10 * time.Minute)
	first := r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	r.pass(10 * time.Minute)
	r.set("lock.front", "locked", "", home.Context{ID: r.ctx()})
	for off, want := range map[time.Duration]string{0: "unlocked", time.Minute: "unlocked", -time.Minute: "unlocked", 9*time.Minute + 30*time.Second: "locked", 5 * time.Minute: "unlocked"} {
		got := r.why(WhyQuery{Entity: "lock.front", At: first.Add(off)})
		if got.Root == nil || got.Root.Row.New != want {
			t.Errorf("%s after the first: %+v, want %s", off, got.Root, want)
		}
	}
}

func TestWhy_PartOfAStorm(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(time.Minute)
	r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	r.pass(time.Minute)
	at := r.tick()
	var ps []home.Patch
	for i := range 40 {
		ps = append(ps, r.patch(fmt.Sprintf("switch.s%02d", i), "on", "{}", home.Context{}, at))
	}
	r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: ps})
	ps = nil
	r.pass(time.Minute)
	for i := range 40 {
		ps = append(ps, r.patch(fmt.Sprintf("switch.s%02d", i), "unavailable", "", home.Context{}, at))
	}
	ps = append(ps, r.patch("lock.front", "unavailable", "", home.Context{ID: r.ctx()}, at))
	r.w.Apply(home.Report{Kind: home.ReportStates, At: r.tick(), Patches: ps})
	got := r.why(WhyQuery{Entity: "lock.front"})
	if d := draw(got.Root); d != "cause bulk \n  this state lock.front unlocked>unavailable\n" {
		t.Error(d)
	}
	if !strings.Contains(got.Summary, "one of 41 entities that became unavailable at once") {
		t.Error(got.Summary)
	}
}

func TestRecord_LooksAreToldWhenAsked(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	if err := r.j.Record(t.Context(), home.CallRecord{ID: "call_1", At: r.tick(), Tool: "entity_get", Class: home.Read, Who: "Claude", Args: []byte(`{"entity_id":"lock.front"}`)}); err != nil {
		t.Fatal(err)
	}
	if p := r.query(Query{}); slices.ContainsFunc(p.Rows, func(r Row) bool { return r.What == "entity_get" }) {
		t.Errorf("%+v", p.Rows)
	}
	for _, q := range []Query{{Kinds: []RowKind{KindOwn}}, {User: "claude"}, {Text: "entity_get"}} {
		if p := r.query(q); p.Total != 1 || p.Rows[0].What != "entity_get" || p.Rows[0].Kind != KindOwn {
			t.Errorf("%+v: %+v", q, p.Rows)
		}
	}
}

func TestWhy_InARange(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(10 * time.Minute)
	first := r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	r.pass(10 * time.Minute)
	last := r.set("lock.front", "locked", "", home.Context{ID: r.ctx()})
	for _, c := range []struct {
		since, at time.Time
		want      string
	}{
		{first.Add(-time.Minute), last.Add(time.Hour), "locked"}, {first.Add(-time.Minute), last, "unlocked"},
		{first, first.Add(time.Minute), "unlocked"}, {first.Add(time.Minute), last, ""},
	} {
		got := r.why(WhyQuery{Entity: "lock.front", Since: c.since, At: c.at})
		switch {
		case c.want == "" && (got.Root != nil || !strings.Contains(got.Summary, "no change of Front door (lock.front) from ")):
			t.Errorf("%+v: %+v", c, got)
		case c.want != "" && (got.Root == nil || got.Root.Row.New != c.want):
			t.Errorf("%+v: %+v", c, got.Root)
		}
	}
	for _, q := range []WhyQuery{{At: last.Add(time.Hour)}, {Since: last.Add(time.Hour), At: last.Add(2 * time.Hour)}} {
		q.Entity, q.Now = "lock.front", last.Add(time.Minute)
		if got, err := r.j.Why(t.Context(), home.Visible(), q); home.CodeOf(err) != home.Invalid {
			t.Errorf("a time to come: %+v, %v", got, err)
		}
	}
	// A house whose clock is ahead of ours.
	if got, err := r.j.Why(t.Context(), home.Visible(), WhyQuery{Entity: "lock.front", At: last, Now: last.Add(-5 * time.Minute)}); err != nil || got.Root == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhy_OurCallByItsID(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	a, b := home.Context{ID: r.ctx(), User: "u2"}, home.Context{ID: r.ctx(), User: "u2"}
	r.event("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":["light.kitchen_lights"]}}`, a)
	r.set("light.kitchen_lights", "on", "", a)
	r.event("call_service", `{"domain":"lock","service":"unlock","service_data":{"entity_id":["lock.front"]}}`, b)
	r.set("lock.front", "unlocked", "", b)
	r.event("automation_triggered", `{"name":"Guests","entity_id":"automation.guests","source":"state of lock.front"}`, home.Context{ID: r.ctx(), Parent: b.ID})
	step := func(domain, service string, c home.Context, id home.EntityID) home.StepRecord {
		return home.StepRecord{Step: home.Step{Kind: home.StepService, Call: &home.ServiceCall{Domain: domain, Service: service}},
			Result: home.StepResult{Outcome: home.Done, Context: c}, Leaves: []home.EntityID{id}}
	}
	for _, c := range []home.CallRecord{
		{ID: "call_0123456789", Tool: "service_call", Class: home.Act, Steps: []home.StepRecord{step("light", "turn_on", a, "light.kitchen_lights"), step("lock", "unlock", b, "lock.front")}},
		{ID: "call_look", Tool: "entity_get"},
		{ID: "call_hidden", Tool: "service_call", Class: home.Act, Steps: []home.StepRecord{step("light", "turn_on", home.Context{ID: r.ctx()}, "light.secret")}},
	} {
		c.At, c.Via, c.Who = r.tick(), "mcp", "Claude"
		if err := r.j.Record(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	got := r.why(WhyQuery{Context: "call_0123456789"})
	want := `this hearth service_call
  effect service light.turn_on
    effect state light.kitchen_lights off>on
  effect service lock.unlock
    effect state lock.front locked>unlocked
      effect automation automation.guests
`
	if d := draw(got.Root); d != want {
		t.Errorf("got\n%s\nwant\n%s", d, want)
	}
	if got := r.why(WhyQuery{Context: "call_look"}); got.Root == nil || got.Root.Row.Call != "call_look" || !strings.Contains(strings.Join(got.Notes, " "), "only read") {
		t.Errorf("%+v", got)
	}
	if _, err := r.j.Why(t.Context(), home.Visible(), WhyQuery{Context: "call_hidden"}); home.CodeOf(err) != home.NotFound {
		t.Errorf("a call of which nothing is within sight: %v", err)
	}
	if _, err := r.j.Why(t.Context(), home.Everything(), WhyQuery{Context: "call_hidden"}); err != nil {
		t.Error(err)
	}
	if _, err := r.j.Why(t.Context(), home.Visible(), WhyQuery{Context: "call_nosuch"}); home.CodeOf(err) != home.NotFound || !strings.Contains(err.Error(), "call_nosuch") {
		t.Error(err)
	}
	for _, c := range []struct {
		q    Query
		want int
	}{{Query{Context: "call_0123456789"}, 6}, {Query{Context: "call_look"}, 1}, {Query{Context: "call_nosuch"}, 0}, {Query{Text: "call_0123456789"}, 1}} {
		if p := r.query(c.q); p.Total != c.want {
			t.Errorf("%+v: %+v", c.q, p.Rows)
		}
	}
}
