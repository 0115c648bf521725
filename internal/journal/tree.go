package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hearth/internal/home"
)

// head is the index of the row a context begins with: our own call, else a
// run, a script, a service call, else the first change.
func head(rows []Row) int {
	for _, k := range []RowKind{KindOwn, KindRun, KindScript, KindCall} {
		for i := range rows {
			if rows[i].Kind == k {
				return i
			}
		}
	}
	return 0
}

// grow puts the rows of a context, and of the contexts it caused, into a tree.
func (w *walk) grow(id string, done map[string]bool) *Node {
	if done[id] {
		return nil
	}
	done[id] = true
	rows := w.groups[id]
	if len(rows) == 0 {
		return nil
	}
	h := head(rows)
	root := w.node(&rows[h], nil)
	g := &grown{w: w, root: root}
	g.track(root)
	for i := range rows {
		if i != h {
			g.track(attach(g.place(&rows[i]), w.node(&rows[i], root)))
		}
	}
	for _, child := range w.children[id] {
		sub := w.grow(child, done)
		if sub == nil {
			continue
		}
		attach(g.cause(&sub.Row), sub)
	}
	return root
}

func (w *walk) node(r *Row, root *Node) *Node { return &Node{Row: *r, Actor: w.actor(r, root)} }

func attach(parent, child *Node) *Node {
	child.parent = parent
	parent.Children = append(parent.Children, child)
	return child
}

// grown is a context's tree while it grows: its nodes by kind, in order.
type grown struct {
	w       *walk
	root    *Node
	calls   []*Node
	scripts []*Node
	states  []*Node
}

func (g *grown) track(n *Node) {
	switch n.Row.Kind {
	case KindCall:
		g.calls = append(g.calls, n)
	case KindScript:
		g.scripts = append(g.scripts, n)
	case KindState:
		g.states = append(g.states, n)
	}
}

// place says under which node of its own context a row belongs.
func (g *grown) place(r *Row) *Node {
	switch r.Kind {
	case KindScript:
		// Started by script.turn_on of it, or by the service with its name.
		if c := last(g.calls, func(c *Row) bool {
			return slices.Contains(c.Targets, r.Entity) || c.What == string(r.Entity)
		}); c != nil {
			return c
		}
	case KindCall:
		if s := last(g.scripts, func(s *Row) bool { return g.w.calls(s.Entity, r.What) }); s != nil {
			return s
		}
		// Without a run, a call inside a call was made by it: a scene turns on lamps.
		if k := g.root.Row.Kind; (k == KindOwn || k == KindCall) && len(g.calls) > 0 && g.calls[0].Row.Context.ID == r.Context.ID {
			return g.calls[0]
		}
	case KindState:
		if s := last(g.scripts, func(s *Row) bool { return s.Entity == r.Entity }); s != nil {
			return s
		}
		if c := last(g.calls, func(c *Row) bool { return slices.Contains(c.Targets, r.Entity) }); c != nil {
			return c
		}
		if k := g.root.Row.Kind; k == KindOwn && len(g.calls) > 0 {
			return g.calls[0]
		}
	}
	return g.root
}

// cause says what in this context set off the run of another one.
func (g *grown) cause(run *Row) *Node {
	if run.Trigger != "" {
		if s := last(g.states, func(s *Row) bool { return s.Entity == run.Trigger && !s.At.After(run.At.Add(time.Second)) }); s != nil {
			return s
		}
	}
	if c := last(g.calls, func(c *Row) bool { return slices.Contains(c.Targets, run.Entity) }); c != nil {
		return c
	}
	return g.root
}

func last(ns []*Node, ok func(*Row) bool) *Node {
	for i := len(ns) - 1; i >= 0; i-- {
		if ok(&ns[i].Row) {
			return ns[i]
		}
	}
	return nil
}

// calls reports whether a script's known body calls a service.
func (w *walk) calls(script home.EntityID, service string) bool {
	if w.y.v == nil {
		return false
	}
	body, ok := w.y.v.Body(script)
	return ok && strings.Contains(string(body.Config), `"`+service+`"`)
}

