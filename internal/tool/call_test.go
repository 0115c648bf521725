package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/home"
)

// door is a registry whose judge, hands and record note what happens, in order.
type door struct {
	*Registry
	mu      sync.Mutex
	events  []string
	records []home.CallRecord
	log     bytes.Buffer

	verdict Verdict
	judge   error
	results []home.StepResult
	hand    func(ctx context.Context)
	eyes    error
	record  error
}

func (d *door) note(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, s)
}

func newDoor(tools ...Tool) *door {
	d := &door{Registry: NewRegistry(tools...), verdict: Verdict{Class: home.Act, Allow: true}}
	d.Log = slog.New(slog.NewTextHandler(&d.log, nil))
	d.Judge = func(context.Context, Caller, string, Plan) (Verdict, error) {
		d.note("judge")
		return d.verdict, d.judge
	}
	d.Eyes = func(context.Context, []home.EntityID) error {
		d.note("eyes")
		return d.eyes
	}
	d.Hands = func(ctx context.Context, s home.Step, leaves []home.EntityID, wait time.Duration) home.StepResult {
		d.note("hands " + s.Call.Name())
		if d.hand != nil {
			d.hand(ctx)
		}
		res := d.results[0]
		d.results = d.results[1:]
		return res
	}
	d.Record = func(_ context.Context, r home.CallRecord) error {
		d.note("record")
		d.records = append(d.records, r)
		return d.record
	}
	return d
}

func actor() Caller {
	return Caller{Via: "mcp", Who: "claude", Grant: home.Grant{Upto: home.Act, Scope: home.Visible()}}
}

type setIn struct {
	ID     home.EntityID `json:"entity_id" jsonschema:"Which"`
	Code   string        `json:"code,omitempty" jsonschema:"A code"`
	DryRun bool          `json:"dry_run,omitempty" jsonschema:"Send nothing"`
	Steps  int           `json:"steps,omitempty" jsonschema:"How many" default:"1" min:"0" max:"3"`
}

func setTool(plan func(context.Context, setIn) (Plan, error)) Tool {
	if plan == nil {
		plan = func(_ context.Context, in setIn) (Plan, error) {
			p := Plan{DryRun: in.DryRun, Wait: time.Minute, Notes: []string{"a\nnote"}}
			for range in.Steps {
				p.Steps = append(p.Steps, home.Step{Kind: home.StepService,
					Call:   &home.ServiceCall{Domain: "light", Service: "turn_on", Target: home.Target{Entities: []home.EntityID{in.ID}}, Data: json.RawMessage(`{"code":"1234"}`)},
					Expect: []home.Expect{{Entity: in.ID, States: []string{"on"}}}})
			}
			return p, nil
		}
	}
	return NewWrite(Spec{Name: "light_set", Title: "Set", About: "Sets a light.", Class: home.Act, Slow: 5 * time.Second,
		Examples: []string{`{"entity_id":"light.a"}`}},
		func(ctx context.Context, _ Caller, in setIn) (Plan, error) { return plan(ctx, in) })
}

func done(id string) home.StepResult {
	return home.StepResult{Outcome: home.Done, Leaves: []home.LeafResult{{Entity: home.EntityID(id), Outcome: home.Done, Before: "off", After: "on"}}}
}

func receiptOf(t *testing.T, a Answer) Receipt {
	t.Helper()
	if a.Err != nil {
		t.Fatalf("error %v", a.Err)
	}
	var r Receipt
	if err := json.Unmarshal(a.JSON, &r); err != nil {
		t.Fatalf("%v in %s", err, a.JSON)
	}
	return r
}

