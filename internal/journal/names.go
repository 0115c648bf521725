package journal

import (
	"context"

	"hearth/internal/home"
)

// Users lists the house's users that the journal has met, those the house has
// forgotten included; the name is "" when it was never known.
func (j *Journal) Users(ctx context.Context) ([]home.User, error) {
	var out []home.User
	err := j.strings(ctx, "SELECT uid, name FROM person ORDER BY id", func(uid, name string) {
		out = append(out, home.User{ID: uid, Name: name})
	})
	return out, err
}

// Callers lists who called Hearth's own tools: the names of tokens.
func (j *Journal) Callers(ctx context.Context) ([]string, error) {
	var out []string
	err := j.strings(ctx, "SELECT DISTINCT who, '' FROM own ORDER BY who", func(who, _ string) { out = append(out, who) })
	return out, err
}

// Knows reports whether the journal ever met an entity whose id is like the
// pattern, with * and ?; it may be gone from the house.
func (j *Journal) Knows(ctx context.Context, pattern string) (bool, error) {
	var n int
	err := j.db.Reader().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM entity WHERE eid GLOB ?)", pattern).Scan(&n)
	return n == 1, home.Wrap(home.Internal, err, "read the journal's entities")
}

// strings reads pairs of texts, the newest rows included.
func (j *Journal) strings(ctx context.Context, query string, each func(a, b string)) error {
	if _, err := j.catchUp(ctx); err != nil {
		j.log.Warn("names may miss the newest rows", home.KeyError, err)
	}
	rows, err := j.db.Reader().QueryContext(ctx, query)
	if err != nil {
		return home.Wrap(home.Internal, err, "read the journal's names")
	}
	defer rows.Close()
	for rows.Next() {
		var a, b string
		if err := rows.Scan(&a, &b); err != nil {
			return home.Wrap(home.Internal, err, "read the journal's names")
		}
		each(a, b)
	}
	return home.Wrap(home.Internal, rows.Err(), "read the journal's names")
}
