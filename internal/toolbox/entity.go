package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

type entityIn struct {
	ID         string   `json:"entity_id" jsonschema:"Entity id, or a name that only one entity has" min:"1" max:"255"`
	Attributes []string `json:"attributes,omitempty" jsonschema:"Only these attributes, whole; default all, long ones cut"`
	Fresh      bool     `json:"fresh,omitempty" jsonschema:"Read it from Home Assistant now"`
}

type entityOut struct {
	ID         home.EntityID   `json:"entity_id" jsonschema:"entity id"`
	Name       string          `json:"name" jsonschema:"name as Home Assistant shows it"`
	State      string          `json:"state" jsonschema:"state, raw; empty for an entity without one"`
	Unit       string          `json:"unit,omitempty" jsonschema:"unit of the state"`
	Changed    string          `json:"changed,omitempty" jsonschema:"when the state last changed"`
	Updated    string          `json:"updated,omitempty" jsonschema:"when state or attributes last changed"`
	Age        string          `json:"age,omitempty" jsonschema:"how long it has been in this state"`
	Stale      string          `json:"stale,omitempty" jsonschema:"how old this is, when there is no live link"`
	Fresh      bool            `json:"fresh,omitempty" jsonschema:"true when it was read from Home Assistant for this answer"`
	Area       string          `json:"area,omitempty" jsonschema:"name of the area"`
	AreaID     string          `json:"area_id,omitempty" jsonschema:"id of the area"`
	Floor      string          `json:"floor,omitempty" jsonschema:"name of the floor"`
	FloorID    string          `json:"floor_id,omitempty" jsonschema:"id of the floor"`
	Device     string          `json:"device,omitempty" jsonschema:"name of the device"`
	DeviceID   string          `json:"device_id,omitempty" jsonschema:"id of the device"`
	Labels     []string        `json:"labels,omitempty" jsonschema:"names of its labels"`
	LabelIDs   []home.LabelID  `json:"label_ids,omitempty" jsonschema:"ids of its labels"`
	Aliases    []string        `json:"aliases,omitempty" jsonschema:"other names people use"`
	Class      string          `json:"class,omitempty" jsonschema:"device class"`
	Platform   string          `json:"platform,omitempty" jsonschema:"integration; absent without a registry entry"`
	Category   string          `json:"category,omitempty" jsonschema:"config or diagnostic"`
	DisabledBy string          `json:"disabled_by,omitempty" jsonschema:"who disabled it"`
	Context    string          `json:"context_id,omitempty" jsonschema:"id of what made the last change: journal_why explains it"`
	Attributes json.RawMessage `json:"attributes" jsonschema:"attributes; secrets, pictures and coordinates are removed"`
	Notes      []string        `json:"notes,omitempty" jsonschema:"what was cut and how to get it"`
}

func (b *Box) entityGet(ctx context.Context, c tool.Caller, in entityIn) (entityOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return entityOut{}, err
	}
	id, err := v.entity(in.ID)
	if err != nil {
		return entityOut{}, err
	}
	e, s, _ := v.Entity(v.sc, id)
	stale := v.stale()
	if in.Fresh {
		if s, err = b.House.Refetch(ctx, id); err != nil {
			return entityOut{}, err // it says what was being read
		}
		stale = ""
	}
	out := entityOut{
		ID: e.ID, Name: name(e.Name), State: value(s), Unit: unit(s), Stale: stale, Fresh: in.Fresh,
		Area: v.areaName(e.Area), AreaID: string(e.Area), Floor: v.floorName(e.Floor), FloorID: string(e.Floor),
		Device: v.deviceName(e.Device), DeviceID: string(e.Device), Labels: v.labels(e.Labels), LabelIDs: e.Labels,
		Aliases: names(e.Aliases), Class: mirror.Class(e, s), Platform: e.Platform, Category: e.Category, DisabledBy: e.DisabledBy,
	}
	if s == nil {
		out.Notes = append(out.Notes, "it is registered but has no state, as disabled entities have none")
		return out, nil
	}
	out.Changed, out.Updated = home.FormatMoment(s.Changed, v.Location()), home.FormatMoment(s.Updated, v.Location())
	if !s.Changed.IsZero() {
		out.Age = home.FormatDuration(max(0, b.now().Sub(s.Changed))) // the house's clock may be ahead
	}
	out.Context = s.Context.ID
	out.Attributes, out.Notes = attributes(v.sighted(s), in.Attributes)
	return out, nil
}

// attributes gives the attributes that are asked for: all, with long ones cut,
// or those named, whole.
func attributes(s *home.State, only []string) (json.RawMessage, []string) {
	var b strings.Builder
	var notes, have []string
	b.WriteByte('{')
	for k, raw := range members(s.Attrs) {
		have = append(have, k)
		if len(only) > 0 && !slices.Contains(only, k) {
			continue
		}
		if len(only) == 0 && len(raw) > attrMax {
			notes = append(notes, fmt.Sprintf("%s is cut from %d bytes: ask attributes=[%s]", tool.Quote(k, 60), len(raw), tool.Quote(k, 60)))
			raw = shorter(raw)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(k) // a string cannot fail
		b.Write(key)
		b.WriteByte(':')
		b.Write(raw)
	}
	b.WriteByte('}')
	for _, k := range only {
		if !slices.Contains(have, k) {
			note := "no attribute " + tool.Quote(k, 60)
			if near := tool.Nearest(k, have, 3); len(near) > 0 {
				note += "; nearest " + clean(strings.Join(near, ", "))
			}
			notes = append(notes, note)
		}
	}
	if len(notes) > 6 {
		notes = append(notes[:5], fmt.Sprintf("and %d more like these", len(notes)-5))
	}
	return json.RawMessage(b.String()), notes
}

// sighted is a state without the ids of entities that are out of sight in its
// attributes: a group lists its members, a person its trackers.
func (v sight) sighted(s *home.State) *home.State {
	cut := false
	for _, raw := range members(s.Attrs) {
		cut = cut || len(v.sightedValue(raw)) != len(raw)
	}
	if !cut {
		return s
	}
	var out strings.Builder
	for k, raw := range members(s.Attrs) {
		key, _ := json.Marshal(k) // a string cannot fail
		fmt.Fprintf(&out, ",%s:%s", key, v.sightedValue(raw))
	}
	seen := *s
	seen.Attrs = json.RawMessage("{" + out.String()[1:] + "}")
	return &seen
}

func (v sight) sightedValue(raw json.RawMessage) json.RawMessage {
	if id, ok := mirror.Unquote(raw); ok {
		if v.hidden(id) {
			return json.RawMessage("null")
		}
		return raw
	}
	var ids []string
	if len(raw) == 0 || raw[0] != '[' || !bytes.Contains(raw, []byte(".")) || json.Unmarshal(raw, &ids) != nil || !slices.ContainsFunc(ids, v.hidden) {
		return raw
	}
	left, _ := json.Marshal(slices.DeleteFunc(ids, v.hidden)) // texts cannot fail
	return left
}

// hidden reports whether a text is the id of an entity that the caller may not see.
func (v sight) hidden(s string) bool {
	if !strings.Contains(s, ".") {
		return false
	}
	e := v.Row(home.EntityID(s))
	return e != nil && !v.sc.Sees(e)
}

// shorter is the beginning of a value as a string: of a text its own, of lists
// and objects that of their JSON.
func shorter(raw json.RawMessage) json.RawMessage {
	text, ok := mirror.Unquote(raw)
	if !ok {
		text = string(raw)
	}
	short, _ := json.Marshal(home.Clip(text, 200)) // a string cannot fail
	return short
}
