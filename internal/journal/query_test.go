package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/internal/home"
)

func TestQuery_Filters(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(time.Minute)
	start := r.now
	_, run := guestMode(r)
	r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"entity, also as a target": {Query{Entities: []home.EntityID{"light.kitchen_lights"}}, 2},
		"kind":                     {Query{Kinds: []RowKind{KindCall}}, 4},
		"pattern":                  {Query{Pattern: "light.*", Kinds: []RowKind{KindState}}, 2},
		"pattern, underscore":      {Query{Pattern: "light_*"}, 0},
		"domain":                   {Query{Domain: "lock"}, 1},
		"area":                     {Query{Area: "kitchen", Kinds: []RowKind{KindState}}, 3},
		"floor":                    {Query{Floor: "ground", Kinds: []RowKind{KindState}}, 4},
		"empty area":               {Query{Area: "attic"}, 0},
		"state":                    {Query{State: "ON", Kinds: []RowKind{KindState}}, 5},
		"old state":                {Query{OldState: "locked"}, 1},
		"user by name":             {Query{User: "anna"}, 3},
		"user by account name":     {Query{User: "Anna Account"}, 3},
		"user by id":               {Query{User: "u1"}, 3},
		"nobody":                   {Query{User: "Zoe"}, 0},
		"automation":               {Query{Automation: "automation.guests"}, 10},
		"trigger":                  {Query{Trigger: "input_boolean.guest_mode"}, 1},
		"text in data":             {Query{Text: "welcome set_value"}, 1},
		"text in a name":           {Query{Text: "guests make"}, 1},
		"text is no pattern":       {Query{Text: "%"}, 0},
		"context":                  {Query{Context: run}, 10},
		"both":                     {Query{Domain: "light", State: "on", OldState: "off"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.From = start
			if p := r.query(c.q); p.Total != c.want || len(p.Rows) != c.want {
				var got []string
				for _, row := range p.Rows {
					got = append(got, fmt.Sprintf("%s %s%s %s>%s", row.Kind, row.Entity, row.What, row.Old, row.New))
				}
				t.Errorf("%d rows, want %d:\n%s", p.Total, c.want, strings.Join(got, "\n"))
			}
		})
	}
}