func TestCall_Read(t *testing.T) {
	d := newDoor(echoTool("echo_it"))
	for _, name := range []string{"echo_it", "EchoIt", "echo-it", "ECHO_IT", "mcp__hearth__echo_it"} {
		a := d.Call(t.Context(), reader(), name, json.RawMessage(`{"limit":"5"}`))
		if a.Err != nil || !strings.Contains(string(a.JSON), `"limit":5`) || a.Outcome != "" || !strings.HasPrefix(a.Call, "call_") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if len(d.records) != 5 {
		t.Fatalf("%d records", len(d.records))
	}
	if r := d.records[0]; r.Tool != "echo_it" || r.Outcome != "" || r.Code != "" || r.Who != "test" || r.Via != "mcp" || r.Bytes == 0 || r.Class != home.Read || string(r.Args) != `{"fields":["state"],"limit":5}` {
		t.Errorf("record %+v", r)
	}
}

func TestCall_UnknownAndUngranted(t *testing.T) {
	d := newDoor(echoTool("echo_it"), setTool(nil))
	a := d.Call(t.Context(), reader(), "ech_o_its", nil)
	if a.Err == nil || a.Err.Code != home.NotFound || !strings.Contains(a.Err.Msg, "Did you mean echo_it?") {
		t.Errorf("%v", a.Err)
	}
	if a = d.Call(t.Context(), reader(), "light_sett", nil); strings.Contains(a.Err.Error(), "light_set,") || strings.Contains(a.Err.Msg, "Did you mean light_set") {
		t.Errorf("a name beyond the grant is suggested: %v", a.Err)
	}
	if len(d.records) != 0 {
		t.Error("a call of no tool has no record")
	}
	a = d.Call(t.Context(), reader(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
	if a.Err == nil || a.Err.Code != home.Denied || a.Outcome != home.Refused || !slices.Equal(d.events, []string{"record"}) {
		t.Errorf("%+v, %v", a, d.events)
	}
	if got := len(d.Visible(reader())); got != 1 || len(d.Visible(actor())) != 2 || len(d.Visible(Caller{})) != 0 {
		t.Errorf("%d tools are listed for a reader", got)
	}
}

func TestCall_WriteGoesInOrder(t *testing.T) {
	d := newDoor(setTool(nil))
	d.verdict.Leaves = [][]home.EntityID{{"light.a"}, {"light.a"}}
	d.verdict.Notes = []string{"judged"}
	d.results = []home.StepResult{done("light.a"), {Outcome: home.Sent, Note: "slow\x00", Response: json.RawMessage(`[1,{"token":"x"}]`)}}
	a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","steps":2,"code":"1234"}`))
	if want := []string{"judge", "eyes", "hands light.turn_on", "hands light.turn_on", "record"}; !slices.Equal(d.events, want) {
		t.Errorf("order %v", d.events)
	}
	r := receiptOf(t, a)
	if a.Outcome != home.Sent || r.Outcome != home.Sent || r.Call != a.Call || r.Class != "act" || r.DryRun || len(r.Targets) != 1 {
		t.Errorf("%+v", r)
	}
	if want := []string{"a note", "judged", "step 2: slow"}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q", r.Notes)
	}
	if string(r.Result) != `{"value":[1,{"token":"***"}]}` {
		t.Errorf("response %s", r.Result)
	}
	rec := d.records[0]
	if rec.Outcome != home.Sent || rec.ID != a.Call || len(rec.Steps) != 2 || rec.Steps[0].Leaves[0] != "light.a" || rec.Bytes != len(a.JSON) {
		t.Errorf("record %+v", rec)
	}
	all, _ := json.Marshal(rec)
	if strings.Contains(string(all), "1234") {
		t.Errorf("a code is in the record: %s", all)
	}
}

func TestCall_WaitIsBounded(t *testing.T) {
	d := newDoor(setTool(nil))
	var got time.Duration
	d.Hands = func(_ context.Context, _ home.Step, _ []home.EntityID, wait time.Duration) home.StepResult {
		got = wait
		return home.StepResult{Outcome: home.Done}
	}
	d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
	if got != maxWait {
		t.Errorf("a minute of waiting became %v", got)
	}
}

func TestCall_DryRun(t *testing.T) {
	for _, allow := range []bool{true, false} {
		d := newDoor(setTool(nil))
		d.verdict = Verdict{Class: home.Act, Allow: allow, Why: "not on the list", Leaves: [][]home.EntityID{{"light.a", "light.b"}}}
		a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","dry_run":true}`))
		r := receiptOf(t, a)
		if !slices.Equal(d.events, []string{"judge", "record"}) {
			t.Errorf("a dry run did %v", d.events)
		}
		if !r.DryRun || len(r.Would) != 1 || len(r.Targets) != 2 || r.Targets[0].Note != "would become on" || !d.records[0].DryRun {
			t.Errorf("%+v", r)
		}
		if strings.Contains(string(a.JSON), "1234") {
			t.Errorf("a code is shown: %s", a.JSON)
		}
		want := home.Outcome("")
		if !allow {
			want = home.Refused
		}
		if r.Outcome != want || r.Targets[0].Outcome != want || allow == strings.Contains(string(a.JSON), "not on the list") {
			t.Errorf("allow %v: %s", allow, a.JSON)
		}
	}
}

func TestCall_NothingIsSent(t *testing.T) {
	type none = func(*door)
	for _, c := range []struct {
		name    string
		prepare none
		args    string
		code    home.Code
		outcome home.Outcome
		says    string
	}{
		{"denied", func(d *door) { d.verdict = Verdict{Class: home.Danger, Why: "it would open a lock"} }, "", home.Denied, home.Refused, "it would open a lock"},
		{"allowed, but above the grant", func(d *door) { d.verdict.Class = home.Config }, "", home.Denied, home.Refused, "needs the right to config"},
		{"an unknown target", func(d *door) { d.judge = home.Errorf(home.NotFound, `no entity "light.kichen"`) }, "", home.NotFound, home.Failed, "light.kichen"},
		{"no judge", func(d *door) { d.Judge = nil }, "", home.Denied, home.Refused, "not ready"},
		{"no hands", func(d *door) { d.Hands = nil }, "", home.Denied, home.Refused, "not ready"},
		{"a judge that panics", func(d *door) {
			d.Judge = func(context.Context, Caller, string, Plan) (Verdict, error) { panic("boom") }
		}, "", home.Internal, home.Failed, "see log call_"},
		{"eyes that fail", func(d *door) { d.eyes = home.Errorf(home.Offline, "cannot look") }, "", home.Offline, home.Failed, "cannot look"},
		{"wrong arguments", func(d *door) {}, `{"entity_id":"kitchen"}`, home.Invalid, home.Failed, "entity_search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(setTool(nil))
			c.prepare(d)
			args := c.args
			if args == "" {
				args = `{"entity_id":"light.a"}`
			}
			a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(args))
			if a.Err == nil || a.Err.Code != c.code || !strings.Contains(a.Err.Error(), c.says) || a.Outcome != c.outcome || a.JSON != nil {
				t.Errorf("%+v: %v", a, a.Err)
			}
			if slices.ContainsFunc(d.events, func(e string) bool { return strings.HasPrefix(e, "hands") }) {
				t.Errorf("something was sent: %v", d.events)
			}
			if len(d.records) != 1 || d.records[0].Code != c.code || d.records[0].Outcome != c.outcome {
				t.Errorf("records %+v", d.records)
			}
		})
	}
}

