// Package tool declares tools once and is the one door that runs them.
package tool

import (
	"context"
	"encoding/json"
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
}

// Receipt is the answer of every writing tool.
type Receipt struct {
	Outcome home.Outcome      `json:"outcome" jsonschema:"done, already, accepted, assumed, sent, waiting, unknown, failed or refused; the worst of all targets"`
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
	// Eyes reads before-images of the leaves (step 2 fills it; nil is allowed).
	Eyes func(ctx context.Context, leaves []home.EntityID) error
	// Record keeps the one record of each call. It returns only after a durable commit for writes.
	Record func(ctx context.Context, r home.CallRecord) error
)

// Tool is a declared tool.
type Tool struct{}

// NewRead declares a reading tool. It panics on a faulty declaration.
func NewRead[In, Out any](s Spec, run func(ctx context.Context, c Caller, in In) (Out, error)) Tool {
	panic("skeleton")
}

// NewWrite declares a writing tool: its method returns a plan; the answer is a Receipt.
func NewWrite[In any](s Spec, plan func(ctx context.Context, c Caller, in In) (Plan, error)) Tool {
	panic("skeleton")
}

// Spec is the declaration.
func (t Tool) Spec() Spec { panic("skeleton") }

// InputSchema and OutputSchema are flat JSON schemas, made once; key order is the struct's.
func (t Tool) InputSchema() json.RawMessage  { panic("skeleton") }
func (t Tool) OutputSchema() json.RawMessage { panic("skeleton") }

// Hints are the four MCP hints.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// Hints are derived from class, Varies, Idempotent and Outside.
func (t Tool) Hints() Hints { panic("skeleton") }

// Registry is the catalogue and its door.
type Registry struct {
	Judge  Judge
	Eyes   Eyes
	Hands  Hands
	Record Record
	Now    func() time.Time
}

// NewRegistry makes a registry; a duplicate name panics.
func NewRegistry(tools ...Tool) *Registry { panic("skeleton") }

// All lists every tool in order; Visible those the caller's grant reaches.
func (r *Registry) All() []Tool                   { panic("skeleton") }
func (r *Registry) Visible(c Caller) []Tool       { panic("skeleton") }
func (r *Registry) Find(name string) (Tool, bool) { panic("skeleton") }

// Answer is what a call gave.
type Answer struct {
	JSON      json.RawMessage // the typed result, cut to the limit; nil on error
	Err       *home.Error     // set when it went wrong: one line for the model
	Outcome   home.Outcome    // "" for reads
	Call      string          // id of the record
	Truncated bool
}

// Call is the door. It never panics and never returns a Go error: what went wrong is in Answer.Err.
func (r *Registry) Call(ctx context.Context, c Caller, name string, args json.RawMessage) Answer {
	panic("skeleton")
}

// Cutter is implemented by outputs that know how to shorten themselves: list
// items are dropped from the end until the JSON fits; Cut returns the shorter
// value with its continuation set (cursor, truncated) or false when it cannot.
type Cutter interface {
	Cut(keep int) (any, bool) // keep: how many items may stay
	Len() int
}
