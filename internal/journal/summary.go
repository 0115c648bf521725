package journal

import (
	"fmt"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// summary tells the way from this to its root in one sentence, and nothing that
// was not seen.
func (w *walk) summary() string {
	this := w.this
	b := &strings.Builder{}
	b.WriteString(capital(&this.Row, w.event(&this.Row)))
	b.WriteString(" at " + clock(this.Row.At, w.q.Now))
	if this.Row.CaughtUp {
		b.WriteString(" (found when Hearth connected)")
	}
	root := this
	for n := this.parent; n != nil; n = n.parent {
		b.WriteString(", " + w.because(n, root))
		root = n
	}
	b.WriteString(w.origin(root))
	b.WriteString(".")
	return b.String()
}

// event says what a row is as a clause.
func (w *walk) event(r *Row) string {
	switch r.Kind {
	case KindState:
		return w.change(r)
	case KindRun:
		return "automation " + quoted(r) + " ran"
	case KindScript:
		return "script " + quoted(r) + " started"
	case KindCall:
		return r.What + " was called"
	case KindOwn:
		return "Hearth ran " + r.What + " for " + r.User
	}
	return r.What
}

func (w *walk) change(r *Row) string {
	name := thing(r)
	switch {
	case r.Removed:
		return name + " was removed"
	case r.First:
		return name + " appeared as " + value(r.New)
	case r.Old != r.New:
		return fmt.Sprintf("%s changed from %s to %s", name, value(r.Old), value(r.New))
	}
	var parts []string
	mirror.EachMember(r.Attrs, func(k, v []byte) bool {
		parts = append(parts, strings.ReplaceAll(string(k), "_", " ")+" to "+home.Clip(strings.Trim(string(v), `"`), 60))
		return len(parts) < 4
	})
	if len(parts) == 0 {
		return name + " changed"
	}
	return name + " changed " + strings.Join(parts, " and ")
}

func thing(r *Row) string {
	if r.Name == "" {
		return string(r.Entity)
	}
	return home.Clip(r.Name, 100)
}

func value(s string) string {
	if s == "" {
		return "nothing"
	}
	return home.Clip(s, 60)
}

// because says how a node brought about the one below it.
func (w *walk) because(n, below *Node) string {
	r := &n.Row
	switch r.Kind {
	case KindCall:
		if below.Row.Kind == KindCall {
			return "called by " + r.What
		}
		return "through " + r.What
	case KindScript:
		return "in script " + quoted(r)
	case KindRun:
		if r.What != "" {
			return fmt.Sprintf("by automation %s (trigger: %s)", quoted(r), home.Clip(r.What, 100))
		}
		return "by automation " + quoted(r)
	case KindOwn:
		return fmt.Sprintf("called by Hearth for %s (%s)", r.User, r.What)
	case KindBulk:
		return fmt.Sprintf("one of %d entities that %s at once", r.Count, r.What)
	case KindState:
		if r.Context.ID == below.Row.Context.ID {
			return "together with " + w.change(r)
		}
		return "set off when " + w.change(r)
	}
	return "after " + w.event(r)
}

// origin says who stands at the root, or that nobody is known to.
func (w *walk) origin(root *Node) string {
	r := &root.Row
	switch {
	case r.Kind == KindOwn || r.Kind == KindBulk:
		return ""
	case r.Context.Parent != "":
		return "; what started that is not in the journal"
	case r.User != "":
		return ", by " + home.Clip(r.User, 100)
	case r.Kind == KindState && r.CaughtUp:
		return "; its cause was not seen"
	case r.Kind == KindState && r.Context.ID == "":
		return "; its cause is not known"
	case r.Kind == KindState:
		return "; no person, automation or script stands behind it, so " + root.Actor + " reported it"
	case r.Kind == KindCall:
		return ", by Home Assistant itself or an integration"
	case r.Kind == KindRun && r.What == "":
		return "; what triggered it is not known"
	}
	return ""
}

// clock shows a time to the second, with the day unless it is today's.
func clock(t, now time.Time) string {
	if y, m, d := t.Date(); !now.IsZero() {
		if ny, nm, nd := now.In(t.Location()).Date(); y == ny && m == nm && d == nd {
			return t.Format("15:04:05")
		}
	}
	return t.Format("2006-01-02 15:04:05")
}

// capital begins the sentence with a capital, except where it begins with a
// name or an id, which stay as they are.
func capital(r *Row, s string) string {
	if r.Kind != KindRun && r.Kind != KindScript {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
