package hands

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/home"
)

// Until 30 November 2026 an earlier change of ours stood for a command that Home
// Assistant had refused, and turning on stood for a colour that nobody compared.
func TestNothingIsClaimedThatWasNotSeen(t *testing.T) {
	mine := home.Context{ID: "ctx-earlier", User: me}
	red := home.Expect{Entity: "light.a", States: []string{"on"}, Unseen: []string{"rgb_color"},
		Proof: map[string]json.RawMessage{"rgb_color": json.RawMessage("[255,0,0]")}, Near: 4}
	lame := home.Expect{Entity: "light.a", States: []string{"on"}, Loose: true, Unseen: []string{"color_name"}}
	play := home.Expect{Entity: "light.a", States: []string{"playing"}, Moving: []string{"buffering"}, Loose: true, Unseen: []string{"media_content_id"}}
	door := home.Expect{Entity: "light.a", States: []string{"open"}, Moving: []string{"opening"}, Loose: true}
	refusal := func(*world) error { return home.Errorf(home.Invalid, "expected a colour") }
	then := func(value, attrs string, c home.Context, err error) func(*world) error {
		return func(w *world) error { w.becomes("light.a", value, attrs, c); return err }
	}
	for _, c := range []struct {
		name          string
		value, attrs  string // before, by an earlier call of ours
		want          home.Expect
		act           func(*world) error
		outcome       home.Outcome
		before, after string
		note          string
		sent          int32
	}{
		{"refused, and an earlier call of ours left it on", "on", "{}", lame, refusal, home.Failed, "on", "on", "", 1},
		{"refused, and it shows the state but not the colour", "on", `{"rgb_color":[1,2,3]}`, red, refusal, home.Failed, "on, rgb_color [1,2,3]", "on, rgb_color [1,2,3]", "", 1},
		{"refused, and already playing", "playing", "{}", play, refusal, home.Failed, "playing", "playing", "", 1},
		{"refused, and a late report of the earlier call", "on", "{}", lame, then("on", `{"x":1}`, mine, home.Errorf(home.Invalid, "no")), home.Failed, "on", "on", "", 1},
		{"refused, yet it turned on", "off", "{}", lame, then("on", "{}", ours, home.Errorf(home.Internal, "no")), home.Unclear, "off", "on",
			"Home Assistant reported an error, and of what was asked only a part can be seen", 1},
		{"no answer, and a late report of the earlier call", "on", "{}", home.Expect{Entity: "light.a", States: []string{"on"}, Loose: true},
			then("on", `{"x":1}`, mine, timedOut()), home.Unclear, "on", "on", "it shows the value now; whether through this call is not known", 1},
		{"no answer, and it turned on in some colour", "off", "{}", lame, then("on", "{}", ours, timedOut()), home.Unclear, "off", "on",
			"only a part of this can be seen: of color_name nothing is compared", 1},
		{"agreed, and on in some colour", "off", "{}", lame, then("on", "{}", ours, nil), home.Accepted, "off", "on",
			"only a part of this can be seen: of color_name nothing is compared", 1},
		{"agreed, and in another colour", "off", "{}", red, then("on", `{"rgb_color":[255,255,255]}`, ours, nil), home.Accepted, "off", "on, rgb_color [255,255,255]",
			"only a part of this can be seen: it shows on, rgb_color [255,255,255] for rgb_color", 1},
		{"agreed, and in the colour", "on", `{"rgb_color":[9,9,9]}`, red, then("on", `{"rgb_color":[254,1,0]}`, ours, nil), home.Done, "on, rgb_color [9,9,9]", "on, rgb_color [254,1,0]", "", 1},
		{"agreed, and the colour moved away", "on", `{"rgb_color":[254,0,0]}`, red, then("on", `{"rgb_color":[253,0,0]}`, ours, nil), home.Accepted, "on, rgb_color [254,0,0]", "on, rgb_color [253,0,0]",
			"only a part of this can be seen: it shows on, rgb_color [253,0,0] for rgb_color", 1},
		{"in that colour before", "on", `{"rgb_color":[255,0,0]}`, red, refusal, home.Already, "on, rgb_color [255,0,0]", "on, rgb_color [255,0,0]", "", 0},
		{"in that colour before, but off", "off", `{"rgb_color":[255,0,0]}`, red, refusal, home.Failed, "off, rgb_color [255,0,0]", "off, rgb_color [255,0,0]", "", 1},
		{"a door without a position that opens", "closed", "{}", door, then("open", "{}", ours, nil), home.Done, "closed", "open", "only a part of this can be seen", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWorld(nil, func(w *world, _ home.ServiceCall) error { return c.act(w) })
				x.becomes("light.a", c.value, c.attrs, mine)
				begun := time.Now()
				res := x.do(t.Context(), step("light.turn_on", c.want), nil, 2*time.Second)
				l := res.Leaves[0]
				if res.Outcome != c.outcome || l.Before != c.before || l.After != c.after || l.Note != c.note || x.sent.Load() != c.sent {
					t.Errorf("%s, sent %d times: %q → %q, %q", res.Outcome, x.sent.Load(), l.Before, l.After, l.Note)
				}
				if (res.Outcome == home.Failed || res.Outcome == home.Unclear) && res.Err == nil {
					t.Error("without the words of the error")
				}
				if took := time.Since(begun); took > 0 && res.Outcome != home.Unclear {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// A refusal that may be about another of several is no reason to credit this
// one with what an earlier call of ours began.
func TestAnErrorBesideAnEarlierCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWorld(nil, func(*world, home.ServiceCall) error { return home.Errorf(home.Internal, "stuck") })
		mine := home.Context{ID: "ctx-earlier", User: me}
		x.becomes("cover.a", "opening", "{}", mine)
		x.becomes("cover.b", "open", "{}", mine)
		want := func(id string) home.Expect {
			return home.Expect{Entity: home.EntityID(id), States: []string{"open"}, Moving: []string{"opening"}, Loose: true}
		}
		res := x.do(context.Background(), step("cover.open_cover", want("cover.a"), want("cover.b")), nil, time.Second)
		for _, l := range res.Leaves {
			if l.Outcome != home.Unclear {
				t.Errorf("%s is %s: %s", l.Entity, l.Outcome, l.Note)
			}
		}
	})
}