func TestCall_HandsThatFail(t *testing.T) {
	offline := home.StepResult{Outcome: home.Failed, Err: home.Errorf(home.Offline, "no link"), Leaves: []home.LeafResult{{Entity: "light.a", Outcome: home.Failed}}}
	d := newDoor(setTool(nil))
	d.results = []home.StepResult{offline}
	a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
	if a.Err == nil || a.Err.Code != home.Offline || a.Outcome != home.Failed || len(d.records[0].Steps) != 1 {
		t.Errorf("%+v", a)
	}
	// One step went through: the receipt says what became of each.
	d.results = []home.StepResult{done("light.a"), offline}
	r := receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","steps":2}`)))
	if r.Outcome != home.Failed || len(r.Targets) != 2 || !strings.Contains(strings.Join(r.Notes, "|"), "step 2: offline: no link") {
		t.Errorf("%+v", r)
	}
	// A lock that jams is a receipt, not an error.
	d.results = []home.StepResult{{Outcome: home.Failed, Leaves: []home.LeafResult{{Entity: "lock.a", Outcome: home.Failed, Note: "jammed"}}}}
	if r = receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"lock.a"}`))); r.Outcome != home.Failed {
		t.Errorf("%+v", r)
	}
	// Hands that panic may have sent.
	d.hand = func(context.Context) { panic("boom") }
	if r = receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"lock.a"}`))); r.Outcome != home.Unclear {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(d.log.String(), "boom") {
		t.Error("the log does not say why")
	}
}

