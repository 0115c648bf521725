package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

func mixed() []thing {
	return []thing{
		{id: "light.kitchen_lights", name: "Kitchen Lights", area: "Kitchen"},
		{id: "light.bed_light", name: "Bed Light", area: "Bedroom"},
		{id: "light.ceiling_lights", name: "Ceiling Lights", area: "Living Room", aliases: []string{"Big lamp", "Deckenlampe"}},
		{id: "switch.decorative_lights", name: "Decorative Lights", area: "Kitchen"},
		{id: "sensor.kitchen_power", name: "Kitchen power", area: "Kitchen", class: "power"},
		{id: "cover.kitchen_window", name: "Kitchen Window", area: "Kitchen", class: "window"},
		{id: "binary_sensor.kuchenfenster", name: "Küchenfenster", area: "Kitchen", class: "window"},
		{id: "climate.heatpump", name: "HeatPump", area: "Living Room"},
		{id: "media_player.lounge_room", name: "Lounge room", area: "Living Room"},
		{id: "light.ke_ting_deng", name: "客厅灯", area: "客厅"},
		{id: "light.wo_shi_deng", name: "卧室灯", area: "卧室"},
		{id: "cover.garage", name: "ガレージのドア", area: "Garage", class: "garage"},
		{id: "light.geosil_jomyeong", name: "거실 조명", area: "거실"},
		{id: "light.flur", name: "Flurlicht Straße", area: "Flur"},
		{id: "light.one", name: "Lights", area: "Hall"},
		{id: "light.two", name: "Lights", area: "Attic"},
		{id: "light.three", name: "Lights", area: "Cellar"},
		{id: "lock.secret", name: "Secret vault", area: "Cellar", hidden: true},
		{id: "switch.kids", name: "Night plug", area: "Kids' Room"},
		{id: "light.bjork", name: "Bjørk", area: "Hall"},
		{id: "light.cafe", name: "Café", area: "Hall"},
		{id: "counter.visitors", name: "Visitors"},
		{id: "automation.guests_gone", name: "Guests gone"},
		{id: "input_boolean.guest_mode", name: "Guest mode"},
		{id: "light.stehlampe", name: "Stehlampe", area: "Chambre d'amis"},
		{id: "media_player.bedroom", name: "Bedroom"},
		{id: "light.ingresso", name: "Zona dell’ingresso"},
	}
}

func TestFirstHit(t *testing.T) {
	x := New(house(t, mixed()))
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Text: "kichen lihgt"}, "light.kitchen_lights"},
		{Query{Text: "kitchen light"}, "light.kitchen_lights"},
		{Query{Text: "KITCHEN LIGHTS"}, "light.kitchen_lights"},
		{Query{Text: "light.kitchen_lights"}, "light.kitchen_lights"},
		{Query{Text: "kitchenlights"}, "light.kitchen_lights"},
		{Query{Text: "turn on the lights in the kitchen"}, "light.kitchen_lights"},
		{Query{Text: "decorativ"}, "switch.decorative_lights"},
		{Query{Text: "Ceiling Lights, Big lamp"}, "light.ceiling_lights"},
		{Query{Text: "deckenlampe"}, "light.ceiling_lights"},
		{Query{Text: "kuchenfenster"}, "binary_sensor.kuchenfenster"},
		{Query{Text: "Kuechenfenster"}, "binary_sensor.kuchenfenster"},
		{Query{Text: "Kueche Licht"}, "light.kitchen_lights"},
		{Query{Text: "KÜCHENFENSTER"}, "binary_sensor.kuchenfenster"},
		{Query{Text: "heat pump"}, "climate.heatpump"},
		{Query{Text: "heating living room"}, "climate.heatpump"},
		{Query{Text: "Licht Küche"}, "light.kitchen_lights"},
		{Query{Text: "Küchenlicht"}, "light.kitchen_lights"},
		{Query{Text: "lumière de la cuisine"}, "light.kitchen_lights"},
		{Query{Text: "luz cocina"}, "light.kitchen_lights"},
		{Query{Text: "keuken verlichting"}, "light.kitchen_lights"},
		{Query{Text: "客厅的灯"}, "light.ke_ting_deng"},
		{Query{Text: "卧室"}, "light.wo_shi_deng"},
		{Query{Text: "ガレージ"}, "cover.garage"},
		{Query{Text: "거실조명"}, "light.geosil_jomyeong"},
		{Query{Text: "strasse"}, "light.flur"},
		{Query{Text: "bjork"}, "light.bjork"},
		{Query{Text: "cafe"}, "light.cafe"},
		{Query{Text: "plug in the kids room"}, "switch.kids"},
		{Query{Text: "lights", Area: "attic"}, "light.two"},
		{Query{Text: "lights in the cellar"}, "light.three"},
		{Query{Text: "kitchen", Domain: "sensor"}, "sensor.kitchen_power"},
		{Query{Text: "telvision lounge"}, "media_player.lounge_room"},
		{Query{Text: "guest"}, "automation.guests_gone"},
		{Query{Text: "visitor"}, "counter.visitors"},
		{Query{Text: "chambre"}, "light.stehlampe"},
		{Query{Text: "chambre ami"}, "light.stehlampe"},
		{Query{Text: "Chambre d’amis"}, "light.stehlampe"},
		{Query{Text: "ingresso"}, "light.ingresso"},
	} {
		hits, _ := x.Find(home.Visible(), c.q)
		if len(hits) == 0 || string(hits[0].Entity.ID) != c.want {
			var got []string
			for _, h := range hits[:min(3, len(hits))] {
				got = append(got, fmt.Sprintf("%s %.2f (%s)", h.Entity.ID, h.Score, h.Why))
			}
			t.Errorf("%+v: want %s, got %s", c.q, c.want, strings.Join(got, " | "))
		}
	}
}

