package home

// Scope says which entities a caller may see. The zero Scope sees nothing, so
// forgetting it denies. Step 2 adds allow and deny rules.
type Scope struct {
	sees uint8 // 0 nothing, 1 all that is not hidden, 2 everything
}

// Visible sees everything except what Home Assistant hides.
func Visible() Scope { return Scope{sees: 1} }

// Everything sees hidden entities too: for the house's own work, never for a caller.
func Everything() Scope { return Scope{sees: 2} }

// Sees reports whether e is within sight. A nil e (an entity nobody knows any
// more, as in old journal rows) is seen by any scope but the zero one.
func (s Scope) Sees(e *Entity) bool {
	switch s.sees {
	case 1:
		return e == nil || !e.Hidden()
	case 2:
		return true
	}
	return false
}

// Zero reports whether the scope sees nothing at all.
func (s Scope) Zero() bool { return s.sees == 0 }

// Grant says what a caller may do: classes up to Upto, within Scope.
type Grant struct {
	Upto  Class
	Scope Scope
}

// Allows reports whether the grant reaches class c.
func (g Grant) Allows(c Class) bool { return c != 0 && c <= g.Upto }
