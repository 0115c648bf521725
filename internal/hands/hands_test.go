package hands

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

var t0 = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const me = "user-hearth"

// ours is the context of our call.
var ours = home.Context{ID: "ctx-call", User: me}

func shown(id, value, attrs string, c home.Context, at time.Time) home.Patch {
	return home.Patch{ID: home.EntityID(id), Full: true, Value: &value, Set: json.RawMessage(attrs), Changed: at, Updated: at, Context: &c}
}

// world is a house, and hands whose sending the test writes itself.
type world struct {
	house *mirror.House
	w     *mirror.Writer
	sent  atomic.Int32
	do    Do
}

// newWorld starts with the states in pairs of id and value. act is what the
// house does when a call arrives.
func newWorld(states []string, act func(w *world, c home.ServiceCall) error) *world {
	x := &world{}
	x.house, x.w = mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), &health.Registry{})
	var ps []home.Patch
	for i := 0; i < len(states); i += 3 {
		ps = append(ps, shown(states[i], states[i+1], states[i+2], home.Context{ID: "old"}, t0))
	}
	x.w.Apply(home.Report{Kind: home.ReportLink, Up: true, At: t0})
	x.w.Apply(home.Report{Kind: home.ReportSnapshot, At: t0, Info: &home.Info{}, Registries: &home.Registries{}, Patches: ps})
	h := &hands{alive: func(context.Context) bool { return true }, house: x.house, log: slog.New(slog.DiscardHandler), user: func() string { return me }}
	h.send = func(_ context.Context, c home.ServiceCall) (home.Context, json.RawMessage, error) {
		x.sent.Add(1)
		if err := act(x, c); err != nil {
			return home.Context{}, nil, err
		}
		return ours, json.RawMessage(`{"ok":1}`), nil
	}
	x.do = h.do
	return x
}

// becomes changes an entity some time from now.
func (x *world) becomes(id, value, attrs string, c home.Context) {
	x.w.Apply(home.Report{Kind: home.ReportStates, At: t0.Add(time.Second), Patches: []home.Patch{shown(id, value, attrs, c, t0.Add(time.Second))}})
}

func step(service string, expect ...home.Expect) home.Step {
	domain, name, _ := strings.Cut(service, ".")
	c := &home.ServiceCall{Domain: domain, Service: name}
	for _, e := range expect {
		c.Target.Entities = append(c.Target.Entities, e.Entity)
	}
	return home.Step{Kind: home.StepService, Call: c, Expect: expect}
}

func on(id string) home.Expect { return home.Expect{Entity: home.EntityID(id), States: []string{"on"}} }

func timedOut() error { return home.Errorf(home.Timeout, "no answer came") }

