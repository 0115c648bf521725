package guard

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
)

// A script is judged by its text; a text that may have changed since it was
// read is not known.
func TestJudge_TextInDoubt(t *testing.T) {
	h, w := mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), &health.Registry{})
	snapshot := home.Report{Kind: home.ReportSnapshot, At: t0, Registries: registries(), Patches: patches(), Info: &home.Info{}}
	texts := home.Report{Kind: home.ReportBodies, At: t0}
	bodies(&texts)
	w.Apply(snapshot)
	texts.Bodies = append(texts.Bodies,
		home.Body{Entity: "script.decoy", Config: json.RawMessage(`{"sequence":[{"action":"light.turn_on","target":{"entity_id":"light.a"}}]}`)})
	w.Apply(texts)
	asks := []string{"script.turn_on script.decoy", "scene.turn_on scene.movie"}
	allowed := func(when string, want bool) {
		t.Helper()
		for _, ask := range asks {
			v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, ask))
			if err != nil {
				t.Fatal(err)
			}
			if v.Allow != want || !want && !strings.Contains(v.Why, "being read again") {
				t.Errorf("%s: %s: allowed %v: %s", when, ask, v.Allow, v.Why)
			}
		}
	}
	allowed("as read", true)
	w.Apply(home.Report{Kind: home.ReportBodies, Bodies: []home.Body{{Entity: "script.decoy", Old: true}, {Entity: "scene.movie", Old: true}}})
	allowed("a reload is under way", false)
	w.Apply(texts)
	allowed("read again", true)
	w.Apply(snapshot)
	allowed("after a reconnect, not yet read again", false)
}

// A text that only the rights are missing for can be had, and the answer says how.
func TestJudge_TextWithoutRights(t *testing.T) {
	h, w := mirror.New(mirror.Config{Site: "ha"}, nil, slog.New(slog.DiscardHandler), &health.Registry{})
	w.Apply(home.Report{Kind: home.ReportSnapshot, At: t0, Registries: registries(), Patches: patches(), Info: &home.Info{}})
	w.Apply(home.Report{Kind: home.ReportBodies, At: t0, Bodies: []home.Body{{Entity: "script.yaml", Missing: home.NoRights, Fetched: t0}}})
	v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, "script.turn_on script.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if v.Allow || !strings.Contains(v.Why, "hearth setup with the token of an administrator") {
		t.Errorf("allowed %v: %q", v.Allow, v.Why)
	}
}

// The text of a scene comes from a file, which may have been edited since it
// was loaded.
func TestJudge_SceneThatIsNotWhatIsLoaded(t *testing.T) {
	for members, want := range map[string]bool{
		`["light.a","light.b","lock.front","cover.blind"]`: true,
		`["light.a","light.b"]`:                            true,
		`["light.a","cover.garage"]`:                       false,
	} {
		h := testHouse(t, func(r *home.Report) {
			r.Patches = append(r.Patches, shown("scene.movie", "x", `{"entity_id":`+members+`}`))
		})
		v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, "scene.turn_on scene.movie"))
		if err != nil {
			t.Fatal(err)
		}
		if v.Allow != want {
			t.Errorf("%s: allowed %v: %s", members, v.Allow, v.Why)
		}
	}
}

// Branches within branches are no calls: a script of many levels is judged by
// what it does at the bottom.
func TestJudge_NestedBranches(t *testing.T) {
	wrap := func(inner string, levels int) string {
		for range levels {
			inner = `{"choose":[{"conditions":[],"sequence":[{"parallel":[{"sequence":[{"repeat":{"count":1,"sequence":[{"if":[],"then":[` + inner + `]}]}}]}]}]}]}`
		}
		return `{"sequence":[` + inner + `]}`
	}
	const lamp = `{"action":"light.turn_on","target":{"entity_id":"light.a"}}`
	const door = `{"action":"lock.unlock","target":{"entity_id":"lock.front"}}`
	for text, want := range map[string]string{
		wrap(lamp, 3): "", wrap(door, 3): "lock.unlock is not on the list", wrap(lamp, 40): "nested too deep",
	} {
		h := testHouse(t, func(r *home.Report) {
			r.Bodies = append(r.Bodies, home.Body{Entity: "script.decoy", Config: json.RawMessage(text)})
		})
		v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, "script.turn_on script.decoy"))
		if err != nil {
			t.Fatal(err)
		}
		if v.Allow != (want == "") || !strings.Contains(v.Why, want) {
			t.Errorf("%.60s… of %d bytes: allowed %v: %s", text, len(text), v.Allow, v.Why)
		}
	}
}

// The hidden members of a group are touched, and nobody is told of them.
func TestJudge_HiddenMembersAreUnseen(t *testing.T) {
	v, err := NewJudge(testHouse(t))(t.Context(), caller(), "service_call", asked(t, "light.turn_on light.pair"))
	if err != nil || !v.Allow {
		t.Fatal(err, v.Why)
	}
	if !v.Unseen["light.member"] || len(v.Unseen) != 1 || ids(v.Leaves[0]) != "light.a light.member light.pair" {
		t.Errorf("leaves %s, unseen %v", ids(v.Leaves[0]), v.Unseen)
	}
}

// A switch may be shown as a lock or a gate under any name, and the switch of a
// garage's opener as a lamp.
func TestJudge_SwitchShownAsSomethingElse(t *testing.T) {
	shownAs := func(of string) func(*home.Entity) {
		return func(e *home.Entity) {
			e.Platform = "switch_as_x"
			e.Options = json.RawMessage(`{"switch_as_x":{"entity_id":"` + of + `","invert":false}}`)
		}
	}
	h := testHouse(t, func(r *home.Report) {
		r.Registries.Entities = append(r.Registries.Entities,
			row("switch.output_3", nil), row("lock.cellar", shownAs("switch.output_3")),
			row("switch.output_4", nil), row("cover.drive", func(e *home.Entity) { shownAs("switch.output_4")(e); e.OrigClass = "gate" }),
			row("switch.output_5", nil), row("cover.awning", func(e *home.Entity) { shownAs("switch.output_5")(e); e.OrigClass = "awning" }),
			row("light.opener", func(e *home.Entity) { shownAs("switch.relay")(e); e.Device = "d-garage" }),
			row("fan.opener", func(e *home.Entity) { shownAs("switch.relay")(e); e.Device = "d-garage" }),
			row("light.output_6", shownAs("switch.output_6")))
		for _, id := range []string{"switch.output_3", "switch.output_4", "switch.output_5", "lock.cellar", "cover.drive", "cover.awning", "light.opener", "fan.opener", "light.output_6"} {
			r.Patches = append(r.Patches, shown(id, "off", `{}`))
		}
	})
	for ask, want := range map[string]bool{
		"switch.turn_on switch.output_3":        false,
		"homeassistant.toggle switch.output_3":  false,
		"switch.turn_on switch.output_4":        false,
		"switch.turn_on switch.output_5":        true,
		"light.turn_on light.opener":            false,
		"homeassistant.turn_on light.opener":    false,
		"fan.turn_on fan.opener":                false,
		"light.turn_on light.output_6":          true,
		"light.turn_on light.keypad":            true,
		"homeassistant.turn_on device:d-garage": false,
	} {
		v, err := NewJudge(h)(t.Context(), caller(), "service_call", asked(t, ask))
		if err != nil {
			t.Fatal(ask, err)
		}
		if v.Allow != want {
			t.Errorf("%s: allowed %v: %s", ask, v.Allow, v.Why)
		}
	}
}
