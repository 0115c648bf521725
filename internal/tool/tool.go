package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"hearth/internal/home"
)

// Spec is a tool's declaration beside its input and output types.
type Spec struct {
	Name       string // noun_verb, snake_case, at most 40 characters
	Title      string
	About      string // what it is for and when to use it; at most 1,000 characters
	Class      home.Class
	Varies     bool // the class depends on the arguments: hints show the worst case
	Idempotent bool
	Outside    bool          // open-world hint; false for a home network
	Slow       time.Duration // the deadline; 0 means 30 s
	Limit      int           // bytes of answer; 0 means 15,000 (64,000 for configuration documents)
	Core       bool          // listed in the standard profile
	Compact    bool          // listed in the compact profile too
	Examples   []string      // JSON arguments, each accepted by the tool's own schema
	URI        string        // reading tool as a resource: "hearth://house"; {name} parts are arguments
	Topics     []string      // changes that touch the resource
}

// Caller is who calls, over what, with which grant.
type Caller struct {
	Via   string // mcp, stdio, cli, web, chat, job
	Who   string // token or person name
	Token string // token id
	Grant home.Grant
}

// Plan is what a writing tool wants done. The tool itself has no hands.
type Plan struct {
	Steps  []home.Step
	Wait   time.Duration // how long to wait for the house to show it; 0–8 s
	DryRun bool
	// Notes are said in the answer: what was dropped, translated or assumed.
	Notes []string
}

// Verdict is what the judge says of a plan.
type Verdict struct {
	Class  home.Class
	Allow  bool
	Why    string            // why it is refused, and what would be needed
	Leaves [][]home.EntityID // per step, what would really be touched
	Notes  []string
	// Unseen are leaves out of the caller's sight, such as the hidden members of
	// a group: they are touched and recorded, and the answer does not name them.
	Unseen map[home.EntityID]bool
}

// Receipt is the answer of every writing tool.
type Receipt struct {
	Outcome home.Outcome      `json:"outcome,omitempty" jsonschema:"done, already, accepted, assumed, sent, waiting, unknown, failed or refused; the worst of all targets; absent in a dry run that would be allowed"`
	Call    string            `json:"call" jsonschema:"id of this call in the journal"`
	DryRun  bool              `json:"dry_run,omitempty" jsonschema:"true when nothing was sent"`
	Would   []home.Step       `json:"would,omitempty" jsonschema:"what would be sent (dry run)"`
	Targets []home.LeafResult `json:"targets,omitempty" jsonschema:"one result per entity touched"`
	Class   string            `json:"class,omitempty" jsonschema:"how risky the judge finds it"`
	Notes   []string          `json:"notes,omitempty" jsonschema:"what was dropped, translated or left unsaid"`
	Result  json.RawMessage   `json:"response,omitempty" jsonschema:"what the service answered"`
}

// The door's func types: daemon sets them in wire.go.
type (
	// Judge resolves what a plan would really touch and decides. It never acts.
	Judge func(ctx context.Context, c Caller, tool string, p Plan) (Verdict, error)
	// Hands executes one step and waits for the house to show it.
	Hands func(ctx context.Context, s home.Step, leaves []home.EntityID, wait time.Duration) home.StepResult
	// Eyes reads before-images of the leaves; nil is allowed.
	Eyes func(ctx context.Context, leaves []home.EntityID) error
	// Record keeps the one record of each call. It returns only after a durable commit for writes.
	Record func(ctx context.Context, r home.CallRecord) error
)

// Tool is a declared tool. The zero Tool is none.
type Tool struct{ d *declared }

// declared is what NewRead and NewWrite make of a declaration.
type declared struct {
	spec   Spec
	in     *shape
	inDoc  json.RawMessage
	outDoc json.RawMessage
	fill   *filler
	// One of the two is set. args is canonical: repaired, complete, checked.
	run  func(ctx context.Context, c Caller, args json.RawMessage) (any, error)
	plan func(ctx context.Context, c Caller, args json.RawMessage) (Plan, error)
}

// NewRead declares a reading tool. It panics on a faulty declaration.
func NewRead[In, Out any](s Spec, run func(ctx context.Context, c Caller, in In) (Out, error)) Tool {
	out := reflect.TypeFor[Out]()
	d := declare(s, reflect.TypeFor[In](), out)
	if s.Class != home.Read || s.Varies {
		fault(s.Name, "a reading tool has class Read and does not vary")
	}
	d.run = func(ctx context.Context, c Caller, args json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, home.Errorf(home.Invalid, "the arguments cannot be read: %w", err)
		}
		v, err := run(ctx, c, in)
		if err != nil {
			return nil, err
		}
		d.fill.value(reflect.ValueOf(&v).Elem())
		if _, ok := any(v).(Cutter); ok {
			return v, nil
		}
		return &v, nil
	}
	return Tool{d}
}

// NewWrite declares a writing tool: its method returns a plan; the answer is a Receipt.
// It panics on a faulty declaration.
func NewWrite[In any](s Spec, plan func(ctx context.Context, c Caller, in In) (Plan, error)) Tool {
	d := declare(s, reflect.TypeFor[In](), reflect.TypeFor[Receipt]())
	if s.Class < home.Act {
		fault(s.Name, "a writing tool has class Act, Config or Danger")
	}
	if s.URI != "" {
		fault(s.Name, "only a reading tool can be a resource")
	}
	d.plan = func(ctx context.Context, c Caller, args json.RawMessage) (Plan, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return Plan{}, home.Errorf(home.Invalid, "the arguments cannot be read: %w", err)
		}
		return plan(ctx, c, in)
	}
	return Tool{d}
}

// Spec is the declaration.
func (t Tool) Spec() Spec { return t.d.spec }

// InputSchema is the flat JSON schema of the arguments, made once; key order is the struct's.
func (t Tool) InputSchema() json.RawMessage { return t.d.inDoc }

// OutputSchema is the JSON schema of the answer, made once, without references.
func (t Tool) OutputSchema() json.RawMessage { return t.d.outDoc }

// Writes reports whether the tool returns a plan rather than an answer.
func (t Tool) Writes() bool { return t.d.plan != nil }

// Hints are the four MCP hints.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// Hints are derived from class, Varies, Idempotent and Outside.
func (t Tool) Hints() Hints {
	s := t.d.spec
	read := s.Class == home.Read
	return Hints{
		ReadOnly:    read,
		Destructive: s.Class == home.Danger || s.Varies,
		Idempotent:  read || s.Idempotent,
		OpenWorld:   s.Outside,
	}
}

// deadline is how long the tool may take.
func (d *declared) deadline() time.Duration {
	if d.spec.Slow > 0 {
		return d.spec.Slow
	}
	return 30 * time.Second
}

// limit is how many bytes the answer may have.
func (d *declared) limit() int {
	if d.spec.Limit > 0 {
		return d.spec.Limit
	}
	return 15_000
}