func TestOutcomes(t *testing.T) {
	lock := home.Expect{Entity: "lock.a", States: []string{"locked"}, Moving: []string{"locking"}}
	bright := home.Expect{Entity: "light.a", States: []string{"on"}, Attrs: map[string]json.RawMessage{"brightness": json.RawMessage("102")}, Within: 3}
	other := home.Context{ID: "ctx-other", User: "user-anna"}
	for _, c := range []struct {
		name   string
		states []string
		step   home.Step
		act    func(x *world, c home.ServiceCall) error
		want   home.Outcome
		leaf   string // the first leaf: outcome before→after, note
		sent   int32
		code   home.Code // of the error
		note   string    // in the note of the whole
	}{
		{"seen at once", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error { x.becomes("light.a", "on", "{}", ours); return nil },
			home.Done, "done off→on ", 1, "", ""},
		{"equal before", []string{"light.a", "on", "{}"}, step("light.turn_on", on("light.a")), nil, home.Already, "already on→on ", 0, "", ""},
		{"equal in value but not in brightness", []string{"light.a", "on", `{"brightness":10}`}, step("light.turn_on", bright),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", `{"brightness":101}`, ours)
				return nil
			}, home.Done, "done on, brightness 10 (4 %)→on, brightness 101 (40 %) ", 1, "", ""},
		// The tolerance is for devices that round, not for small wishes.
		{"nearly equal is sent", []string{"light.a", "on", `{"brightness":100}`}, step("light.turn_on", bright),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", `{"brightness":102}`, ours)
				return nil
			}, home.Done, "done on, brightness 100 (39 %)→on, brightness 102 (40 %) ", 1, "", ""},
		{"nearly equal, and it comes nearer", []string{"light.a", "on", `{"brightness":100}`}, step("light.turn_on", bright),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", `{"brightness":101}`, ours)
				return nil
			}, home.Done, "done on, brightness 100 (39 %)→on, brightness 101 (40 %) ", 1, "", ""},
		{"nearly equal, and nothing moves", []string{"light.a", "on", `{"brightness":100}`}, step("light.turn_on", bright),
			func(*world, home.ServiceCall) error { return nil }, home.Sent, "sent on, brightness 100 (39 %)→on, brightness 100 (39 %) not seen yet: it was this near before and has not come nearer: shows on, brightness 100", 1, "", ""},
		{"nearly equal, and it goes the other way", []string{"light.a", "on", `{"brightness":101}`}, step("light.turn_on", bright),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", `{"brightness":99}`, ours)
				return nil
			}, home.Sent, "sent on, brightness 101 (40 %)→on, brightness 99 (39 %) not seen yet: it was this near before and has not come nearer: shows on, brightness 99", 1, "", ""},
		{"nearly equal, and no answer", []string{"light.a", "on", `{"brightness":100}`}, step("light.turn_on", bright),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", `{"brightness":100,"x":1}`, ours)
				return timedOut()
			}, home.Unclear, "unknown on, brightness 100 (39 %)→on, brightness 100 (39 %) shows on, brightness 100", 1, home.Timeout, "did not answer"},
		{"equal in single precision", []string{"media_player.m", "playing", `{"volume_level":0.3100000023841858}`},
			step("media_player.volume_set", home.Expect{Entity: "media_player.m", Attrs: map[string]json.RawMessage{"volume_level": json.RawMessage("0.31")}, Within: 0.02}),
			nil, home.Already, "already playing, volume_level 0.31→playing, volume_level 0.31 ", 0, "", ""},
		{"a hundredth is a wish", []string{"media_player.m", "playing", `{"volume_level":0.3}`},
			step("media_player.volume_set", home.Expect{Entity: "media_player.m", Attrs: map[string]json.RawMessage{"volume_level": json.RawMessage("0.31")}, Within: 0.02}),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("media_player.m", "playing", `{"volume_level":0.31}`, ours)
				return nil
			}, home.Done, "done playing, volume_level 0.3→playing, volume_level 0.31 ", 1, "", ""},
		{"equal as far as can be seen", []string{"light.a", "on", "{}"}, step("light.turn_on", home.Expect{Entity: "light.a", States: []string{"on"}, Loose: true}),
			func(*world, home.ServiceCall) error { return nil }, home.Accepted, "accepted on→on only a part of this can be seen", 1, "", ""},
		{"a number in another spelling", []string{"input_number.n", "40.0", "{}"}, step("input_number.set_value", home.Expect{Entity: "input_number.n", States: []string{"40"}}),
			nil, home.Already, "already 40.0→40.0 ", 0, "", ""},
		{"nothing happens", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return nil }, home.Sent, "sent off→off not seen yet: shows off", 1, "", ""},
		{"on its way", []string{"lock.a", "unlocked", "{}"}, step("lock.lock", lock),
			func(x *world, _ home.ServiceCall) error { x.becomes("lock.a", "locking", "{}", ours); return nil },
			home.Done, "done unlocked→locking on its way", 1, "", ""},
		{"jammed, although the answer was success", []string{"lock.a", "unlocked", "{}"}, step("lock.lock", lock),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("lock.a", "locking", "{}", ours)
				x.becomes("lock.a", "jammed", "{}", ours)
				return nil
			}, home.Failed, "failed unlocked→jammed the device reports: jammed", 1, "", ""},
		{"jammed before and after", []string{"lock.a", "jammed", "{}"}, step("lock.lock", lock),
			func(*world, home.ServiceCall) error { return nil }, home.Failed, "failed jammed→jammed the device reports: jammed", 1, "", ""},
		{"unavailable before and after", []string{"light.a", "unavailable", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return nil }, home.Failed, "failed unavailable→unavailable it is unavailable: Home Assistant passes over it", 1, "", ""},
		{"becomes unavailable", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error { x.becomes("light.a", "unavailable", "{}", ours); return nil },
			home.Sent, "sent off→unavailable it became unavailable", 1, "", ""},
		{"no state at all", nil, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return nil }, home.Failed, "failed → " + entityGone, 1, "", ""},
		{"nothing to see", []string{"scene.s", "x", "{}"}, step("scene.turn_on", home.Expect{Entity: "scene.s", Blind: true}),
			func(*world, home.ServiceCall) error { return nil }, home.Accepted, "accepted x→x ", 1, "", ""},
		{"the device cannot report", []string{"switch.s", "off", "{}"}, step("switch.turn_on", home.Expect{Entity: "switch.s", States: []string{"on"}, Assumed: true}),
			func(*world, home.ServiceCall) error { return nil }, home.Assumed, "assumed off→off the device cannot report what it does", 1, "", ""},
		{"somebody else at the same time", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error { x.becomes("light.a", "on", "{}", other); return nil },
			home.Done, "done off→on somebody else changed it at the same time", 1, "", ""},
		{"the device's own report is nobody", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", "{}", home.Context{ID: "ctx-device"})
				return nil
			}, home.Done, "done off→on ", 1, "", ""},
		{"a child of our context is ours", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", "{}", home.Context{ID: "ctx-child", Parent: ours.ID})
				return nil
			}, home.Done, "done off→on ", 1, "", ""},
		{"offline", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return home.Errorf(home.Offline, "no link") },
			home.Failed, "failed off→off nothing was sent", 1, home.Offline, ""},
		{"refused by Home Assistant", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return home.Errorf(home.Invalid, "brightness") },
			home.Failed, "failed off→off ", 1, home.Invalid, ""},
		{"an error after it was done", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error {
				x.becomes("light.a", "on", "{}", ours)
				return home.Errorf(home.Internal, "the second lamp broke")
			}, home.Done, "done off→on Home Assistant reported an error, but this one shows it", 1, home.Internal, ""},
		{"no answer, and nothing seen", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return timedOut() }, home.Unclear, "unknown off→off ", 1, home.Timeout, "did not answer"},
		{"no answer, but the house shows our own change", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error { x.becomes("light.a", "on", "{}", ours); return timedOut() },
			home.Done, "done off→on ", 1, "", "the house shows it"},
		{"no answer, and somebody else's change", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(x *world, _ home.ServiceCall) error { x.becomes("light.a", "on", "{}", other); return timedOut() },
			home.Unclear, "unknown off→on it shows the value now; whether through this call is not known", 1, home.Timeout, "did not answer"},
		{"no answer, and it jammed", []string{"lock.a", "unlocked", "{}"}, step("lock.lock", lock),
			func(x *world, _ home.ServiceCall) error { x.becomes("lock.a", "jammed", "{}", ours); return timedOut() },
			home.Failed, "failed unlocked→jammed the device reports: jammed", 1, home.Timeout, "did not answer"},
		{"the link broke in mid-call", []string{"light.a", "off", "{}"}, step("light.turn_on", on("light.a")),
			func(*world, home.ServiceCall) error { return context.DeadlineExceeded }, home.Unclear, "unknown off→off ", 1, home.Timeout, "did not answer"},
		{"several, one of them slow", []string{"light.a", "off", "{}", "light.b", "on", "{}"}, step("light.turn_on", on("light.a"), on("light.b")),
			func(*world, home.ServiceCall) error { return nil }, home.Sent, "sent off→off not seen yet: shows off", 1, "", ""},
		{"a wanted answer is fetched even when all is so", []string{"light.a", "on", "{}"},
			func() home.Step { s := step("light.turn_on", on("light.a")); s.Call.Response = true; return s }(),
			func(*world, home.ServiceCall) error { return nil }, home.Already, "already on→on ", 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWorld(c.states, func(w *world, s home.ServiceCall) error { return c.act(w, s) })
				begun := time.Now()
				res := x.do(t.Context(), c.step, nil, 2*time.Second)
				if res.Outcome != c.want {
					t.Errorf("outcome %s, want %s", res.Outcome, c.want)
				}
				l := res.Leaves[0]
				if got := string(l.Outcome) + " " + l.Before + "→" + l.After + " " + l.Note; got != c.leaf {
					t.Errorf("leaf %q, want %q", got, c.leaf)
				}
				if got := x.sent.Load(); got != c.sent {
					t.Errorf("sent %d times, want %d", got, c.sent)
				}
				if got := home.CodeOf(res.Err); got != c.code {
					t.Errorf("error %v, want code %q", res.Err, c.code)
				}
				if !strings.Contains(res.Note, c.note) {
					t.Errorf("note %q, want %q in it", res.Note, c.note)
				}
				if took := time.Since(begun); took > 2*time.Second || res.Outcome != home.Sent && res.Outcome != home.Unclear && l.Outcome != home.Sent && took > 0 && !strings.Contains(c.name, "jammed before") {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestWaitsForTheHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWorld([]string{"light.a", "off", "{}"}, func(x *world, _ home.ServiceCall) error {
			go func() {
				timer := time.NewTimer(1500 * time.Millisecond)
				<-timer.C
				x.becomes("light.a", "on", "{}", ours)
			}()
			return nil
		})
		begun := time.Now()
		res := x.do(t.Context(), step("light.turn_on", on("light.a")), nil, 2*time.Second)
		if took := time.Since(begun); res.Outcome != home.Done || took != 1500*time.Millisecond {
			t.Errorf("%s after %v", res.Outcome, took)
		}
		if res.Context != ours || string(res.Response) != `{"ok":1}` {
			t.Errorf("context %+v, response %s", res.Context, res.Response)
		}
	})
}

func TestDoesNotWaitWhenToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWorld([]string{"light.a", "off", "{}"}, func(*world, home.ServiceCall) error { return nil })
		begun := time.Now()
		if res := x.do(t.Context(), step("light.turn_on", on("light.a")), nil, 0); res.Outcome != home.Sent || time.Since(begun) != 0 {
			t.Errorf("%s after %v", res.Outcome, time.Since(begun))
		}
	})
}

func TestEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		x := newWorld([]string{"light.a", "off", "{}"}, func(*world, home.ServiceCall) error { cancel(); return nil })
		begun := time.Now()
		if res := x.do(ctx, step("light.turn_on", on("light.a")), nil, 8*time.Second); res.Outcome != home.Sent || time.Since(begun) != 0 {
			t.Errorf("%s after %v", res.Outcome, time.Since(begun))
		}
	})
}

func TestStaleViewProvesNothing(t *testing.T) {
	x := newWorld([]string{"light.a", "on", "{}"}, func(*world, home.ServiceCall) error { return home.Errorf(home.Offline, "no link") })
	x.w.Apply(home.Report{Kind: home.ReportLink, Up: false, Reason: "gone", At: t0})
	res := x.do(t.Context(), step("light.turn_on", on("light.a")), nil, time.Second)
	if res.Outcome != home.Failed || x.sent.Load() != 1 || home.CodeOf(res.Err) != home.Offline {
		t.Errorf("%+v", res)
	}
}