func TestCall_NothingToDo(t *testing.T) {
	d := newDoor(setTool(nil))
	r := receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","steps":0}`)))
	if r.Outcome != home.Already || slices.Contains(d.events, "eyes") {
		t.Errorf("%+v, %v", r, d.events)
	}
}

func TestCall_RecordThatFails(t *testing.T) {
	d := newDoor(setTool(nil), echoTool("echo_it"))
	d.record = errors.New("disk full")
	d.results = []home.StepResult{done("light.a")}
	r := receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`)))
	if r.Outcome != home.Done || !strings.Contains(strings.Join(r.Notes, "|"), "could not be written into the journal") {
		t.Errorf("%+v", r)
	}
	d.record = home.Errorf(home.Internal, "the record of this call waits")
	r = receiptOf(t, d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`)))
	if !slices.Contains(r.Notes, "the record of this call waits") {
		t.Errorf("%+v", r)
	}
	d.record = errors.New("disk full")
	d.verdict.Allow = false
	if a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`)); !strings.Contains(a.Err.Msg, "journal") {
		t.Errorf("%v", a.Err)
	}
	if a := d.Call(t.Context(), reader(), "echo_it", nil); a.Err != nil {
		t.Errorf("a read does not depend on its record: %v", a.Err)
	}
	d.Record = func(context.Context, home.CallRecord) error { panic("boom") }
	if a := d.Call(t.Context(), reader(), "echo_it", nil); a.Err != nil {
		t.Errorf("a read does not depend on its record: %v", a.Err)
	}
}

func TestCall_RecordOutlivesTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newDoor(setTool(nil))
	d.results = []home.StepResult{done("light.a")}
	d.hand = func(context.Context) { cancel() }
	d.Record = func(ctx context.Context, r home.CallRecord) error {
		if ctx.Err() != nil {
			t.Error("the record is cancelled with its caller")
		}
		d.records = append(d.records, r)
		return nil
	}
	d.Call(ctx, actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
	if len(d.records) != 1 || d.records[0].Outcome != home.Done {
		t.Errorf("%+v", d.records)
	}
}

func TestCall_Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := NewRead(Spec{Name: "slow_get", Title: "S", About: "S.", Class: home.Read}, func(ctx context.Context, _ Caller, _ struct{}) (echo, error) {
			<-ctx.Done()
			return echo{}, fmt.Errorf("read: %w", ctx.Err())
		})
		d := newDoor(slow, setTool(nil))
		begun := time.Now()
		a := d.Call(t.Context(), reader(), "slow_get", nil)
		if a.Err == nil || a.Err.Code != home.Timeout || time.Since(begun) != 30*time.Second || d.records[0].Code != home.Timeout || d.records[0].Took != 30*time.Second {
			t.Errorf("%v after %v", a.Err, time.Since(begun))
		}
		// A write that was sent and not answered is unknown; the next step is not sent.
		d.hand = func(ctx context.Context) { <-ctx.Done() }
		d.results = []home.StepResult{{Outcome: home.Unclear, Err: home.Errorf(home.Timeout, "no answer")}}
		a = d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a","steps":2}`))
		steps := d.records[1].Steps
		if len(steps) != 2 || steps[0].Result.Outcome != home.Unclear || steps[1].Result.Outcome != home.Failed {
			t.Fatalf("steps %+v", steps)
		}
		if a.Outcome != home.Failed || !strings.Contains(string(a.JSON), "not sent") {
			t.Errorf("%s: %s %v", a.Outcome, a.JSON, a.Err)
		}
		d.results = []home.StepResult{{Outcome: home.Unclear}}
		a = d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
		if a.Err == nil || a.Err.Code != home.Timeout || a.Outcome != home.Unclear || !strings.Contains(a.Err.Error(), "may have happened") {
			t.Errorf("%s: %s %v", a.Outcome, a.JSON, a.Err)
		}
	})
}

