package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

func (b *Box) journalShelf() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name:     "journal_query",
			Title:    "What happened",
			About:    "What happened in the house, newest first: state changes, automation and script runs, service calls with their data, Hearth's own calls, gaps. Hearth's calls that only read are left out unless kinds, user or text asks for them. All filters must fit. group_by counts instead of listing. coverage says from when to when the journal is complete: where it has a gap, never conclude that something did not happen. Default: the last 24 hours, 50 rows.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{"entity_id":["light.kitchen_lights"],"from":"yesterday"}`, `{"kinds":["automation"],"from":"last night","group_by":"automation"}`},
		}, b.journalQuery),
		tool.NewRead(tool.Spec{
			Name:     "journal_why",
			Title:    "Why did it happen",
			About:    "Explains one change: who or what caused it (person, automation, script, device) and what it caused in turn, as a tree from the root cause down, people and automations by name. Give an entity (and a time, if not its last change), a context id from another answer, or the call id of a receipt. Use it for every why, who and what-made question.",
			Class:    home.Read,
			Core:     true,
			Compact:  true,
			Examples: []string{`{"entity_id":"light.kitchen_lights"}`, `{"entity_id":"light.kitchen_lights","at":"yesterday 22:15","direction":"causes"}`},
		}, b.journalWhy),
	}
}

type queryIn struct {
	Kinds      []string `json:"kinds,omitempty" jsonschema:"Only these kinds of rows" enum:"state,automation,script,service,hearth,gap,bulk"`
	Entities   []string `json:"entity_id,omitempty" jsonschema:"Only these entities: ids or unmistakable names" max:"50"`
	Pattern    string   `json:"pattern,omitempty" jsonschema:"Only entity ids like this, with * and ?: light.*"`
	Domain     string   `json:"domain,omitempty" jsonschema:"Only this domain"`
	Area       string   `json:"area,omitempty" jsonschema:"Only in this area: id, name or alias"`
	Floor      string   `json:"floor,omitempty" jsonschema:"Only on this floor: id, name or alias"`
	Label      string   `json:"label,omitempty" jsonschema:"Only with this label: id or name"`
	State      string   `json:"state,omitempty" jsonschema:"Only changes to this state"`
	OldState   string   `json:"old_state,omitempty" jsonschema:"Only changes from this state"`
	User       string   `json:"user,omitempty" jsonschema:"Only what this person, user or caller of Hearth did: name, a part of it that only one has, or id"`
	Automation string   `json:"automation,omitempty" jsonschema:"Only runs of this automation: id or name"`
	Trigger    string   `json:"trigger_entity,omitempty" jsonschema:"Only runs that this entity triggered: id or name"`
	Text       string   `json:"text,omitempty" jsonschema:"Only rows with these words in names, messages or service data"`
	Context    string   `json:"context_id,omitempty" jsonschema:"Only rows of this context, or of the call of a receipt"`
	From       string   `json:"from,omitempty" jsonschema:"Begin: ISO time, 2h (ago), NOW-30m, today 7:00, yesterday, last night, monday 14:00; default 24 hours back"`
	To         string   `json:"to,omitempty" jsonschema:"End, written the same way; default now, or the end of a range word in from"`
	GroupBy    string   `json:"group_by,omitempty" jsonschema:"Count by this instead of listing" enum:"kind,entity,domain,state,user,automation,hour,day"`
	Limit      int      `json:"limit,omitempty" jsonschema:"How many rows at most" default:"50" min:"1" max:"500"`
	Cursor     string   `json:"cursor,omitempty" jsonschema:"next of the page before; keep all other arguments"`
}

type rowOut struct {
	At        string          `json:"at" jsonschema:"when"`
	Kind      string          `json:"kind" jsonschema:"state, automation, script, service, hearth, gap or bulk"`
	Entity    home.EntityID   `json:"entity_id,omitempty" jsonschema:"entity"`
	Name      string          `json:"name,omitempty" jsonschema:"its name"`
	Old       string          `json:"old,omitempty" jsonschema:"state before"`
	New       string          `json:"new,omitempty" jsonschema:"state after"`
	Attrs     json.RawMessage `json:"attrs,omitempty" jsonschema:"attributes that changed and matter"`
	What      string          `json:"what,omitempty" jsonschema:"service, trigger, tool or reason"`
	Targets   []home.EntityID `json:"targets,omitempty" jsonschema:"entities a call was about, at most ten"`
	More      int             `json:"more_targets,omitempty" jsonschema:"targets not shown"`
	Data      json.RawMessage `json:"data,omitempty" jsonschema:"the call's data"`
	Trigger   home.EntityID   `json:"trigger,omitempty" jsonschema:"entity that triggered the run"`
	User      string          `json:"user,omitempty" jsonschema:"person or user at the root"`
	Outcome   string          `json:"outcome,omitempty" jsonschema:"what became of Hearth's own call"`
	Message   string          `json:"message,omitempty" jsonschema:"why Hearth's own call failed"`
	Call      string          `json:"call,omitempty" jsonschema:"id of Hearth's own call"`
	Until     string          `json:"until,omitempty" jsonschema:"end of a gap"`
	Count     int             `json:"count,omitempty" jsonschema:"how many targets, or entities of a bulk row"`
	Removed   bool            `json:"removed,omitempty" jsonschema:"the entity went away"`
	CaughtUp  bool            `json:"caught_up,omitempty" jsonschema:"found after a reconnect: the time may be late"`
	ContextID string          `json:"context_id,omitempty" jsonschema:"for journal_why"`
}