func TestLeavesOfTheJudge(t *testing.T) {
	states := []string{"light.pair", "off", `{"entity_id":["light.a","light.b"]}`, "light.a", "off", "{}", "light.b", "off", "{}", "switch.x", "off", "{}"}
	synctest.Test(t, func(t *testing.T) {
		x := newWorld(states, func(x *world, _ home.ServiceCall) error {
			x.becomes("light.a", "on", "{}", ours)
			x.becomes("light.pair", "on", states[2], ours)
			return nil
		})
		res := x.do(t.Context(), step("light.turn_on", on("light.pair")), []home.EntityID{"light.a", "light.b", "light.pair", "switch.x"}, time.Second)
		got := map[home.EntityID]home.Outcome{}
		for _, l := range res.Leaves {
			got[l.Entity] = l.Outcome
		}
		want := map[home.EntityID]home.Outcome{"light.pair": home.Done, "light.a": home.Done, "light.b": home.Sent, "switch.x": home.Accepted}
		if len(got) != len(want) {
			t.Fatalf("leaves %v", got)
		}
		for id, o := range want {
			if got[id] != o {
				t.Errorf("%s is %s, want %s", id, got[id], o)
			}
		}
		if res.Outcome != home.Sent {
			t.Errorf("the whole is the worst: %s", res.Outcome)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := newWorld(states, func(x *world, _ home.ServiceCall) error {
			x.becomes("light.a", "on", "{}", ours)
			x.becomes("light.b", "on", "{}", ours)
			return nil
		})
		res := x.do(t.Context(), step("light.turn_on", on("light.a"), on("light.b")), []home.EntityID{"light.a", "light.b", "light.pair"}, time.Second)
		if len(res.Leaves) != 2 || res.Outcome != home.Done {
			t.Errorf("a group whose members are watched is no leaf: %+v", res)
		}
	})
}

func TestNothingToDoWith(t *testing.T) {
	x := newWorld(nil, func(*world, home.ServiceCall) error { return nil })
	if res := x.do(t.Context(), home.Step{Kind: "document"}, nil, 0); res.Outcome != home.Failed || x.sent.Load() != 0 {
		t.Errorf("%+v", res)
	}
	if res := New(nil, x.house, slog.New(slog.DiscardHandler))(t.Context(), step("a.b"), nil, 0); res.Outcome != home.Failed {
		t.Errorf("without an actor: %+v", res)
	}
	if res := x.do(t.Context(), step("input_boolean.reload"), nil, 0); res.Outcome != home.Accepted {
		t.Errorf("a call without leaves is accepted: %+v", res)
	}
}

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		have, want string
		within     float64
		same       bool
	}{
		{`1`, `1.0`, 0, true}, {`1`, `2`, 1, true}, {`1`, `2.1`, 1, false}, {`"a"`, `"a"`, 0, true}, {`"a"`, `"b"`, 9, false},
		{``, `null`, 0, true}, {`null`, ``, 0, true}, {`1`, `null`, 9, false}, {`[1,2]`, `[2,2]`, 1, true}, {`[1]`, `[1,2]`, 9, false},
		{`{"a":1}`, `{"a":2}`, 1, true}, {`{"a":1}`, `{"b":1}`, 1, false}, {`true`, `true`, 0, true}, {`true`, `1`, 1, false}, {`x`, `1`, 0, false},
	} {
		if got := sameJSON(json.RawMessage(c.have), json.RawMessage(c.want), c.within); got != c.same {
			t.Errorf("%s and %s within %v: %v", c.have, c.want, c.within, got)
		}
	}
}