// actor names who or what did a row: a person, an automation, a script, Hearth
// for a token, or for a bare change the device or its integration.
func (w *walk) actor(r *Row, root *Node) string {
	switch r.Kind {
	case KindOwn:
		return "Hearth for " + r.User
	case KindRun:
		return "automation " + quoted(r)
	case KindScript:
		return "script " + quoted(r)
	}
	if r.User != "" && r.Context.Parent == "" {
		return r.User
	}
	if r.Kind != KindState || r.Context.Parent != "" || root != nil {
		return ""
	}
	if r.CaughtUp {
		return "not seen live"
	}
	if w.y.v != nil {
		if row := w.y.v.Row(r.Entity); row != nil && row.Platform != "" {
			return "the device or its integration (" + row.Platform + ")"
		}
	}
	return "the device or its integration"
}

func quoted(r *Row) string {
	if r.Name != "" {
		return `"` + home.Clip(r.Name, 100) + `"`
	}
	return string(r.Entity)
}

func find(n *Node, id int64) *Node {
	if n == nil || n.Row.ID == id {
		return n
	}
	for _, c := range n.Children {
		if f := find(c, id); f != nil {
			return f
		}
	}
	return nil
}

// roles marks every node by its place, and cuts what the direction leaves out.
func (w *walk) roles(top *Node) *Node {
	if top == nil {
		w.this.Role = RoleThis
		return w.this
	}
	path := map[*Node]bool{}
	for n := w.this; n != nil; n = n.parent {
		path[n] = true
	}
	var mark func(n *Node, role string)
	mark = func(n *Node, role string) {
		switch {
		case n == w.this:
			n.Role, role = RoleThis, RoleEffect
		case path[n]:
			n.Role = RoleCause
		default:
			n.Role = role
		}
		kept := n.Children[:0]
		for _, c := range n.Children {
			if w.q.Direction == "causes" && !path[c] {
				continue
			}
			mark(c, role)
			kept = append(kept, c)
		}
		n.Children = kept
	}
	mark(top, RoleSibling)
	if w.q.Direction == "effects" {
		return w.this
	}
	return top
}

// prune keeps the tree within bounds and says what went. What lies on the way
// to this stays.
func (w *walk) prune(top *Node) *Node {
	left := mostNodes
	for n := w.this; n != nil; n = n.parent {
		left--
	}
	cut := 0
	var visit func(n *Node)
	visit = func(n *Node) {
		kept := n.Children[:0]
		for i, c := range n.Children {
			way := c.Role == RoleCause || c.Role == RoleThis
			if !way && (left <= 0 || i >= mostChildren) {
				cut += size(c)
				continue
			}
			if !way {
				left--
			}
			kept = append(kept, c)
		}
		n.Children = kept
		for _, c := range n.Children {
			visit(c)
		}
	}
	visit(top)
	if cut > 0 {
		w.truncated = true
		w.note(fmt.Sprintf("%d more rows hang on this tree and are not shown", cut))
	}
	return top
}

func size(n *Node) int {
	s := 1
	for _, c := range n.Children {
		s += size(c)
	}
	return s
}

// loops says when automations set each other off: the same one three times
// within two seconds.
func (w *walk) loops() {
	runs := map[home.EntityID][]Row{}
	for _, rows := range w.groups {
		for _, r := range rows {
			if r.Kind == KindRun {
				runs[r.Entity] = append(runs[r.Entity], r)
			}
		}
	}
	var notes []string
	for _, rs := range runs {
		slices.SortFunc(rs, func(a, b Row) int { return a.At.Compare(b.At) })
		for i := 2; i < len(rs); i++ {
			if d := rs[i].At.Sub(rs[i-2].At); d <= 2*time.Second {
				notes = append(notes, fmt.Sprintf("loop: automation %s ran %d times in this tree, three of them within %s", quoted(&rs[0]), len(rs), d.Round(time.Millisecond)))
				break
			}
		}
	}
	slices.Sort(notes)
	for _, n := range notes {
		w.note(n)
	}
}

// window is the time the tree spans.
func (w *walk) window() (first, last time.Time) {
	first, last = w.this.Row.At, w.this.Row.At
	for _, rows := range w.groups {
		for _, r := range rows {
			if r.At.Before(first) {
				first = r.At
			}
			if r.At.After(last) {
				last = r.At
			}
		}
	}
	return first, last
}