type groupOut struct {
	Key   string `json:"key" jsonschema:"id of the group"`
	Name  string `json:"name,omitempty" jsonschema:"its name"`
	Count int    `json:"count" jsonschema:"rows in it"`
	First string `json:"first" jsonschema:"oldest of them"`
	Last  string `json:"last" jsonschema:"newest of them"`
}

type queryOut struct {
	From      string     `json:"from" jsonschema:"begin of the window"`
	To        string     `json:"to" jsonschema:"end of the window"`
	Total     int        `json:"total" jsonschema:"rows that fit in the window"`
	AtLeast   bool       `json:"at_least,omitempty" jsonschema:"true when there are more than total: counting was stopped"`
	Rows      []rowOut   `json:"rows,omitempty" jsonschema:"this page, newest first"`
	Groups    []groupOut `json:"groups,omitempty" jsonschema:"with group_by: how many rows each group has"`
	Truncated bool       `json:"truncated" jsonschema:"true when there is more: go on with next"`
	Next      string     `json:"next,omitempty" jsonschema:"cursor of the next page"`
	Coverage  coverage   `json:"coverage" jsonschema:"how complete the journal is in the window"`
	Note      string     `json:"note,omitempty" jsonschema:"what to try next"`

	again func(limit int) (queryOut, error) // the same question with fewer rows
}

// Len and Cut let the door shorten the answer.
func (o queryOut) Len() int { return len(o.Rows) + len(o.Groups) }

// Cut asks the journal for fewer rows, so that its cursor stands in the right
// place; groups are left off from the end.
func (o queryOut) Cut(keep int) (any, bool) {
	if len(o.Groups) > 0 {
		o.Groups, o.Truncated = o.Groups[:min(keep, len(o.Groups))], true
		o.Note = "groups were left off to keep the answer short; narrow the filters"
		return o, true
	}
	if keep < 1 || o.again == nil {
		return o, false
	}
	less, err := o.again(keep)
	return less, err == nil
}

func (b *Box) journalQuery(ctx context.Context, c tool.Caller, in queryIn) (queryOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return queryOut{}, err
	}
	if b.Journal == nil {
		return queryOut{}, noJournal()
	}
	q, err := v.query(in)
	if err != nil {
		return queryOut{}, err
	}
	if q.User, err = v.who(ctx, in.User); err != nil {
		return queryOut{}, err
	}
	ask := func(limit int) (queryOut, error) {
		q := q
		q.Limit = limit
		page, err := b.Journal.Query(ctx, v.sc, q)
		if err != nil {
			return queryOut{}, err
		}
		out := v.page(page)
		out.Note = ungrouped(out, q.GroupBy)
		return out, nil
	}
	out, err := ask(in.Limit)
	out.again = ask
	if err == nil && out.Total == 0 {
		if unheard := v.unheard(ctx, q); unheard != nil {
			return queryOut{}, unheard
		}
		if out.Note = "nothing fits in this window"; !out.Coverage.Complete {
			out.Note = "nothing that was seen fits, but the journal has holes in this window: it may have happened unseen"
		}
	}
	return out, err
}

// ungrouped says how many rows stand in no group: they have no such key.
func ungrouped(o queryOut, by string) string {
	left := o.Total
	for _, g := range o.Groups {
		left -= g.Count
	}
	if by == "" || left <= 0 || o.Truncated || o.AtLeast {
		return ""
	}
	if left == 1 {
		return "1 of them has no " + by + " and stands in no group"
	}
	return strconv.Itoa(left) + " of them have no " + by + " and stand in no group"
}

func noJournal() error {
	return home.Errorf(home.Offline, "there is no journal").WithHint("start Hearth with a data directory it can write")
}