// Home Assistant calls every entity and then reports the first error: what it
// says of one is no proof that the others were not reached.
func TestAnErrorAboutOneOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := home.Expect{Entity: "cover.b", States: []string{"open"}, Moving: []string{"opening"}}
		fails := func(err error) *world {
			return newWorld([]string{"cover.a", "closed", "{}", "cover.b", "closed", "{}", "cover.c", "closed", "{}"}, func(w *world, _ home.ServiceCall) error {
				time.AfterFunc(300*time.Millisecond, func() { w.becomes("cover.b", "opening", "{}", home.Context{ID: "x", User: me}) })
				return err
			})
		}
		a, c := open, open
		a.Entity, c.Entity = "cover.a", "cover.c"
		both := step("cover.open_cover", a, open, c)

		w := fails(home.Errorf(home.Internal, "the motor of cover.a is stuck"))
		res := w.do(t.Context(), both, []home.EntityID{"cover.a", "cover.b", "cover.c"}, 2*time.Second)
		got := []home.Outcome{res.Leaves[0].Outcome, res.Leaves[1].Outcome, res.Leaves[2].Outcome}
		if !slices.Equal(got, []home.Outcome{home.Unclear, home.Done, home.Unclear}) || res.Outcome != home.Unclear || res.Err == nil {
			t.Errorf("%v as %s: %+v", got, res.Outcome, res.Leaves)
		}

		w = fails(home.Wrap(home.Invalid, &hass.Failure{Code: "invalid_format"}, "not begun"))
		begin := time.Now()
		res = w.do(t.Context(), both, []home.EntityID{"cover.a", "cover.b", "cover.c"}, 2*time.Second)
		if res.Outcome != home.Failed || res.Leaves[1].Outcome != home.Failed || time.Since(begin) != 0 {
			t.Errorf("a call that was not begun: %s after %v", res.Outcome, time.Since(begin))
		}
	})
}
