package recall

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hearth/internal/home"
	"hearth/internal/mirror"
)

// table reads a tsv file of testdata.
func table(t testing.TB, name string) [][]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(raw)) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) > 1 {
			out = append(out, f)
		}
	}
	return out
}

// thing is one entity of a test house.
type thing struct {
	id, name, area, class string
	aliases               []string
	hidden                bool
}

func house(t testing.TB, things []thing) *mirror.House {
	t.Helper()
	h, w := mirror.New(mirror.Config{Site: "ha"}, nil, nil, nil)
	reg := &home.Registries{Floors: []home.Floor{{ID: "ground", Name: "Ground floor", Aliases: []string{"downstairs"}}, {ID: "up", Name: "Upstairs"}},
		Labels: []home.Label{{ID: "evening", Name: "Evening mood"}}}
	seen := map[string]bool{}
	r := home.Report{Kind: home.ReportSnapshot, Registries: reg}
	for _, x := range things {
		aid := home.AreaID(strings.ReplaceAll(strings.ToLower(x.area), " ", "_"))
		if x.area != "" && !seen[x.area] {
			seen[x.area] = true
			reg.Areas = append(reg.Areas, home.Area{ID: aid, Name: x.area, Floor: "ground"})
		}
		e := home.Entity{ID: home.EntityID(x.id), RegistryID: "r-" + x.id, OwnArea: aid, Aliases: x.aliases}
		if x.hidden {
			e.HiddenBy = "user"
		}
		reg.Entities = append(reg.Entities, e)
		attrs := map[string]any{"friendly_name": x.name}
		if x.class != "" {
			attrs["device_class"] = x.class
		}
		raw, _ := json.Marshal(attrs)
		on := "on"
		r.Patches = append(r.Patches, home.Patch{ID: e.ID, Full: true, Value: &on, Set: raw})
	}
	w.Apply(r)
	return h
}

func invented(t testing.TB) []thing {
	var out []thing
	for _, f := range table(t, "entities.tsv") {
		for len(f) < 4 {
			f = append(f, "")
		}
		out = append(out, thing{id: f[0], name: f[1], area: f[2], class: f[3]})
	}
	return out
}

// ask counts how many questions find one of their answers first, and among
// the first five.
func ask(t *testing.T, file string) (first, five, all float64) {
	t.Helper()
	x := New(house(t, invented(t)))
	for _, q := range table(t, file) {
		if q[1] == "" {
			continue
		}
		want := strings.Split(q[1], ",")
		hits, _ := x.Find(home.Visible(), Query{Text: q[0], Limit: 5})
		at := slices.IndexFunc(hits, func(h Hit) bool { return slices.Contains(want, string(h.Entity.ID)) })
		all++
		if at == 0 {
			first++
		}
		if at >= 0 {
			five++
			continue
		}
		var got []string
		for _, h := range hits {
			got = append(got, fmt.Sprintf("%s (%.2f, %s)", h.Entity.ID, h.Score, h.Why))
		}
		t.Logf("missed %q: want %s, got %s", q[0], q[1], strings.Join(got, " | "))
	}
	t.Logf("%s: hit@1 %.3f, hit@5 %.3f of %.0f", file, first/all, five/all, all)
	return first, five, all
}

func TestQuestionsFindTheirThings(t *testing.T) {
	for file, least := range map[string]struct{ first, five float64 }{
		"queries.tsv": {0.8, 0.9}, // seen while the word lists were made
		"fresh.tsv":   {0.7, 0.85},
	} {
		first, five, all := ask(t, file)
		if five < least.five*all || first < least.first*all {
			t.Errorf("%s: hit@1 %.3f, hit@5 %.3f", file, first/all, five/all)
		}
	}
}
