package toolbox

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/tool"
)

// Bounds of one history question.
const (
	historyPoints = 250
	historyMax    = 31 * 24 * time.Hour
)

func (b *Box) historyShelf() []tool.Tool {
	return []tool.Tool{tool.NewRead(tool.Spec{
		Name:     "history_get",
		Title:    "History of entities",
		About:    "How the states of up to five entities went over time, from Home Assistant's recorder and, for the last seconds, from the live link. Numbers come with unit, minimum, maximum and time-weighted mean; other states with how long each lasted. Long series are thinned so that highs and lows stay. For what caused a change use journal_why; for events, runs and calls journal_query.",
		Class:    home.Read,
		Core:     true,
		Examples: []string{`{"entity_id":["sensor.outside_temperature"],"from":"yesterday"}`, `{"entity_id":["light.kitchen_lights"],"from":"2h"}`},
	}, b.historyGet)}
}

type historyIn struct {
	Entities  []string `json:"entity_id" jsonschema:"One to five entities: ids or unmistakable names" min:"1" max:"5"`
	From      string   `json:"from,omitempty" jsonschema:"Begin: ISO time, 2h (ago), NOW-30m, today 7:00, yesterday, last night, monday 14:00; default 24 hours back"`
	To        string   `json:"to,omitempty" jsonschema:"End, written the same way; default now, or the end of a range word in from"`
	Attribute string   `json:"attribute,omitempty" jsonschema:"The history of this attribute instead of the state, such as current_temperature"`
	Points    int      `json:"points,omitempty" jsonschema:"Points at most, shared by all series" default:"250" min:"10" max:"250"`
}

type historyOut struct {
	From     string   `json:"from" jsonschema:"begin of the window"`
	To       string   `json:"to" jsonschema:"end of the window"`
	Series   []series `json:"series" jsonschema:"one per entity"`
	Source   string   `json:"source" jsonschema:"where the points come from"`
	Coverage coverage `json:"coverage" jsonschema:"how much of the window is known"`
	Notes    []string `json:"notes,omitempty" jsonschema:"what to keep in mind"`
}

type series struct {
	ID        home.EntityID `json:"entity_id" jsonschema:"entity id"`
	Name      string        `json:"name" jsonschema:"name"`
	Attribute string        `json:"attribute,omitempty" jsonschema:"the attribute shown, when it is not the state"`
	Unit      string        `json:"unit,omitempty" jsonschema:"unit of the numbers"`
	Count     int           `json:"count" jsonschema:"points known in the window"`
	Points    []point       `json:"points,omitempty" jsonschema:"value v from time t on"`
	Thinned   bool          `json:"thinned,omitempty" jsonschema:"true when points were left out; highs and lows stay"`
	KnownFrom string        `json:"known_from,omitempty" jsonschema:"nothing is known before this, when it is after from"`
	Min       *float64      `json:"min,omitempty" jsonschema:"lowest number"`
	Max       *float64      `json:"max,omitempty" jsonschema:"highest number"`
	Mean      *float64      `json:"mean,omitempty" jsonschema:"mean, weighted by how long each number held"`
	States    []share       `json:"states,omitempty" jsonschema:"without numbers: how often and how long each state held"`
	MoreState int           `json:"more_states,omitempty" jsonschema:"states not shown"`

	all []sample
}

type point struct {
	T string `json:"t" jsonschema:"when"`
	V string `json:"v" jsonschema:"value from then on"`
}

type share struct {
	State string `json:"state" jsonschema:"state"`
	Count int    `json:"count" jsonschema:"how often it began or was found at the beginning"`
	Lasts string `json:"lasts" jsonschema:"how long in all"`
}

// Len and Cut let the door shorten the answer.
func (o historyOut) Len() int {
	n := 0
	for _, s := range o.Series {
		n = max(n, len(s.Points))
	}
	return n
}

// Cut thins every series to keep points.
func (o historyOut) Cut(keep int) (any, bool) {
	o.Series = slices.Clone(o.Series)
	for i := range o.Series {
		s := &o.Series[i]
		if len(s.Points) <= keep {
			continue
		}
		if keep < 2 {
			s.Points, s.Thinned = nil, true
			continue
		}
		s.Points, s.Thinned = points(thin(s.all, keep)), true
	}
	return o, true
}

// historical is one question, checked.
type historical struct {
	v         sight
	ids       []home.EntityID
	from, to  time.Time
	attribute string
	each      int // points per series
}

