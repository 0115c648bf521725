package toolbox

import (
	"context"
	"path"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// somebody is one who may be behind a row: a person, a user or a caller.
type somebody struct {
	word  string   // what the journal is asked for
	names []string // what it may be called
}

// who finds the one that is meant by name, id or a part of the name that only
// one has, among people, users and who called Hearth.
func (v sight) who(ctx context.Context, s string) (string, error) {
	if s = strings.TrimSpace(s); s == "" {
		return "", nil
	}
	all, err := v.everybody(ctx)
	if err != nil {
		return "", err
	}
	want := fold(s)
	hits := matching(all, func(n string) bool { return n == s || fold(n) == want })
	if len(hits) == 0 {
		hits = matching(all, func(n string) bool { return slices.Contains(strings.Fields(fold(n)), want) })
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		var words []string
		for _, p := range all {
			words = append(words, p.names...)
		}
		slices.Sort(words)
		words = slices.Compact(words)
		e := home.Errorf(home.NotFound, "no person, user or caller %q", home.Clip(s, 60))
		if near := tool.Nearest(s, words, 3); len(near) > 0 {
			return "", e.WithHint("Did you mean %s?", either(plain(near), len(near)))
		}
		return "", e.WithHint(`journal_query with group_by "user" shows who did something`)
	}
	if slices.Contains(hits, s) {
		return s, nil
	}
	return "", home.Errorf(home.Ambiguous, "%d people, users or callers may be meant by %q: %s", len(hits), home.Clip(s, 60),
		either(plain(first(hits, 3)), len(hits))).WithHint("pass the whole name of the one that is meant")
}

// matching gives the words of those with a name that fits, each once.
func matching(all []somebody, fits func(string) bool) []string {
	var out []string
	for _, p := range all {
		if slices.ContainsFunc(p.names, fits) && !slices.ContainsFunc(out, func(w string) bool { return fold(w) == fold(p.word) }) {
			out = append(out, p.word)
		}
	}
	return out
}

func plain(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = name(n)
	}
	return out
}

// everybody lists people, the house's users, and whom the journal remembers.
func (v sight) everybody(ctx context.Context) ([]somebody, error) {
	var all []somebody
	for e := range v.Entities(v.sc, mirror.Filter{Domain: "person"}) {
		p := somebody{e.Name, []string{e.Name, string(e.ID)}}
		for _, u := range v.Users() {
			if u.Person == e.ID {
				p.names = append(p.names, u.Name, u.ID)
			}
		}
		all = append(all, p)
	}
	known := func(name string) bool { return len(matching(all, func(n string) bool { return n == name })) > 0 }
	users, err := v.b.Journal.Users(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range slices.Concat(v.Users(), users) {
		switch {
		case known(u.ID):
		case u.Name == "":
			all = append(all, somebody{u.ID, []string{u.ID}})
		default:
			all = append(all, somebody{u.Name, []string{u.Name, u.ID}})
		}
	}
	callers, err := v.b.Journal.Callers(ctx)
	for _, c := range callers {
		all = append(all, somebody{c, []string{c}})
	}
	return all, err
}

// unheard is the error for a question about what neither house nor journal
// know, asked when nothing was found: an absence must not be told of a typing
// error.
func (v sight) unheard(ctx context.Context, q journal.Query) error {
	for _, id := range slices.Concat(q.Entities, []home.EntityID{q.Automation, q.Trigger}) {
		if id == "" {
			continue
		}
		if err := v.unmet(ctx, id); err != nil {
			return err
		}
	}
	var domains []string
	fits := false
	for e := range v.Entities(v.sc, mirror.Filter{}) {
		if d := e.ID.Domain(); !slices.Contains(domains, d) {
			domains = append(domains, d)
		}
		if ok, _ := path.Match(q.Pattern, string(e.ID)); ok { // pattern was checked
			fits = true
		}
	}
	if q.Domain != "" && !slices.Contains(domains, q.Domain) {
		if met, err := v.b.Journal.Knows(ctx, q.Domain+".*"); met || err != nil {
			return err
		}
		return v.noDomain(q.Domain, domains)
	}
	if q.Pattern == "" || fits {
		return nil
	}
	if met, err := v.b.Journal.Knows(ctx, q.Pattern); met || err != nil {
		return err
	}
	return home.Errorf(home.NotFound, "no entity id is like %q", home.Clip(q.Pattern, 60)).WithHint("the whole id must fit: light.*, *kitchen*; entity_search finds ids by name")
}

// unmet is the error for an entity that neither house nor journal know. One
// that is out of sight is as unknown as one that never was.
func (v sight) unmet(ctx context.Context, id home.EntityID) error {
	if _, _, ok := v.Entity(v.sc, id); ok {
		return nil
	}
	if v.Row(id) == nil && v.b.Journal != nil {
		if met, err := v.b.Journal.Knows(ctx, string(id)); met || err != nil {
			return err
		}
	}
	return v.noEntity(string(id))
}

func (v sight) noDomain(s string, domains []string) error {
	e := home.Errorf(home.NotFound, "no domain %q in this house", home.Clip(s, 60))
	if near := tool.Nearest(s, domains, 3); len(near) > 0 {
		return e.WithHint("Did you mean %s?", either(near, len(near)))
	}
	return e.WithHint("entity_list without a filter shows the domains")
}

// pattern checks a pattern of entity ids and gives it as the journal wants it.
func pattern(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("_.*?", r) {
			return "", home.Errorf(home.Invalid, "%q in pattern %q is in no entity id", string(r), home.Clip(s, 60)).
				WithHint("use lower-case letters, digits, _ and . with * and ? for the rest: light.*, *kitchen*")
		}
	}
	return s, nil
}