func TestUnelide(t *testing.T) {
	for in, want := range map[string]string{
		"Chambre d'amis": "Chambre d amis", "L’Étage": "L Étage", "dell'ingresso": "dell ingresso",
		"Kids' Room": "Kids' Room", "Ann's lamp": "Ann's lamp", "don't": "don't", "plain": "plain", "'t huis": "'t huis",
	} {
		if got := unelide(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWhySaysWhatMatched(t *testing.T) {
	x := New(house(t, mixed()))
	for q, want := range map[string]string{
		"kichen lihgt":  "kichen ≈ kitchen: name, id, area; lihgt ≈ light: name, id, kind",
		"deckenlampe":   "deckenlampe: alias",
		"cuisine power": "cuisine → kitchen: name, id, area; power: name, id, kind",
	} {
		hits, _ := x.Find(home.Visible(), Query{Text: q})
		if len(hits) == 0 || hits[0].Why != want {
			t.Errorf("%q: %+v", q, hits)
		}
	}
}

func TestEqualNamesAreAmbiguous(t *testing.T) {
	x := New(house(t, mixed()))
	hits, amb := x.Find(home.Visible(), Query{Text: "lights", Domain: "light"})
	if !amb || hits[0].Entity.Name != "Lights" || hits[1].Entity.Name != "Lights" || hits[2].Entity.Name != "Lights" {
		t.Errorf("ambiguous %v: %+v", amb, hits)
	}
	for _, q := range []string{"attic lights", "kitchen lights", "bed light"} {
		if hits, amb := x.Find(home.Visible(), Query{Text: q}); amb {
			t.Errorf("%q is ambiguous: %s %f, %s %f", q, hits[0].Entity.ID, hits[0].Score, hits[1].Entity.ID, hits[1].Score)
		}
	}
}

func TestAKindIsNotAmbiguous(t *testing.T) {
	things := append(mixed(), thing{id: "binary_sensor.door_battery", name: "Door battery", area: "Hall", class: "battery"},
		thing{id: "binary_sensor.hall_battery", name: "Hall battery", area: "Hall", class: "battery"})
	x := New(house(t, things))
	hits, amb := x.Find(home.Visible(), Query{Text: "battery low"})
	if len(hits) < 2 || amb || hits[0].Entity.ID.Domain() != "binary_sensor" || !strings.HasSuffix(hits[0].Why, "low: kind, not state") {
		t.Errorf("ambiguous %v: %+v", amb, hits)
	}
	if _, amb := x.Find(home.Visible(), Query{Text: "battery"}); !amb {
		t.Error("one of two batteries is not ambiguous")
	}
}

func TestScopeAndLimits(t *testing.T) {
	x := New(house(t, mixed()))
	if hits, _ := x.Find(home.Scope{}, Query{Text: "kitchen"}); len(hits) != 0 {
		t.Errorf("the zero scope finds %d", len(hits))
	}
	if hits, _ := x.Find(home.Visible(), Query{Text: "secret vault"}); len(hits) != 0 {
		t.Errorf("a hidden entity is found: %s", hits[0].Entity.ID)
	}
	if hits, _ := x.Find(home.Everything(), Query{Text: "secret vault"}); len(hits) == 0 || hits[0].Entity.ID != "lock.secret" {
		t.Errorf("the house itself finds %v", hits)
	}
	if hits := x.Near(home.Visible(), "lock.secrt", 3); slices.ContainsFunc(hits, func(h Hit) bool { return h.Entity.ID == "lock.secret" }) {
		t.Error("Near names a hidden entity")
	}
	if hits, _ := x.Find(home.Visible(), Query{Text: "light", Limit: 2}); len(hits) != 2 {
		t.Errorf("%d hits", len(hits))
	}
	if hits, _ := x.Find(home.Visible(), Query{}); len(hits) != 0 {
		t.Errorf("nothing finds %d", len(hits))
	}
	if hits, _ := x.Find(home.Visible(), Query{Domain: "climate"}); len(hits) != 1 {
		t.Errorf("a filter alone finds %d", len(hits))
	}
	if hits, _ := x.Find(home.Visible(), Query{Text: "zzqqxx"}); len(hits) != 0 {
		t.Errorf("nonsense finds %s", hits[0].Entity.ID)
	}
}

func TestNear(t *testing.T) {
	x := New(house(t, mixed()))
	for id, want := range map[string]string{
		"light.kichen_lights":  "light.kitchen_lights",
		"light.kitchen":        "light.kitchen_lights",
		"switch.bed_light":     "light.bed_light",
		"Light.Kitchen_Lihgts": "light.kitchen_lights",
		"climate.heat_pump":    "climate.heatpump",
		"kitchen_lights":       "light.kitchen_lights",
	} {
		hits := x.Near(home.Visible(), id, 3)
		if len(hits) == 0 || len(hits) > 3 || string(hits[0].Entity.ID) != want {
			t.Errorf("%s: %+v", id, hits)
		}
	}
	if hits := x.Near(home.Visible(), "zzz.qqqqqq", 3); len(hits) != 0 {
		t.Errorf("nonsense is near %s", hits[0].Entity.ID)
	}
}

func TestIndexFollowsTheHouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := mirror.New(mirror.Config{}, nil, nil, nil)
		x := New(h)
		go x.Run(t.Context())
		on := "on"
		add := func(id, attrs string) {
			w.Apply(home.Report{Kind: home.ReportStates, Patches: []home.Patch{{ID: home.EntityID(id), Full: true, Value: &on, Set: []byte(attrs)}}})
		}
		find := func(q string) string {
			<-time.After(10 * time.Second) // the bubble's clock, not ours
			hits, _ := x.Find(home.Visible(), Query{Text: q})
			if len(hits) == 0 {
				return ""
			}
			return string(hits[0].Entity.ID)
		}
		add("light.a", `{"friendly_name":"Aquarium"}`)
		if got := find("aquarium"); got != "light.a" {
			t.Errorf("found %q", got)
		}
		add("light.a", `{"friendly_name":"Terrarium"}`)
		if got := find("terrarium"); got != "light.a" {
			t.Errorf("after the rename found %q", got)
		}
		if got := find("aquarium"); got != "" {
			t.Errorf("the old name finds %q", got)
		}
		w.Apply(home.Report{Kind: home.ReportStates, Patches: []home.Patch{{ID: "light.a", Removed: true}}})
		if got := find("terrarium"); got != "" {
			t.Errorf("what is gone is found: %q", got)
		}
	})
}

