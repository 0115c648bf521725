package mirror

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/store"
)

func openStore(t *testing.T, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Path: path}, nil, &health.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSavedHouseComesBackStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearth.db")
	db := openStore(t, path)
	_, w := New(Config{Site: "ha"}, db, nil, nil)
	w.Apply(small())
	w.Apply(home.Report{Kind: home.ReportServices, Services: []home.Service{{Domain: "light", Name: "turn_on"}}})
	before := w.house.View()
	w.save(t.Context(), true)

	var cond health.Registry
	h2, w2 := New(Config{Site: "ha"}, db, nil, &cond)
	watch := h2.Watch("t", Durable)
	if err := w2.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := h2.View()
	since, stale := after.Stale()
	if !stale || after.Empty() || time.Since(since) > time.Minute {
		t.Errorf("stale %v since %v, empty %v", stale, since, after.Empty())
	}
	if c, lit := cond.Has(health.MirrorStale); !lit || !strings.HasSuffix(c.Text, home.FormatTime(since, after.Location())) || strings.HasSuffix(c.Text, "Z") {
		t.Errorf("the condition does not say when, in the home's own time: %v %q", lit, c.Text)
	}
	if got, want := ids(after, Filter{}), ids(before, Filter{}); !slices.Equal(got, want) {
		t.Errorf("entities %v, want %v", got, want)
	}
	for e, s := range before.Entities(home.Everything(), Filter{}) {
		e2, s2 := after.Row(e.ID), after.State(e.ID)
		if !sameRow(e, e2) || e.Name != e2.Name || e.Area != e2.Area || e.Floor != e2.Floor {
			t.Errorf("row %+v, want %+v", e2, e)
		}
		if s != nil && (s.Value != s2.Value || !bytes.Equal(s.Attrs, s2.Attrs) || !s.Changed.Equal(s2.Changed) || s.Context != s2.Context) {
			t.Errorf("state %+v, want %+v", s2, s)
		}
	}
	if after.Location().String() != "Europe/Amsterdam" || len(after.Services()) != 1 || after.User("u1") == nil {
		t.Errorf("zone %v, services %v", after.Location(), after.Services())
	}
	// The house comes up unchanged: nothing differs, and the view is live.
	for _, n := watch.Waiting(); n.Kind != 0; _, n = watch.Waiting() {
		watch.Next(t.Context(), 100)
	}
	w2.Apply(small())
	if n, c := watch.Waiting(); n != 0 {
		t.Errorf("%d changes, first %+v", n, c)
	}
	if _, stale := h2.View().Stale(); stale {
		t.Error("still stale")
	}
	if _, lit := cond.Has(health.MirrorStale); lit {
		t.Error("the condition is still lit")
	}
}

func TestNothingIsSavedTwice(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "hearth.db"))
	_, w := New(Config{}, db, nil, nil)
	w.save(t.Context(), true) // nothing known: nothing saved
	if data, _, _ := db.Blob(t.Context(), blobStates); data != nil {
		t.Error("an empty house was saved")
	}
	w.Apply(small())
	w.save(t.Context(), true)
	first, _, _ := db.Blob(t.Context(), blobStates)
	house, _, _ := db.Blob(t.Context(), blobHouse)
	w.save(t.Context(), true)
	if again, _, _ := db.Blob(t.Context(), blobStates); !bytes.Equal(first, again) {
		t.Error("unchanged states were saved again")
	}
	w.Apply(tick("sensor.rssi", 1))
	w.save(t.Context(), false)
	if again, _, _ := db.Blob(t.Context(), blobStates); !bytes.Equal(first, again) {
		t.Error("states were saved before their time")
	}
	w.save(t.Context(), true)
	if again, _, _ := db.Blob(t.Context(), blobStates); bytes.Equal(first, again) {
		t.Error("changed states were not saved")
	}
	if again, _, _ := db.Blob(t.Context(), blobHouse); !bytes.Equal(house, again) {
		t.Error("unchanged registries were saved again")
	}
}

func TestBrokenBlobIsAnErrorAndTheHouseLives(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "hearth.db"))
	if err := db.PutBlob(t.Context(), blobStates, []byte("garbage")); err != nil {
		t.Fatal(err)
	}
	h, w := New(Config{}, db, nil, nil)
	if err := w.Load(t.Context()); err == nil {
		t.Error("garbage was taken")
	}
	w.Apply(small())
	if h.View().State("light.kitchen") == nil {
		t.Error("the house does not live")
	}
}
