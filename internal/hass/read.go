package hass

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"hearth/internal/home"
)

// fewStates is up to how many states are read one by one over REST rather than
// all at once.
const fewStates = 4

// stateRow is a state as get_states and REST give it.
type stateRow struct {
	ID      home.EntityID   `json:"entity_id"`
	Value   string          `json:"state"`
	Attrs   json.RawMessage `json:"attributes"`
	Changed time.Time       `json:"last_changed"`
	Updated time.Time       `json:"last_updated"`
	Context contextRow      `json:"context"`
}

func (r stateRow) state() home.State {
	attrs := r.Attrs
	if attrs == nil {
		attrs = json.RawMessage("{}")
	}
	return home.State{
		ID: r.ID, Value: r.Value, Attrs: attrs, Context: home.Context(r.Context),
		Changed: r.Changed.UTC(), Updated: r.Updated.UTC(),
	}
}

// States reads states now: all when ids is empty, a few over REST, more out of
// all. An entity without a state is left out, except that asking for one alone
// that has none is not_found. Attributes are raw.
func (c *Client) States(ctx context.Context, ids []home.EntityID) ([]home.State, error) {
	if n := len(ids); n > 0 && n <= fewStates {
		return c.someStates(ctx, ids)
	}
	var rows []stateRow
	if err := c.Call(ctx, "get_states", nil, &rows); err != nil {
		return nil, err
	}
	want := make(map[home.EntityID]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	out := make([]home.State, 0, len(rows))
	for _, r := range rows {
		if len(ids) == 0 || want[r.ID] {
			out = append(out, r.state())
		}
	}
	return out, nil
}

func (c *Client) someStates(ctx context.Context, ids []home.EntityID) ([]home.State, error) {
	got := make([]*home.State, len(ids))
	g, within := errgroup.WithContext(ctx)
	for i, id := range ids {
		g.Go(func() error {
			s, err := c.oneState(within, id)
			if home.CodeOf(err) == home.NotFound && len(ids) > 1 {
				return nil
			}
			got[i] = s
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]home.State, 0, len(ids))
	for _, s := range got {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out, nil
}

func (c *Client) oneState(ctx context.Context, id home.EntityID) (*home.State, error) {
	if !id.Valid() {
		return nil, home.Errorf(home.Invalid, "%s is not an entity id", quoted(string(id))).WithHint("write it as domain.object; entity_search finds ids by name")
	}
	raw, err := c.get(ctx, "/api/states/"+string(id), nil)
	if home.CodeOf(err) == home.NotFound {
		return nil, home.Errorf(home.NotFound, "Home Assistant has no state of %s", id).WithHint("entity_search finds ids by name")
	}
	if err != nil {
		return nil, err
	}
	var r stateRow
	if err := decode("/api/states", raw, &r); err != nil {
		return nil, err
	}
	s := r.state()
	return &s, nil
}

// Template renders a template over REST. Only an administrator may.
func (c *Client) Template(ctx context.Context, text string) (string, error) {
	body, _, err := c.rest(ctx, http.MethodPost, "/api/template", nil, map[string]string{"template": text})
	if err != nil {
		return "", err
	}
	return string(body), nil
}

// Body reads the stored config of an automation, script or scene by its config
// id, over REST. What is written in YAML without an id is not_found.
func (c *Client) Body(ctx context.Context, domain, configID string) (json.RawMessage, error) {
	switch domain {
	case "automation", "script", "scene":
	default:
		return nil, home.Errorf(home.Invalid, "%s has no stored bodies", quoted(domain)).WithHint("automation, script and scene have")
	}
	raw, err := c.get(ctx, "/api/config/"+domain+"/config/"+url.PathEscape(configID), nil)
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, home.Errorf(home.Internal, "Home Assistant's config of %s is not JSON", quoted(configID))
	}
	return raw, nil
}

// Extract asks Home Assistant itself what a target is, for tests that compare it
// with our own resolution. expand makes members of group entities.
func (c *Client) Extract(ctx context.Context, t home.Target, expand bool) (entities []home.EntityID, err error) {
	var out struct {
		Entities []home.EntityID `json:"referenced_entities"`
	}
	err = c.Call(ctx, "extract_from_target", map[string]any{"target": t, "expand_group": expand}, &out)
	return out.Entities, err
}

// joined writes ids for a query.
func joined(ids []home.EntityID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ",")
}