func (b *Box) historyGet(ctx context.Context, c tool.Caller, in historyIn) (historyOut, error) {
	v, err := b.see(ctx, c)
	if err != nil {
		return historyOut{}, err
	}
	q := historical{v: v, attribute: in.Attribute}
	if q.from, q.to, err = v.clock().Window(in.From, in.To, 24*time.Hour); err != nil {
		return historyOut{}, err
	}
	if q.to.Sub(q.from) > historyMax {
		return historyOut{}, home.Errorf(home.Invalid, "the window is longer than 31 days").WithHint("ask for a shorter one; the recorder usually keeps 10 days")
	}
	for _, s := range in.Entities {
		id, err := v.entity(s)
		if err != nil {
			return historyOut{}, err
		}
		if !slices.Contains(q.ids, id) {
			q.ids = append(q.ids, id)
		}
	}
	q.each = in.Points / len(q.ids)
	return b.remembered(ctx, q), nil
}

// remembered answers from the recorder and the live tail.
func (b *Box) remembered(ctx context.Context, q historical) historyOut {
	v := q.v
	recorded, fault := b.recorded(ctx, q)
	out := historyOut{From: v.at(q.from), To: v.at(q.to), Source: "recorder"}
	out.Coverage = coverage{From: out.From, To: out.To, Complete: true}
	for _, id := range q.ids {
		all, live := b.joined(q, id, recorded[id])
		if live && fault == nil {
			out.Source = "recorder and live"
		}
		note := q.unrecorded(id, recorded[id])
		if note != "" { // what the live link saw is all there is
			all = all[max(0, slices.IndexFunc(all, func(x sample) bool { return x.v != "" })):]
		}
		s := q.series(id, all)
		if none := q.absent(&s); note == "" {
			note = none
		}
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		out.Coverage.miss(s, out.From, out.To)
		out.Series = append(out.Series, s)
	}
	if fault != nil {
		out.Source = "live"
		out.Notes = append(out.Notes, "the recorder did not answer: "+home.Clip(clean(fault.Error()), 200)+"; only what Hearth itself saw is shown")
		out.Coverage.Complete = false
		if b.Journal != nil {
			if cov, err := b.Journal.Coverage(ctx, q.from, q.to); err == nil {
				holes := covered(cov, v.Location())
				out.Coverage.Gaps = append(out.Coverage.Gaps, holes.Gaps...)
				out.Coverage.MoreGaps = holes.MoreGaps
			}
		}
	}
	return out
}

// recorded asks the recorder. When it does not answer, the live tail is all
// there is, and the error says why. A house that is known to be out of reach is
// not asked: the question would wait for the link.
func (b *Box) recorded(ctx context.Context, q historical) (map[home.EntityID][]hass.Point, error) {
	if b.Hass == nil {
		return nil, home.Errorf(home.Offline, "no link to Home Assistant")
	}
	if b.Health != nil {
		if c, lit := b.Health.Has(health.HassOffline); lit {
			return nil, home.Errorf(home.Offline, "%s", c.Text)
		}
	}
	return b.Hass.History(ctx, q.ids, q.from, q.to, q.attribute != "")
}

// miss notes what of the window no series knows of an entity.
func (c *coverage) miss(s series, from, to string) {
	switch {
	case len(s.all) == 0:
	case s.KnownFrom != "":
		to = s.KnownFrom
	default:
		return
	}
	c.Complete = false
	c.Gaps = append(c.Gaps, gapSays{from, to, "nothing is recorded of " + string(s.ID)})
}

// unrecorded says that the recorder has states of an entity but none with the
// attribute, which the entity has now: Home Assistant leaves out of the
// recorder what an integration marks so, such as a lamp's brightness.
func (q historical) unrecorded(id home.EntityID, recorded []hass.Point) string {
	if q.attribute == "" || len(recorded) == 0 || mirror.Attribute(q.v.State(id), q.attribute) == nil {
		return ""
	}
	for _, p := range recorded {
		if mirror.Attribute(&home.State{Attrs: p.Attrs}, q.attribute) != nil {
			return ""
		}
	}
	return "no recorded state of " + named(string(id), q.v.nameOf(id)) + " has " + tool.Quote(q.attribute, 60) +
		": Home Assistant does not record every attribute; journal_query with this entity shows its changes"
}