func TestCall_ErrorsOfTools(t *testing.T) {
	var give error
	broken := NewRead(Spec{Name: "broken_get", Title: "B", About: "B.", Class: home.Read}, func(context.Context, Caller, struct{}) (echo, error) {
		if give == nil {
			panic("secret detail")
		}
		return echo{}, give
	})
	d := newDoor(broken)
	for _, c := range []struct {
		name string
		err  error
		code home.Code
		says string
		not  string
	}{
		{"a panic", nil, home.Internal, "see log call_", "secret detail"},
		{"an error of another kind", errors.New("secret detail"), home.Internal, "see log call_", "secret detail"},
		{"an error for the model", home.Errorf(home.NotFound, "no area %q", "a\nb\x1b").WithHint("Try\narea_list."), home.NotFound, "Try area_list.", "\n"},
		{"a wrapped error for the model", fmt.Errorf("deep: %w", home.Errorf(home.Ambiguous, "two")), home.Ambiguous, "two", "deep"},
		{"far too long", home.Errorf(home.Invalid, "%s", strings.Repeat("ü", 5000)).WithHint("%s", strings.Repeat("é", 5000)), home.Invalid, "…", "\n"},
		{"the caller went away", context.Canceled, home.Timeout, "did not wait", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			give = c.err
			a := d.Call(t.Context(), reader(), "broken_get", nil)
			line := a.Err.Error()
			if a.Err.Code != c.code || !strings.Contains(line, c.says) || c.not != "" && strings.Contains(line, c.not) || len(line) > errorBytes {
				t.Errorf("%d bytes: %.300s", len(line), line)
			}
		})
	}
	if !strings.Contains(d.log.String(), "secret detail") {
		t.Error("the log does not say why")
	}
}

// rows is an output that can be cut.
type rows struct {
	Rows []string `json:"rows"`
	Next string   `json:"next,omitempty"`
}

func (r rows) Len() int { return len(r.Rows) }
func (r rows) Cut(keep int) (any, bool) {
	r.Rows, r.Next = r.Rows[:keep], fmt.Sprint("from ", keep)
	return r, true
}

func TestCall_LongAnswers(t *testing.T) {
	var n int
	list := NewRead(Spec{Name: "row_list", Title: "R", About: "R.", Class: home.Read}, func(context.Context, Caller, struct{}) (rows, error) {
		var out rows
		for i := range n {
			out.Rows = append(out.Rows, strings.Repeat("ü\"", i%40))
		}
		return out, nil
	})
	whole := NewRead(Spec{Name: "text_get", Title: "T", About: "T.", Class: home.Read}, func(context.Context, Caller, struct{}) (echo, error) {
		return echo{json.RawMessage(`{"x":"` + strings.Repeat("x", n) + `"}`)}, nil
	})
	d := newDoor(list, whole)
	for _, n = range []int{0, 1, 100, 300, 500, 5_000, 200_000} {
		a := d.Call(t.Context(), reader(), "row_list", nil)
		if a.Err != nil || len(a.JSON) > 15_000 || !json.Valid(a.JSON) {
			t.Fatalf("%d rows: %d bytes, %v", n, len(a.JSON), a.Err)
		}
		var out rows
		if err := json.Unmarshal(a.JSON, &out); err != nil {
			t.Fatal(err)
		}
		if cut := len(out.Rows) < n; cut != a.Truncated || cut != (out.Next != "") {
			t.Errorf("%d rows: %d shown, truncated %v, next %q", n, len(out.Rows), a.Truncated, out.Next)
		}
		if n >= 500 && len(a.JSON) < 11_000 {
			t.Errorf("%d rows: only %d bytes are used", n, len(a.JSON))
		}
	}
	n = 14_000
	if a := d.Call(t.Context(), reader(), "text_get", nil); a.Err != nil || a.Truncated {
		t.Errorf("%v", a.Err)
	}
	n = 16_000
	if a := d.Call(t.Context(), reader(), "text_get", nil); a.Err == nil || a.Err.Code != home.Invalid || !strings.Contains(a.Err.Hint, "Ask for less") || a.JSON != nil {
		t.Errorf("%+v", a)
	}
}

