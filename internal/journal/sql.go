package journal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// statement is a query's SQL: the chosen rows as the table expression "hits"
// with the columns id, at and, for groups, kind, entity, new, person, ctx.
type statement struct {
	with    []string
	withA   []any
	arms    []string
	argsA   []any
	columns string
	eyes    eyes
}

// conditions collects what rows must fulfil.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) add(where string, args ...any) {
	c.where = append(c.where, where)
	c.args = append(c.args, args...)
}

func (c *conditions) String() string { return strings.Join(c.where, " AND ") }

// What the arms give: for pages and counts what an index holds, for groups all.
const (
	hitNarrow = "e.id, e.at"
	hitWide   = "e.id, e.at, e.kind, e.entity, e.new, e.person, e.ctx"
)

// build turns a query into SQL. Entities are chosen once, as row ids in the
// table "sel"; those out of sight are in "hid". The arms never give the same
// row twice: calls and bulk rows have no entity of their own.
func (j *Journal) build(sc home.Scope, q *Query) *statement {
	v := j.view()
	b := &statement{eyes: eyes{v, sc, q.Location}, columns: "id, at"}
	hitColumns, memberColumns := hitNarrow, "-m.id, m.at"
	if q.GroupBy != "" {
		b.columns, hitColumns, memberColumns = "id, at, kind, entity, new, person, ctx", hitWide, "-m.id, m.at, 1, m.entity, m.new, NULL, NULL"
	}
	hidden := outOfSight(v, sc)
	if len(hidden) > 0 {
		b.cte("hid(id) AS MATERIALIZED (SELECT id FROM entity WHERE eid IN (SELECT value FROM json_each(?)))", jsonList(hidden))
	}
	sel := q.selection(v)
	c := q.conditions(v)
	c.sight(len(hidden) > 0)
	lo, hi := q.From.UnixMilli(), q.To.UnixMilli()
	if !q.To.Before(q.Now) {
		hi = q.Now.Add(aheadMost).UnixMilli()
	}
	if sel == nil {
		b.arm("SELECT "+hitColumns+" FROM event e WHERE e.at BETWEEN ? AND ?", []any{lo, hi}, c)
		return b
	}
	b.cte("sel(id) AS MATERIALIZED (SELECT id FROM entity WHERE "+sel.String()+")", sel.args...)
	b.arm("SELECT "+hitColumns+" FROM event e WHERE e.entity IN (SELECT id FROM sel) AND e.at BETWEEN ? AND ?", []any{lo, hi}, c)
	if q.wants(KindCall) || q.wants(KindOwn) {
		b.arm("SELECT "+hitColumns+` FROM event e WHERE e.kind IN (4, 5, 8) AND e.kind <> 1 AND e.at BETWEEN ? AND ?
			AND e.id IN (SELECT t.event FROM target t WHERE t.entity IN (SELECT id FROM sel) AND t.at BETWEEN ? AND ?)`, []any{lo, hi, lo, hi}, c)
	}
	if q.wants(KindBulk) && len(q.Entities) == 0 && q.Pattern == "" {
		b.arm("SELECT "+hitColumns+` FROM event e WHERE e.kind = 7 AND e.kind <> 1 AND e.at BETWEEN ? AND ?
			AND EXISTS (SELECT 1 FROM member m WHERE m.bulk = e.id AND m.entity IN (SELECT id FROM sel))`, []any{lo, hi}, c)
	}
	if m := q.memberConditions(len(hidden) > 0); m != nil {
		b.arm("SELECT "+memberColumns+` FROM member m
			WHERE m.entity IN (SELECT id FROM sel) AND m.at BETWEEN ? AND ?`, []any{lo, hi}, m)
	}
	return b
}

func (b *statement) cte(text string, args ...any) {
	b.with = append(b.with, text)
	b.withA = append(b.withA, args...)
}

func (b *statement) arm(text string, args []any, c *conditions) {
	if len(c.where) > 0 {
		text += " AND " + c.String()
	}
	b.arms = append(b.arms, text)
	b.argsA = append(append(b.argsA, args...), c.args...)
}

// sql puts tail behind the hits: a SELECT from "hits h".
func (b *statement) sql(tail string, args ...any) (string, []any) {
	with := append(slices.Clone(b.with), "hits("+b.columns+") AS ("+strings.Join(b.arms, " UNION ALL ")+")")
	return "WITH " + strings.Join(with, ", ") + " " + tail, slices.Concat(b.withA, b.argsA, args)
}