// query turns arguments into the journal's own question.
func (v sight) query(in queryIn) (q journal.Query, err error) {
	q = journal.Query{
		State: in.State, OldState: in.OldState, Text: in.Text, Context: in.Context,
		Cursor: in.Cursor, GroupBy: in.GroupBy, Location: v.Location(), Now: v.b.now(), Domain: strings.ToLower(strings.TrimSpace(in.Domain)),
	}
	for _, k := range in.Kinds {
		q.Kinds = append(q.Kinds, journal.RowKind(k))
	}
	if in.From != "" || in.To != "" {
		if q.From, q.To, err = v.clock().Window(in.From, in.To, 24*time.Hour); err != nil {
			return q, err
		}
	}
	for _, s := range in.Entities {
		id, err := v.past(s)
		if err != nil {
			return q, err
		}
		q.Entities = append(q.Entities, id)
	}
	if q.Pattern, err = pattern(in.Pattern); err != nil {
		return q, err
	}
	if in.Automation != "" {
		if q.Automation, err = v.past(in.Automation); err != nil {
			return q, err
		}
		if q.Automation.Domain() != "automation" {
			return q, home.Errorf(home.Invalid, "%s is no automation", q.Automation).WithHint("automations have ids like automation.night; entity_list with domain automation lists them")
		}
	}
	if in.Trigger != "" {
		if q.Trigger, err = v.past(in.Trigger); err != nil {
			return q, err
		}
	}
	var f mirror.Filter
	f, err = v.filter(narrow{Area: in.Area, Floor: in.Floor, Label: in.Label})
	q.Area, q.Floor, q.Label = f.Area, f.Floor, f.Label
	return q, err
}

// past finds an entity that may be gone by now: the journal still knows it.
func (v sight) past(s string) (home.EntityID, error) {
	if id, err := home.ParseEntityID(s); err == nil {
		return id, nil
	}
	return v.entity(s)
}

func (v sight) page(p journal.Page) queryOut {
	loc := v.Location()
	out := queryOut{Total: p.Total, AtLeast: p.AtLeast, Truncated: p.Truncated, Next: p.Next, Coverage: covered(p.Coverage, loc)}
	out.From, out.To = out.Coverage.From, out.Coverage.To
	for _, r := range p.Rows {
		out.Rows = append(out.Rows, v.journalRow(r))
	}
	for _, g := range p.Groups {
		out.Groups = append(out.Groups, groupOut{home.Clip(clean(g.Key), nameMax), name(g.Name), g.Count, v.at(g.First), v.at(g.Last)})
	}
	return out
}

const rowTargets = 10

func (v sight) journalRow(r journal.Row) rowOut {
	out := rowOut{
		At: v.at(r.At), Kind: string(r.Kind), Entity: r.Entity, Name: name(r.Name), Old: home.Clip(clean(r.Old), 120), New: home.Clip(clean(r.New), 120),
		Attrs: brief(present(r)), What: home.Clip(clean(r.What), 200), Targets: first(r.Targets, rowTargets), More: max(0, max(len(r.Targets), b2i(len(r.Targets) > 0)*r.Count)-rowTargets),
		Data: brief(r.Data), Trigger: r.Trigger, User: name(r.User), Outcome: r.Outcome, Until: v.at(r.Until), Count: r.Count,
		Message: home.Clip(clean(r.Message), 200), Call: r.Call, Removed: r.Removed, CaughtUp: r.CaughtUp, ContextID: r.Context.ID,
	}
	if slices.Equal(out.Targets, []home.EntityID{out.Entity}) {
		out.Targets = nil
	}
	return out
}

// present are the attributes of a row. Those that went with a change of state
// are left out: a lamp that is off has no brightness.
func present(r journal.Row) json.RawMessage {
	if r.Old == r.New || !bytes.Contains(r.Attrs, []byte("null")) {
		return r.Attrs
	}
	out := []byte{'{'}
	for k, v := range members(r.Attrs) {
		if string(v) == "null" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(k) // a string cannot fail
		out = append(append(append(out, key...), ':'), v...)
	}
	return append(out, '}')
}

// brief is an object of the journal, its long values cut.
func brief(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "{}" || string(raw) == "null" {
		return nil
	}
	if len(raw) <= attrMax {
		return raw
	}
	short, _ := attributes(&home.State{Attrs: raw}, nil)
	if len(short) > 4*attrMax {
		return shorten(raw)
	}
	return short
}

// shorten keeps the first members of an object and says that there were more.
func shorten(raw json.RawMessage) json.RawMessage {
	out := map[string]json.RawMessage{"…": json.RawMessage(`"more was left out"`)}
	for k, v := range members(raw) {
		if len(out) > 8 {
			break
		}
		out[home.Clip(k, 60)] = shorterThan(v, 120)
	}
	b, _ := json.Marshal(out) // raw values that were parsed before
	return b
}

func shorterThan(v json.RawMessage, n int) json.RawMessage {
	if len(v) <= n {
		return v
	}
	return shorter(v)
}
