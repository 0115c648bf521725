package hass

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"time"

	"hearth/internal/home"
)

// historyBatch is of how many entities history is asked for at once, so that no
// answer holds up the link for long.
const historyBatch = 8

// Point is one recorded state of an entity. Attrs is nil when they were not
// asked for.
type Point struct {
	Value   string
	Attrs   json.RawMessage
	Changed time.Time
	Updated time.Time
}

// History reads the recorder between from and to, the state at from included
// (with from as its time): WebSocket first, REST when that is not possible.
// Entities without records are missing in the answer. Points are oldest first.
func (c *Client) History(ctx context.Context, ids []home.EntityID, from, to time.Time, attrs bool) (map[home.EntityID][]Point, error) {
	out := make(map[home.EntityID][]Point, len(ids))
	for len(ids) > 0 {
		n := min(historyBatch, len(ids))
		some, err := c.recorded(ctx, ids[:n], from, to, attrs)
		if err != nil {
			var f *Failure
			if home.CodeOf(err) != home.Offline && !(errors.As(err, &f) && f.Code == "unknown_command") {
				return nil, err
			}
			if some, err = c.recordedREST(ctx, ids[:n], from, to, attrs); err != nil {
				return nil, err
			}
		}
		maps.Copy(out, some)
		ids = ids[n:]
	}
	return out, nil
}

func (c *Client) recorded(ctx context.Context, ids []home.EntityID, from, to time.Time, attrs bool) (map[home.EntityID][]Point, error) {
	const kind = "history/history_during_period"
	raw, err := c.command(ctx, kind, map[string]any{
		"start_time": from.UTC().Format(time.RFC3339Nano), "end_time": to.UTC().Format(time.RFC3339Nano),
		"entity_ids": ids, "significant_changes_only": false, "include_start_time_state": true,
		"minimal_response": false, "no_attributes": !attrs,
	})
	if err != nil {
		return nil, err
	}
	out := make(map[home.EntityID][]Point, len(ids))
	s := scanner{b: raw}
	for s.open('{'); s.more('}'); {
		id := home.EntityID(s.key())
		var points []Point
		for s.open('['); s.more(']'); {
			points = append(points, pointAt(&s, attrs))
		}
		if len(points) > 0 {
			out[id] = points
		}
	}
	if !s.end() {
		return nil, home.Errorf(home.Internal, "Home Assistant's answer to %s cannot be read", kind)
	}
	return out, nil
}

// pointAt decodes {s, a, lc, lu}; lc is left out where it equals lu.
func pointAt(s *scanner, attrs bool) (p Point) {
	for s.open('{'); s.more('}'); {
		switch key := s.key(); string(key) {
		case "s":
			p.Value = s.text()
		case "a":
			if raw := s.raw(); attrs {
				p.Attrs = append(json.RawMessage(nil), raw...)
			}
		case "lc":
			p.Changed = stamp(s.number())
		case "lu":
			p.Updated = stamp(s.number())
		default:
			s.skip()
		}
	}
	if p.Changed.IsZero() {
		p.Changed = p.Updated
	}
	if p.Updated.IsZero() {
		p.Updated = p.Changed
	}
	return p
}

func (c *Client) recordedREST(ctx context.Context, ids []home.EntityID, from, to time.Time, attrs bool) (map[home.EntityID][]Point, error) {
	q := url.Values{
		"filter_entity_id": {joined(ids)}, "end_time": {to.UTC().Format(time.RFC3339Nano)}, "significant_changes_only": {"0"},
	}
	if !attrs {
		q.Set("no_attributes", "")
	}
	path := "/api/history/period/" + from.UTC().Format(time.RFC3339Nano)
	raw, err := c.get(ctx, path, q)
	if err != nil {
		return nil, err
	}
	var lists [][]stateRow
	if err := decode("/api/history/period", raw, &lists); err != nil {
		return nil, err
	}
	out := make(map[home.EntityID][]Point, len(lists))
	for _, rows := range lists {
		for _, r := range rows {
			p := Point{Value: r.Value, Changed: r.Changed.UTC(), Updated: r.Updated.UTC()}
			if attrs {
				p.Attrs = r.Attrs
			}
			out[rows[0].ID] = append(out[rows[0].ID], p)
		}
	}
	return out, nil
}
