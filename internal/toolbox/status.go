package toolbox

import (
	"cmp"
	"context"
	"math"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/tool"
)

type status struct {
	Verdict    string      `json:"verdict" jsonschema:"ok, degraded (a warning is lit) or broken (a fault is lit)"`
	Version    string      `json:"version,omitempty" jsonschema:"Hearth's version"`
	Time       string      `json:"time" jsonschema:"now, with the home's own offset"`
	Up         string      `json:"up,omitempty" jsonschema:"how long this process has run"`
	Links      []linkState `json:"links" jsonschema:"the systems Hearth is connected to"`
	Mirror     mirrorState `json:"mirror" jsonschema:"what is held in memory"`
	Journal    journalSays `json:"journal" jsonschema:"how the journal keeps up and what it covers"`
	Conditions []condition `json:"conditions" jsonschema:"what is wrong now, faults first, each with what to do"`
}

type linkState struct {
	Site      string  `json:"site" jsonschema:"name of the system"`
	Up        bool    `json:"up" jsonschema:"whether the live link stands"`
	Reason    string  `json:"reason,omitempty" jsonschema:"why it is down"`
	Admin     string  `json:"admin" jsonschema:"yes, no, or unknown before the first session"`
	LatencyMS float64 `json:"latency_ms" jsonschema:"round trip of the last ping"`
	Version   string  `json:"version,omitempty" jsonschema:"version of Home Assistant"`
	State     string  `json:"state,omitempty" jsonschema:"what Home Assistant says of itself"`
}

type mirrorState struct {
	Sequence int    `json:"sequence" jsonschema:"number of the last change taken in"`
	Entities int    `json:"entities" jsonschema:"entities with a state, within your sight"`
	Areas    int    `json:"areas" jsonschema:"areas known"`
	Devices  int    `json:"devices" jsonschema:"devices known"`
	Services int    `json:"services" jsonschema:"services known"`
	Bodies   int    `json:"bodies" jsonschema:"automations, scripts and scenes whose text is loaded (or known to be unreadable)"`
	OfBodies int    `json:"of_bodies" jsonschema:"automations, scripts and scenes there are"`
	Stale    string `json:"stale,omitempty" jsonschema:"how old the state is, when there is no live link"`
}

type journalSays struct {
	Waiting  int      `json:"waiting" jsonschema:"changes and records not yet written"`
	Lag      string   `json:"lag,omitempty" jsonschema:"age of the oldest change not yet looked at"`
	Lost     int      `json:"lost,omitempty" jsonschema:"changes and records of this run that could not be kept"`
	Coverage coverage `json:"coverage" jsonschema:"how complete the last 24 hours are"`
}

type coverage struct {
	From     string    `json:"from" jsonschema:"begin of the window"`
	To       string    `json:"to" jsonschema:"end of the window"`
	Complete bool      `json:"complete" jsonschema:"whether nothing in the window can be missing"`
	Gaps     []gapSays `json:"gaps,omitempty" jsonschema:"the holes, at most five; over a hole nothing can be ruled out"`
	MoreGaps int       `json:"more_gaps,omitempty" jsonschema:"holes not shown"`
}

type gapSays struct {
	From   string `json:"from" jsonschema:"begin"`
	To     string `json:"to,omitempty" jsonschema:"end; absent while it is open"`
	Reason string `json:"reason" jsonschema:"why nothing was seen"`
}

type condition struct {
	Name     string `json:"name" jsonschema:"its fixed name"`
	Severity string `json:"severity" jsonschema:"warning or fault"`
	Title    string `json:"title" jsonschema:"what it means"`
	Detail   string `json:"detail,omitempty" jsonschema:"what exactly"`
	Since    string `json:"since" jsonschema:"since when"`
	Remedy   string `json:"remedy" jsonschema:"what to do"`
}

// hearthStatus answers even while nothing of the house is known: that is when
// it is asked most.
func (b *Box) hearthStatus(ctx context.Context, c tool.Caller, _ nothing) (status, error) {
	now, loc := b.now(), time.UTC
	out := status{Verdict: "ok", Version: b.Version, Links: []linkState{}, Conditions: []condition{}}
	if !b.Started.IsZero() {
		out.Up = home.FormatDuration(now.Sub(b.Started))
	}
	link := linkState{Site: cmp.Or(b.Site, "home assistant"), Admin: "unknown"}
	if b.House != nil {
		v := sight{View: b.House.View(), sc: c.Grant.Scope, b: b}
		loc = v.Location()
		out.Mirror = mirrorState{
			Sequence: int(v.Seq()), Entities: v.entities(), Areas: len(v.Areas()), Devices: len(v.Devices()),
			Services: len(v.Services()), Stale: v.stale(),
		}
		out.Mirror.Bodies, out.Mirror.OfBodies = v.Bodies()
		link.Version, link.State = name(v.Info().Version), name(v.Info().State)
	}
	if b.Hass != nil {
		link.Up, link.Reason = b.Hass.Online()
		link.Reason = home.Clip(clean(link.Reason), 200)
		link.LatencyMS = math.Round(b.Hass.Latency().Seconds()*1e4) / 10
		if admin, known := b.Hass.Admin(); known {
			link.Admin = map[bool]string{true: "yes", false: "no"}[admin]
		}
		out.Links = append(out.Links, link)
	}
	out.Time = home.FormatTime(now, loc)
	if err := b.journalState(ctx, &out, loc); err != nil {
		return out, err
	}
	b.conditions(&out, loc)
	return out, nil
}

// journalState tells how the journal keeps up. A few rows always wait: they are
// written together every few seconds.
func (b *Box) journalState(ctx context.Context, out *status, loc *time.Location) error {
	if b.Journal == nil {
		return nil
	}
	now := b.now()
	cov, err := b.Journal.Coverage(ctx, now.Add(-24*time.Hour), now)
	if err != nil {
		return home.Wrap(home.Internal, err, "read the journal's coverage")
	}
	behind, age := b.Journal.Lag()
	if behind > 0 {
		out.Journal.Lag = home.FormatDuration(age)
	}
	out.Journal.Waiting, out.Journal.Lost = behind+b.Journal.Unwritten(), b.Journal.Lost()
	out.Journal.Coverage = covered(cov, loc)
	return nil
}

func (b *Box) conditions(out *status, loc *time.Location) {
	if b.Health == nil {
		return
	}
	for _, l := range b.Health.Lit() {
		if out.Verdict = "broken"; l.Severity == health.Warning && !anyFault(out.Conditions) {
			out.Verdict = "degraded"
		}
		out.Conditions = append(out.Conditions, condition{
			Name: string(l.Name), Severity: string(l.Severity), Title: l.Title,
			Detail: home.Clip(clean(l.Text), 300), Since: home.FormatTime(l.Since, loc), Remedy: l.Remedy,
		})
	}
}

func anyFault(cs []condition) bool {
	for _, c := range cs {
		if c.Severity == string(health.Fault) {
			return true
		}
	}
	return false
}

// covered writes a coverage with the home's offset and at most five holes.
func covered(c journal.Coverage, loc *time.Location) coverage {
	out := coverage{From: home.FormatTime(c.From, loc), To: home.FormatTime(c.To, loc), Complete: c.Complete, MoreGaps: max(0, len(c.Gaps)-5)}
	for _, g := range c.Gaps[max(0, len(c.Gaps)-5):] {
		out.Gaps = append(out.Gaps, gapSays{home.FormatTime(g.From, loc), home.FormatTime(g.To, loc), home.Clip(clean(g.Reason), 120)})
	}
	return out
}