func TestReceipt_Cut(t *testing.T) {
	d := newDoor(setTool(nil))
	res := home.StepResult{Outcome: home.Failed, Response: json.RawMessage(`{"a":"` + strings.Repeat("x", 20_000) + `"}`)}
	for i := range 900 {
		o := home.Done
		if i == 899 {
			o = home.Failed
		}
		res.Leaves = append(res.Leaves, home.LeafResult{Entity: home.EntityID(fmt.Sprintf("light.number_%d", i)), Name: "A lamp\nwith a name", Outcome: o})
	}
	d.results = []home.StepResult{res}
	a := d.Call(t.Context(), actor(), "light_set", json.RawMessage(`{"entity_id":"light.a"}`))
	r := receiptOf(t, a)
	if !a.Truncated || len(a.JSON) > 15_000 || r.Result != nil || len(r.Targets) < 50 {
		t.Fatalf("%d bytes, %d targets", len(a.JSON), len(r.Targets))
	}
	if r.Targets[0].Outcome != home.Failed || r.Targets[0].Name != "A lamp with a name" {
		t.Errorf("what went wrong is shown first: %+v", r.Targets[0])
	}
	if !strings.Contains(strings.Join(r.Notes, "|"), a.Call) {
		t.Errorf("the notes do not say where the rest is: %q", r.Notes)
	}
	if got := len(d.records[0].Steps[0].Result.Leaves); got != 900 {
		t.Errorf("the record has %d leaves", got)
	}
}

func TestCall_Concurrent(t *testing.T) {
	r := NewRegistry(echoTool("echo_it"), setTool(nil))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				if a := r.Call(t.Context(), reader(), "echo_it", json.RawMessage(fmt.Sprintf(`{"limit":%d}`, i+1))); a.Err != nil {
					t.Error(a.Err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkDoor(b *testing.B) {
	type out struct {
		Text string `json:"text"`
	}
	r := NewRegistry(NewRead(Spec{Name: "thing_get", Title: "T", About: "T.", Class: home.Read},
		func(context.Context, Caller, everything) (out, error) { return out{"x"}, nil }))
	r.Record = func(context.Context, home.CallRecord) error { return nil }
	args := json.RawMessage(`{"entity_id":["light.kitchen"],"fresh":true}`)
	b.ReportAllocs()
	for b.Loop() {
		if a := r.Call(b.Context(), reader(), "thing_get", args); a.Err != nil {
			b.Fatal(a.Err)
		}
	}
}

// A dry run promises no more than is looked for afterwards.
func TestWouldShow(t *testing.T) {
	for want, e := range map[string]home.Expect{
		"would become on":                   {States: []string{"on"}},
		"would become cool, heat or auto":   {States: []string{"cool", "heat", "auto"}},
		"would become 7.5":                  {States: []string{"7.5", "7.50", "7.500"}},
		"would become open or closed":       {States: []string{"open", "closed"}},
		"would be called; it shows nothing": {Blind: true},
		"would be changed":                  {Attrs: map[string]json.RawMessage{"brightness": json.RawMessage("1")}},
	} {
		if got := wouldShow(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