func FuzzFind(f *testing.F) {
	x := New(house(f, mixed()))
	for _, s := range []string{"", "kichen lihgt", "客厅", "a,b,,c", "\x00\xff", "light.", "küchenlichtschalter", strings.Repeat("x ", 500)} {
		f.Add(s, "light")
	}
	f.Fuzz(func(t *testing.T, text, domain string) {
		hits, _ := x.Find(home.Visible(), Query{Text: text, Domain: domain})
		if len(hits) > 10 {
			t.Fatalf("%d hits", len(hits))
		}
		for i, h := range hits {
			if h.Entity == nil || h.Why == "" || domain != "" && h.Entity.ID.Domain() != domain {
				t.Fatalf("hit %d is %+v", i, h)
			}
			if i > 0 && h.Score > hits[i-1].Score {
				t.Fatalf("order: %v after %v", h.Score, hits[i-1].Score)
			}
		}
		x.Near(home.Visible(), text, 3)
	})
}

func TestTheThingItselfComesFirst(t *testing.T) {
	x := New(house(t, []thing{
		{id: "light.a", name: "Vacuum ground floor"}, {id: "vacuum.b", name: "Vacuum ground floor"},
		{id: "input_select.house_mode", name: "House mode"}, {id: "person.ann", name: "Ann"}, {id: "zone.home", name: "Home"},
	}))
	for q, want := range map[string]home.EntityID{"vacuum on the ground floor": "vacuum.b", "who is there": "person.ann"} {
		if hits, _ := x.Find(home.Visible(), Query{Text: q}); len(hits) == 0 || hits[0].Entity.ID != want {
			t.Errorf("%q: %+v", q, hits)
		}
	}
}
