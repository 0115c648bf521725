// Package toolbox declares Hearth's tools and does their work, one file per
// shelf: the house (house_overview, hearth_status), entities, places and
// devices, services, history and the journal.
//
// Promises: a tool is declared once and everything else is made from that
// declaration; reading tools answer from the mirror's memory within the
// caller's scope and say when what they show is old; the one writing tool,
// service_call, has no hands: it checks, translates and returns a plan of steps
// with what each should show afterwards. Text that comes from the house is
// clipped and freed of control characters; it is never interpreted. Methods are
// safe to call from several goroutines once the Box is filled. What goes wrong
// is a *home.Error with at most three candidates within the caller's sight.
//
// A small example:
//
//	box := &toolbox.Box{House: house, Recall: index, Journal: j, Hass: client}
//	reg := tool.NewRegistry(box.Tools()...)
//	a := reg.Call(ctx, caller, "entity_get", json.RawMessage(`{"entity_id":"light.kitchen"}`))
package toolbox

import (
	"context"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/journal"
	"hearth/internal/mirror"
	"hearth/internal/recall"
	"hearth/internal/tool"
)

// Box is what the tools work with. The zero Box declares every tool and
// answers each call with an offline error, for docs and snapshots. Fill the
// fields before the first call and leave them.
type Box struct {
	House   *mirror.House
	Hass    *hass.Client
	Journal *journal.Journal
	Recall  *recall.Index
	Health  *health.Registry
	Version string
	Site    string           // the link's name in the configuration; "" for home assistant
	Started time.Time        // when this process began to serve; zero: not said
	Now     func() time.Time // nil means time.Now

	overviews overviewCache
	devices   deviceCache
}

// Tools are all tools, in the order they are listed.
func (b *Box) Tools() []tool.Tool {
	var all []tool.Tool
	for _, shelf := range [][]tool.Tool{
		b.houseShelf(), b.entityShelf(), b.placeShelf(), b.serviceShelf(), b.historyShelf(), b.journalShelf(),
	} {
		all = append(all, shelf...)
	}
	return all
}

func (b *Box) now() time.Time {
	if b.Now != nil {
		return b.Now()
	}
	return time.Now()
}

// see gives the newest view with the caller's scope. While the house was never
// read it waits for that, and is an offline error when it does not come.
func (b *Box) see(ctx context.Context, c tool.Caller) (sight, error) {
	if b.House == nil {
		return sight{}, home.Errorf(home.Offline, "no house is connected").WithHint("start Hearth with hearth serve or hearth demo")
	}
	v := b.House.Fresh(ctx)
	if v.Empty() {
		return sight{}, b.unknown()
	}
	return sight{View: v, sc: c.Grant.Scope, b: b}, nil
}

// unknown is the error while the house was never read.
func (b *Box) unknown() error {
	if b.Health != nil {
		if c, lit := b.Health.Has(health.HassOffline); lit { // its text says what to do
			return home.Errorf(home.Offline, "nothing is known of the house yet: %s", c.Text).WithHint("Hearth tries again by itself; hearth_status shows the link")
		}
	}
	return home.Errorf(home.Offline, "the house is still being read for the first time").WithHint("ask again in a moment; hearth_status shows the link, hearth doctor tells which hop fails")
}

// stale says how old a view is that no live link feeds, "" while it is live.
func (v sight) stale() string {
	since, ok := v.Stale()
	if !ok {
		return ""
	}
	if since.IsZero() {
		return "stored state of unknown age: the link to Home Assistant is down"
	}
	age := home.FormatDuration(v.b.now().Sub(since))
	if v.Fetched() {
		return "read from Home Assistant " + age + " ago: the live map is not up"
	}
	return "stored state, last confirmed " + age + " ago (" + v.at(since) + "): the link to Home Assistant is down"
}

// at writes a time with the home's offset, to the second.
func (v sight) at(t time.Time) string { return home.FormatTime(t, v.Location()) }

// clock reads time expressions of questions about the past.
func (v sight) clock() home.Clock {
	return home.Clock{Now: v.b.now(), Loc: v.Location(), Dir: home.Past}
}