func (q *Query) wants(k RowKind) bool { return len(q.Kinds) == 0 || slices.Contains(q.Kinds, k) }

// selection chooses entities; nil when the query names none.
func (q *Query) selection(v *mirror.View) *conditions {
	c := &conditions{}
	if len(q.Entities) > 0 {
		c.add("eid IN (SELECT value FROM json_each(?))", jsonList(q.Entities))
	}
	if q.Pattern != "" {
		c.add("eid GLOB ?", strings.ToLower(q.Pattern))
	}
	if q.Domain != "" {
		c.add("domain = ?", strings.ToLower(q.Domain))
	}
	if q.Area != "" || q.Floor != "" || q.Label != "" {
		var ids []home.EntityID
		if v != nil {
			for e := range v.Entities(home.Everything(), mirror.Filter{Area: q.Area, Floor: q.Floor, Label: q.Label}) {
				ids = append(ids, e.ID)
			}
		}
		c.add("eid IN (SELECT value FROM json_each(?))", jsonList(ids))
	}
	if len(c.where) == 0 {
		return nil
	}
	return c
}

// conditions are those on the rows themselves.
func (q *Query) conditions(v *mirror.View) *conditions {
	c := &conditions{}
	switch {
	case len(q.Kinds) == 0 && (q.User != "" || q.Text != "" || isCall(q.Context)):
	case len(q.Kinds) == 0:
		c.add("e.kind <> 8")
	default:
		marks := make([]string, len(q.Kinds))
		for i, k := range q.Kinds {
			marks[i] = "?"
			c.args = append(c.args, kindNumber(k))
		}
		if slices.Contains(q.Kinds, KindOwn) {
			marks = append(marks, "8")
		}
		c.where = append(c.where, "e.kind IN ("+strings.Join(marks, ",")+")")
		if !slices.Contains(q.Kinds, KindState) {
			c.add("e.kind <> 1") // lets the index of the rare kinds serve
		}
	}
	if q.State != "" {
		c.add("e.new = ? COLLATE NOCASE", q.State)
	}
	if q.OldState != "" {
		c.add("e.old = ? COLLATE NOCASE", q.OldState)
	}
	if q.User != "" {
		c.user(v, q.User)
	}
	if q.Automation != "" {
		c.add(`(e.entity IN (SELECT id FROM entity WHERE eid = ?) OR e.ctx IN (SELECT r.ctx FROM event r
			WHERE r.kind = 2 AND r.kind <> 1 AND r.ctx IS NOT NULL AND r.entity IN (SELECT id FROM entity WHERE eid = ?)))`,
			string(q.Automation), string(q.Automation))
	}
	if q.Trigger != "" {
		c.add("e.kind <> 1 AND e.cause IN (SELECT id FROM entity WHERE eid = ?)", string(q.Trigger))
	}
	switch {
	case isCall(q.Context):
		const own = "SELECT event FROM own WHERE call = ?"
		const sent = "SELECT ctx FROM own_ctx WHERE event IN (" + own + ")"
		c.add("(e.id IN ("+own+") OR e.ctx IN ("+sent+") OR e.parent IN ("+sent+"))", q.Context, q.Context, q.Context)
	case q.Context != "":
		id := packContext(q.Context)
		c.add("(e.ctx = ? OR e.parent = ? OR e.id IN (SELECT event FROM own_ctx WHERE ctx = ?))", id, id, id)
	}
	for word := range strings.FieldsSeq(q.Text) {
		c.word(word)
	}
	return c
}

func (c *conditions) user(v *mirror.View, user string) {
	ids := []string{user}
	if v != nil {
		for _, u := range v.Users() {
			person := ""
			if row := v.Row(u.Person); u.Person != "" && row != nil {
				person = row.Name
			}
			if mirror.Fold(u.Name) == mirror.Fold(user) || (person != "" && mirror.Fold(person) == mirror.Fold(user)) || string(u.Person) == user {
				ids = append(ids, u.ID)
			}
		}
	}
	c.add(`(e.person IN (SELECT id FROM person WHERE uid IN (SELECT value FROM json_each(?)) OR name = ? COLLATE NOCASE)
		OR e.id IN (SELECT event FROM own WHERE who = ? COLLATE NOCASE))`, jsonList(ids), user, user)
}

