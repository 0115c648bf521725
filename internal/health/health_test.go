package health_test

import (
	"sync"
	"testing"

	"hearth/internal/health"
)

func TestRegistry_LightsAndClears(t *testing.T) {
	var r health.Registry
	if r.Clear(health.HassOffline) {
		t.Error("what was never lit was cleared")
	}
	r.Light(health.HassOffline, "connection refused")
	first, lit := r.Has(health.HassOffline)
	if !lit || first.Text != "connection refused" || first.Since.IsZero() || first.Severity != health.Fault || !first.NotReady {
		t.Fatalf("lit: %+v, %t", first, lit)
	}
	r.Light(health.HassOffline, "no route")
	if again, _ := r.Has(health.HassOffline); again.Text != "no route" || !again.Since.Equal(first.Since) {
		t.Errorf("lit again: %q since %v, want the new text since %v", again.Text, again.Since, first.Since)
	}
	if !r.Clear(health.HassOffline) || len(r.Lit()) != 0 {
		t.Errorf("after clearing: %v", r.Lit())
	}
}

func TestRegistry_ListsFaultsFirst(t *testing.T) {
	var r health.Registry
	for _, n := range []health.Name{health.ClockSkew, health.StoreFull, health.HassFrames, health.HassAuth} {
		r.Light(n, "")
	}
	var got []health.Name
	for _, c := range r.Lit() {
		got = append(got, c.Name)
	}
	want := []health.Name{health.HassAuth, health.StoreFull, health.ClockSkew, health.HassFrames}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("lit: %v, want %v", got, want)
		}
	}
}

func TestRegistry_PanicsOnAnUnknownCondition(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a condition of no known name was lit")
		}
	}()
	new(health.Registry).Light("hass.ofline", "")
}

func TestKinds_SayWhatToDo(t *testing.T) {
	seen := map[health.Name]bool{}
	for _, k := range health.Kinds() {
		if seen[k.Name] || k.Title == "" || k.Remedy == "" || k.Severity != health.Warning && k.Severity != health.Fault {
			t.Errorf("%s: %+v", k.Name, k)
		}
		seen[k.Name] = true
	}
}

// The race detector watches; the sum shows that nothing was lost.
func TestRegistry_Concurrent(t *testing.T) {
	var r health.Registry
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				r.Counter("test.n").Add(1)
				r.Light(health.StoreBehind, "x")
				r.Lit()
				r.Clear(health.StoreBehind)
			}
		})
	}
	wg.Wait()
	if n := r.Counters()["test.n"]; n != 4000 {
		t.Errorf("counted %d, want 4000", n)
	}
}