// absent empties a series of an attribute that the entity never had, and says
// which it has.
func (q historical) absent(s *series) string {
	if q.attribute == "" || slices.ContainsFunc(s.all, func(x sample) bool { return x.v != "" }) {
		return ""
	}
	var have []string
	if now := q.v.State(s.ID); now != nil {
		for k := range members(now.Attrs) {
			have = append(have, k)
		}
	}
	if len(s.all) == 0 && slices.Contains(have, q.attribute) {
		return ""
	}
	*s = series{ID: s.ID, Name: s.Name, Attribute: s.Attribute}
	if slices.Contains(have, q.attribute) {
		return named(string(s.ID), s.Name) + " had no value of " + tool.Quote(q.attribute, 60) + " in this time"
	}
	note := named(string(s.ID), s.Name) + " had no attribute " + tool.Quote(q.attribute, 60) + " in this time"
	if near := tool.Nearest(q.attribute, have, 3); len(near) > 0 {
		note += "; nearest " + clean(strings.Join(near, ", "))
	}
	return note
}

// attributeUnit is the unit of an attribute by Home Assistant's conventions: an
// attribute beside it says so (weather), else its name does.
func (q historical) attributeUnit(s *home.State) string {
	a := q.attribute
	if u := attrText(s, a+"_unit"); u != "" {
		return home.Clip(clean(u), 20)
	}
	switch {
	case strings.Contains(a, "temperature"), a == "target_temp_low", a == "target_temp_high", a == "min_temp", a == "max_temp", a == "dew_point":
		return q.v.Info().Units["temperature"]
	case strings.Contains(a, "humidity"), a == "percentage", a == "current_position", a == "current_tilt_position", a == "battery_level":
		return "%"
	case a == "color_temp_kelvin":
		return "K"
	}
	return ""
}

// sample is a value and the moment from which it held.
type sample struct {
	at time.Time
	v  string
	f  float64
	ok bool // v is the number f
	l  *time.Location
}

// joined puts the live tail behind what the recorder has written: the recorder
// commits every few seconds. live reports whether there was any.
func (b *Box) joined(q historical, id home.EntityID, recorded []hass.Point) (out []sample, live bool) {
	add := func(value string, attrs *home.State, at time.Time) {
		if at.After(q.to) {
			return
		}
		if q.attribute != "" {
			raw := q.v.sightedValue(mirror.Attribute(attrs, q.attribute))
			if value = string(raw); raw == nil {
				value = ""
			}
			if t, ok := mirror.Unquote(raw); ok {
				value = t
			}
		}
		if at.Before(q.from) { // what held when the window began
			at = q.from
		}
		n := len(out)
		if n > 0 && out[n-1].v == value {
			return
		}
		s := sample{at: at, v: value, l: q.v.Location()}
		f, err := strconv.ParseFloat(value, 64)
		s.f, s.ok = f, err == nil && f-f == 0 // neither NaN nor infinite
		if n > 0 && !at.After(out[n-1].at) && at.Equal(q.from) {
			out[n-1] = s
			return
		}
		out = append(out, s)
	}
	last := time.Time{}
	for _, p := range recorded {
		at := p.Changed
		if q.attribute != "" || at.IsZero() {
			at = p.Updated
		}
		add(p.Value, &home.State{Attrs: p.Attrs}, at)
		if p.Updated.After(last) {
			last = p.Updated
		}
	}
	if b.Journal == nil {
		return out, false
	}
	for _, s := range b.Journal.Ring(id, q.from) {
		at := s.Changed
		if q.attribute != "" {
			at = s.Updated
		}
		if s.Updated.After(last) && !at.After(q.to) {
			add(s.Value, &s, at)
			live = true
		}
	}
	return out, live
}

// series sums up samples and thins them to what may be shown.
func (q historical) series(id home.EntityID, all []sample) series {
	s := series{ID: id, Name: q.v.nameOf(id), Attribute: q.attribute, Count: len(all), all: all}
	if q.attribute == "" {
		s.Unit = unit(q.v.State(id))
	} else {
		s.Unit = q.attributeUnit(q.v.State(id))
	}
	if len(all) == 0 {
		return s
	}
	if all[0].at.After(q.from.Add(time.Second)) {
		s.KnownFrom = q.v.at(all[0].at)
	}
	numbers := 0
	for _, x := range all {
		if x.ok {
			numbers++
		}
	}
	if numbers > 0 {
		s.Min, s.Max, s.Mean = summary(all, q.to)
	} else {
		s.States = shares(all, q.to)
		s.MoreState = max(0, len(s.States)-8)
		s.States = first(s.States, 8)
	}
	shown := thin(all, q.each)
	s.Points, s.Thinned = points(shown), len(shown) < len(all)
	return s
}

func points(all []sample) []point {
	out := make([]point, 0, len(all))
	for _, x := range all {
		out = append(out, point{home.FormatTime(x.at, x.l), home.Clip(clean(x.v), 100)})
	}
	return out
}