func TestQuery_Scope(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	c := home.Context{ID: r.ctx(), User: "u1"}
	r.event("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":["light.secret","light.kitchen_lights"]}}`, c)
	r.event("call_service", `{"domain":"light","service":"turn_on","service_data":{"entity_id":"light.secret"}}`, c)
	r.set("light.secret", "on", "", c)
	r.set("light.kitchen_lights", "on", "", c)
	r.event("automation_triggered", `{"name":"x","entity_id":"automation.guests","source":"state of light.secret"}`, home.Context{ID: r.ctx(), Parent: c.ID})
	q := Query{From: r.now.Add(-time.Hour), To: r.now, Now: r.now}
	for _, group := range []string{"", "entity"} {
		q.GroupBy = group
		p, err := r.j.Query(t.Context(), home.Visible(), q)
		if err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprintf("%+v", p.Rows) + fmt.Sprintf("%+v", p.Groups); strings.Contains(s, "secret") {
			t.Errorf("a hidden entity shows: %s", s)
		}
		for _, row := range p.Rows {
			if strings.Contains(string(row.Data)+string(row.Target), "secret") {
				t.Errorf("a hidden entity shows in %+v", row)
			}
		}
	}
	q.GroupBy = ""
	seen, err := r.j.Query(t.Context(), home.Everything(), q)
	if err != nil {
		t.Fatal(err)
	}
	visible, err := r.j.Query(t.Context(), home.Visible(), q)
	if err != nil {
		t.Fatal(err)
	}
	if visible.Total != len(visible.Rows) || seen.Total != visible.Total+3 {
		t.Errorf("%d of %d rows are visible, %d shown", visible.Total, seen.Total, len(visible.Rows))
	}
	none, err := r.j.Query(t.Context(), home.Scope{}, q)
	if err != nil || none.Total != 0 || none.Rows != nil {
		t.Errorf("the zero scope sees %+v, %v", none, err)
	}
	why := r.why(WhyQuery{Entity: "light.kitchen_lights"})
	if d := draw(why.Root) + why.Summary; strings.Contains(d, "secret") {
		t.Error(d)
	}
}

func TestQuery_CursorWalksEverythingOnce(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.pass(time.Minute)
	start := r.now
	for i := range 130 {
		at := r.tick()
		a, b := r.patch("switch.a", fmt.Sprint(i), "{}", home.Context{}, at), r.patch("switch.b", fmt.Sprint(i), "{}", home.Context{}, at)
		r.w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: []home.Patch{a, b}})
	}
	q := Query{Domain: "switch", From: start, To: r.now.Add(time.Second), Limit: 33}
	seen := map[int64]bool{}
	var last Row
	pages := 0
	for {
		p := r.query(q)
		pages++
		if p.Total != 260 || p.Truncated != (p.Next != "") {
			t.Fatalf("total %d, truncated %v, next %q", p.Total, p.Truncated, p.Next)
		}
		for _, row := range p.Rows {
			if seen[row.ID] || (!last.At.IsZero() && row.At.After(last.At)) {
				t.Fatalf("row %d twice or out of order", row.ID)
			}
			seen[row.ID], last = true, row
		}
		if p.Next == "" {
			break
		}
		q.Cursor = p.Next
		if pages == 3 { // newer rows do not disturb the walk, and neither does a restart
			r.stop()
			r.start()
		}
	}
	if len(seen) != 260 || pages != 8 {
		t.Errorf("%d rows on %d pages", len(seen), pages)
	}
}

func TestQuery_CursorIsBound(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	for i := range 20 {
		r.set("switch.a", fmt.Sprint(i), "{}", home.Context{})
	}
	now := r.now.Add(time.Second)
	base := Query{Domain: "switch", From: now.Add(-time.Hour), To: now, Now: now, Limit: 5}
	next := r.query(base).Next
	if next == "" || strings.ContainsAny(next, "+/=") {
		t.Fatalf("cursor %q", next)
	}
	for name, c := range map[string]struct {
		change func(*Query)
		ok     bool
	}{
		"the same":               {func(*Query) {}, true},
		"another limit":          {func(q *Query) { q.Limit = 7 }, true},
		"a relative window anew": {func(q *Query) { d := time.Minute; q.Now, q.From, q.To = q.Now.Add(d), q.From.Add(d), q.To.Add(d) }, true},
		"the window left out":    {func(q *Query) { q.From, q.To = time.Time{}, time.Time{} }, true},
		"another domain":         {func(q *Query) { q.Domain = "light" }, false},
		"another state":          {func(q *Query) { q.State = "1" }, false},
		"another window":         {func(q *Query) { q.From = q.From.Add(-time.Hour) }, false},
		"no cursor":              {func(q *Query) { q.Cursor = "hello" }, false},
		"cut":                    {func(q *Query) { q.Cursor = q.Cursor[:20] }, false},
		"groups":                 {func(q *Query) { q.GroupBy = "entity" }, false},
	} {
		q := base
		q.Cursor = next
		c.change(&q)
		p, err := r.j.Query(t.Context(), home.Visible(), q)
		if c.ok && (err != nil || len(p.Rows) == 0 || p.Rows[0].New != "14") {
			t.Errorf("%s: %v %+v", name, err, p.Rows)
		}
		if !c.ok && home.CodeOf(err) != home.Invalid {
			t.Errorf("%s: accepted: %v", name, err)
		}
	}
}

func TestQuery_Groups(t *testing.T) {
	r := newRig(t)
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		t.Fatal(err)
	}
	// The night the clocks go back: 02:00 comes twice.
	r.stop()
	r.now = time.Date(2025, 10, 25, 23, 30, 0, 0, time.UTC)
	r.start()
	r.up(testStates(r.now)...)
	r.pass(time.Second)
	from := r.now
	guestMode(r)
	for _, v := range []string{"unlocked", "locked", "unlocked", "locked"} {
		r.set("lock.front", v, "", home.Context{ID: r.ctx()})
		r.pass(30 * time.Minute)
	}
	q := Query{From: from, To: r.now, Now: r.now, Location: amsterdam}
	keys := func(by string) string {
		q.GroupBy = by
		var out []string
		for _, g := range r.query(q).Groups {
			out = append(out, fmt.Sprintf("%s=%d", g.Key, g.Count))
		}
		return strings.Join(out, " ")
	}
	for by, want := range map[string]string{
		"kind":       "state=11 service=4 automation=1 script=1",
		"domain":     "lock=4 input_boolean=1 binary_sensor=1",
		"user":       "u1=3",
		"automation": "automation.guests=10",
		"day":        "2025-10-26=17",
		"hour":       "2025-10-26T02:00+01:00=1 2025-10-26T02:00+02:00=2 2025-10-26T01:00+02:00=14",
	} {
		got := keys(by)
		for part := range strings.FieldsSeq(want) {
			if !strings.Contains(" "+got+" ", " "+part+" ") {
				t.Errorf("by %s: %s misses %s", by, got, part)
			}
		}
		if by == "hour" && got != want {
			t.Errorf("hours: %s, want %s", got, want)
		}
	}
	q.GroupBy = "automation"
	if g := r.query(q).Groups[0]; g.Name != "Guests make the kitchen bright" || g.First.After(g.Last) {
		t.Errorf("%+v", g)
	}
	q.GroupBy, q.Limit = "entity", 2
	if p := r.query(q); len(p.Groups) != 2 || !p.Truncated || p.Total != 17 {
		t.Errorf("%+v", p)
	}
}

func TestQuery_Errors(t *testing.T) {
	r := newRig(t)
	for _, q := range []Query{{Limit: 501}, {Limit: -1}, {Kinds: []RowKind{"moon"}}, {GroupBy: "colour"}, {From: r.now, To: r.now.Add(-time.Hour)}} {
		if _, err := r.j.Query(t.Context(), home.Visible(), q); home.CodeOf(err) != home.Invalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestQuery_DefaultsToADay(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.set("lock.front", "unlocked", "", home.Context{})
	p, err := r.j.Query(t.Context(), home.Visible(), Query{Domain: "lock", Now: r.now.Add(23 * time.Hour)})
	if err != nil || p.Total != 2 {
		t.Errorf("%d rows, %v", p.Total, err)
	}
	p, err = r.j.Query(t.Context(), home.Visible(), Query{Domain: "lock", Now: r.now.Add(25 * time.Hour)})
	if err != nil || p.Total != 0 {
		t.Errorf("%d rows a day later, %v", p.Total, err)
	}
	if p.Coverage.From.IsZero() || p.Rows != nil {
		t.Errorf("%+v", p)
	}
}

func TestQuery_AnswersWhatTheMirrorShowed(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	for i := range 30 {
		r.set("switch.a", fmt.Sprint(i), "{}", home.Context{})
		if p := r.query(Query{Entities: []home.EntityID{"switch.a"}, Limit: 1}); p.Rows[0].New != fmt.Sprint(i) {
			t.Fatalf("after %d the answer is %+v", i, p.Rows)
		}
	}
}

// A house whose clock is ahead writes rows that are in the future for us: what
// happened until now is theirs, too.
func TestQuery_HouseAhead(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.now = time.Now().Add(5 * time.Minute)
	r.set("lock.front", "unlocked", "", home.Context{ID: r.ctx()})
	now := time.Now()
	for name, q := range map[string]Query{
		"the default window": {State: "unlocked"},
		"an hour until now":  {State: "unlocked", From: now.Add(-time.Hour), To: now, Now: now},
		"by entity":          {Entities: []home.EntityID{"lock.front"}, State: "unlocked", Kinds: []RowKind{KindState}},
	} {
		if p := r.query(q); p.Total != 1 || p.Coverage.To.After(time.Now()) {
			t.Errorf("%s: %d rows, covered until %v", name, p.Total, p.Coverage.To)
		}
	}
	if p := r.query(Query{State: "unlocked", From: now.Add(-time.Hour), To: now.Add(-time.Minute)}); p.Total != 0 {
		t.Errorf("%d rows until a minute ago", p.Total)
	}
	if w := r.why(WhyQuery{Entity: "lock.front"}); !strings.Contains(w.Summary, "unlocked") {
		t.Errorf("the change is not found: %s", w.Summary)
	}
}