// word demands a word somewhere in what the row says.
func (c *conditions) word(word string) {
	like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word) + "%"
	c.add(`(e.what LIKE ? ESCAPE '\' OR e.new LIKE ? ESCAPE '\'
		OR e.entity IN (SELECT n.id FROM entity n WHERE n.name LIKE ? ESCAPE '\' OR n.eid LIKE ? ESCAPE '\')
		OR ((e.doc IS NOT NULL OR e.raw IS NOT NULL) AND EXISTS (SELECT 1 FROM doc d WHERE d.id IN (e.doc, e.raw) AND d.json LIKE ? ESCAPE '\'))
		OR (e.kind IN (5, 8) AND EXISTS (SELECT 1 FROM own o WHERE o.event = e.id
			AND (o.call = ? OR o.message LIKE ? ESCAPE '\' OR o.who LIKE ? ESCAPE '\' OR o.steps LIKE ? ESCAPE '\'))))`,
		like, like, like, like, like, word, like, like, like)
}

// sight leaves out rows about hidden entities, and calls that touched nothing else.
func (c *conditions) sight(any bool) {
	if !any {
		return
	}
	c.add("(e.entity IS NULL OR e.entity NOT IN (SELECT id FROM hid))")
	c.add(`(e.kind NOT IN (4, 5, 8) OR NOT EXISTS (SELECT 1 FROM target t WHERE t.event = e.id)
		OR EXISTS (SELECT 1 FROM target t WHERE t.event = e.id AND t.entity NOT IN (SELECT id FROM hid)))`)
}

// memberConditions are those on members of bulk rows, nil when the query asks
// for something they do not have.
func (q *Query) memberConditions(hidden bool) *conditions {
	if !q.wants(KindState) || q.User != "" || q.Automation != "" || q.Trigger != "" || q.Text != "" || q.Context != "" {
		return nil
	}
	if len(q.Entities) == 0 && q.Pattern == "" {
		return nil // whole domains and areas see the bulk row
	}
	c := &conditions{}
	if q.State != "" {
		c.add("m.new = ? COLLATE NOCASE", q.State)
	}
	if q.OldState != "" {
		c.add("m.old = ? COLLATE NOCASE", q.OldState)
	}
	if hidden {
		c.add("m.entity NOT IN (SELECT id FROM hid)")
	}
	return c
}

// outOfSight lists the entities the scope does not see.
func outOfSight(v *mirror.View, sc home.Scope) []home.EntityID {
	if v == nil {
		return nil
	}
	var out []home.EntityID
	for e := range v.Entities(home.Everything(), mirror.Filter{}) {
		if !sc.Sees(e) {
			out = append(out, e.ID)
		}
	}
	return out
}

func jsonList[T ~string](ids []T) string {
	if len(ids) == 0 {
		return "[]"
	}
	b, err := json.Marshal(ids)
	if err != nil {
		return "[]" // strings always marshal
	}
	return string(b)
}

// count counts the hits, up to mostCounted.
func (j *Journal) count(ctx context.Context, b *statement) (n int, atLeast bool, err error) {
	query, args := b.sql("SELECT count(*) FROM (SELECT 1 FROM hits h LIMIT ?)", mostCounted)
	if err := j.db.Reader().QueryRowContext(ctx, query, args...).Scan(&n); err != nil {
		return 0, false, home.Wrap(home.Internal, err, "count the journal's rows")
	}
	return n, n == mostCounted, nil
}

// page reads one row more than the limit.
func (j *Journal) page(ctx context.Context, b *statement, q *Query, after place) ([]Row, error) {
	where, args := "", []any{}
	if after.set {
		where, args = "WHERE (h.at, h.id) < (?, ?)", []any{after.at, after.id}
	}
	query, args := b.sql("SELECT h.id FROM hits h "+where+" ORDER BY h.at DESC, h.id DESC LIMIT ?", append(args, q.Limit+1)...)
	rows, err := j.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, home.Wrap(home.Internal, err, "read the journal")
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, home.Wrap(home.Internal, err, "read the journal")
	}
	rows.Close()
	return j.load(ctx, ids, b.eyes)
}
