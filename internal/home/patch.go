package home

// ContextPart is a set of parts of a Context.
type ContextPart uint8

// The parts of a Context.
const (
	ContextID ContextPart = 1 << iota
	ContextParent
	ContextUser
)

// ContextOver is the context an entity has after p when it had old before.
// Home Assistant's differences name only the parts that changed: those in
// p.KeepContext stay what they were. A nil p.Context keeps old whole.
func (p *Patch) ContextOver(old Context) Context {
	if p.Context == nil {
		return old
	}
	c := *p.Context
	if p.KeepContext&ContextID != 0 {
		c.ID = old.ID
	}
	if p.KeepContext&ContextParent != 0 {
		c.Parent = old.Parent
	}
	if p.KeepContext&ContextUser != 0 {
		c.User = old.User
	}
	return c
}
