package home

import (
	"encoding/json"
	"slices"
	"time"
)

// Class says how much a tool or one call may do. The zero Class is invalid.
type Class uint8

// The classes, in rising order of danger.
const (
	_      Class = iota
	Read         // looks
	Act          // changes the house, easily undone
	Config       // changes what the house remembers
	Danger       // may lose data, access or safety
)

// String is the class's name in lower case, "invalid" for zero.
func (c Class) String() string {
	switch c {
	case Read:
		return "read"
	case Act:
		return "act"
	case Config:
		return "config"
	case Danger:
		return "danger"
	}
	return "invalid"
}

// Outcome says what became of a write.
type Outcome string

// The outcomes of a write; Worst orders them.
const (
	Done     Outcome = "done"     // the mirror showed the expected value for every leaf
	Already  Outcome = "already"  // equal before sending; nothing was sent
	Accepted Outcome = "accepted" // agreed to, and there is no state that shows all of it
	Assumed  Outcome = "assumed"  // the device cannot report
	Sent     Outcome = "sent"     // not seen yet
	Waiting  Outcome = "waiting"  // for a person
	Unclear  Outcome = "unknown"  // may have happened
	Failed   Outcome = "failed"
	Refused  Outcome = "refused"
)

// rank orders outcomes by how little is certain; unknown words come first.
func (o Outcome) rank() int {
	return slices.Index([]Outcome{Already, Done, Accepted, Assumed, Sent, Waiting, Unclear, Failed, Refused}, o)
}

// Worst is the outcome of the whole when its parts ended as os: the least
// certain of them. No parts give Accepted.
func Worst(os ...Outcome) Outcome {
	w := Outcome("")
	for _, o := range os {
		if w == "" || o.rank() > w.rank() {
			w = o
		}
	}
	if w == "" {
		return Accepted
	}
	return w
}

// Target says what a service call is about, as coarse as it was asked.
type Target struct {
	Entities []EntityID `json:"entity_id,omitempty"`
	Devices  []DeviceID `json:"device_id,omitempty"`
	Areas    []AreaID   `json:"area_id,omitempty"`
	Floors   []FloorID  `json:"floor_id,omitempty"`
	Labels   []LabelID  `json:"label_id,omitempty"`
}

// Empty reports whether the target names nothing.
func (t Target) Empty() bool {
	return len(t.Entities)+len(t.Devices)+len(t.Areas)+len(t.Floors)+len(t.Labels) == 0
}

// ServiceCall is a Home Assistant service (action) with its target and data.
type ServiceCall struct {
	Domain   string          `json:"domain"`
	Service  string          `json:"service"`
	Target   Target          `json:"target,omitzero"`
	Data     json.RawMessage `json:"data,omitempty"` // JSON object
	Response bool            `json:"response,omitempty"`
}

// Name is domain.service.
func (c ServiceCall) Name() string { return c.Domain + "." + c.Service }

// Expect is what one leaf should show after a Step. States lists the values
// that count as reached, Moving those that count as on their way; both empty
// mean the state does not matter. Attrs must be equal, numbers within Within.
type Expect struct {
	Entity EntityID                   `json:"entity"`
	States []string                   `json:"states,omitempty"`
	Moving []string                   `json:"moving,omitempty"`
	Attrs  map[string]json.RawMessage `json:"attrs,omitempty"`
	Within float64                    `json:"within,omitempty"`
	// Blind: there is nothing to see for this leaf (notify, button, scene): Accepted.
	Blind bool `json:"blind,omitempty"`
	// Assumed: the device cannot report (assumed_state): Assumed.
	Assumed bool `json:"assumed,omitempty"`
	// Loose: States and Attrs cover only part of what was asked (a colour, a
	// cover without a position), so seeing them before sending proves nothing:
	// never Already.
	Loose bool `json:"loose,omitempty"`
	// Unseen are the fields that were asked and that States and Attrs say nothing
	// of: a colour, media. Unless every attribute in Proof shows them, within
	// Near, seeing the rest is Accepted and never Done.
	Unseen []string                   `json:"unseen,omitempty"`
	Proof  map[string]json.RawMessage `json:"proof,omitempty"`
	Near   float64                    `json:"near,omitempty"`
}

// StepKind says what a Step does. The zero value is invalid.
type StepKind string

// The kinds of step. Documents, NAS actions and the rest come with later steps.
const (
	StepService StepKind = "service" // Call
)

// Step is one thing a plan does. Steps serialise, since an approval must
// survive a restart.
type Step struct {
	Kind   StepKind     `json:"kind"`
	Call   *ServiceCall `json:"call,omitempty"`
	Expect []Expect     `json:"expect,omitempty"`
}

// LeafResult is what became of one leaf of a step.
type LeafResult struct {
	Entity  EntityID `json:"entity_id"`
	Name    string   `json:"name,omitempty"`
	Outcome Outcome  `json:"outcome,omitempty"` // "" in a dry run that would be allowed
	Before  string   `json:"before,omitempty"`
	After   string   `json:"after,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// StepResult is what became of a step. Context is our call's, when known.
type StepResult struct {
	Outcome  Outcome         `json:"outcome"`
	Leaves   []LeafResult    `json:"leaves,omitempty"`
	Context  Context         `json:"context,omitzero"`
	Response json.RawMessage `json:"response,omitempty"`
	Note     string          `json:"note,omitempty"`
	Err      error           `json:"-"`
}

// CallRecord is the one record each call through the door leaves.
type CallRecord struct {
	ID      string // call_…
	At      time.Time
	Took    time.Duration
	Via     string // mcp, stdio, cli, web, chat, job
	Who     string // token or person
	Tool    string
	Class   Class
	Args    json.RawMessage // sensitive values starred
	DryRun  bool
	Outcome Outcome // "" for reads
	Code    Code    // "" when it went well
	Message string
	Steps   []StepRecord
	Bytes   int // size of the answer
}

// StepRecord is a step as the record keeps it.
type StepRecord struct {
	Step   Step       `json:"step"`
	Result StepResult `json:"result"`
	Leaves []EntityID `json:"leaves,omitempty"`
}
