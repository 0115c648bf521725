package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/home"
)

// tick changes one entity to a value nobody had.
func tick(id string, n int) home.Report {
	v := fmt.Sprint(n)
	return states(home.Patch{ID: home.EntityID(id), Value: &v, Changed: t0.Add(time.Duration(n) * time.Second)})
}

func TestDurableLosesTheOldestAndSaysHowMany(t *testing.T) {
	h, w := build(t, small())
	watch := h.Watch("journal", Durable)
	const sent = durableMost + 500
	for i := range sent {
		w.Apply(tick("sensor.rssi", i))
	}
	if n, oldest := watch.Waiting(); n != durableMost || oldest.Seq != watch.From()+501 {
		t.Errorf("%d wait, oldest %d", n, oldest.Seq)
	}
	want, got, lost := watch.From(), 0, uint64(0)
	for got < durableMost {
		cs, l, err := watch.Next(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		want += l
		lost += l
		for _, c := range cs {
			want++
			if c.Seq != want {
				t.Fatalf("seq %d, want %d", c.Seq, want)
			}
		}
		got += len(cs)
	}
	if uint64(got)+lost != sent || lost != 500 {
		t.Errorf("%d read, %d lost of %d", got, lost, sent)
	}
	if h.View().Seq() != want {
		t.Errorf("the view is at %d, the last change at %d", h.View().Seq(), want)
	}
}

func TestLiveIsCut(t *testing.T) {
	h, w := build(t, small())
	watch := h.Watch("page", Live)
	for i := range liveMost + 5 {
		w.Apply(tick("sensor.rssi", i))
	}
	cs, lost, err := watch.Next(t.Context(), 10)
	if err != nil || lost != liveMost || len(cs) != 5 || cs[4].Seq != h.View().Seq() {
		t.Errorf("%d changes, %d lost, %v", len(cs), lost, err)
	}
}

func TestDerivedGetsTheLatest(t *testing.T) {
	h, w := build(t, small())
	first := h.View().State("sensor.rssi")
	watch := h.Watch("sched", Derived)
	for i := range 5000 {
		w.Apply(tick("sensor.rssi", i))
		w.Apply(tick("light.desk", i))
		w.Apply(home.Report{Kind: home.ReportEvent, Event: &home.Event{Type: "call_service"}})
	}
	cs, lost, err := watch.Next(t.Context(), 10)
	if err != nil || lost != 0 || len(cs) != 2 {
		t.Fatalf("%d changes, %d lost, %v", len(cs), lost, err)
	}
	if cs[0].Old != first || cs[0].New.Value != "4999" || cs[0].Seq > cs[1].Seq {
		t.Errorf("got %+v", cs)
	}
	w.Apply(tick("sensor.rssi", 6000))
	if cs, _, _ := watch.Next(t.Context(), 10); len(cs) != 1 || cs[0].Old.Value != "4999" {
		t.Errorf("then %+v", cs)
	}
}

// A watcher that is always a little behind never empties its queue: what it has
// read must be given back all the same.
func TestWatchersThatLagKeepNoMoreThanWaits(t *testing.T) {
	h, w := build(t, small())
	for name, mode := range map[string]Mode{"durable": Durable, "live": Live, "derived": Derived} {
		watch := h.Watch(name, mode)
		ids := []string{"sensor.rssi", "light.lamp", "light.kitchen"}
		for i := range 20_000 {
			w.Apply(states(full(ids[i%len(ids)], fmt.Sprint(i), `{}`)))
			if i < 2 {
				continue // two always wait
			}
			if _, lost, err := watch.Next(t.Context(), 1); err != nil || lost != 0 {
				t.Fatalf("%s: lost %d, %v", name, lost, err)
			}
		}
		if n, _ := watch.Waiting(); n != 2 {
			t.Errorf("%s: %d wait, want 2", name, n)
		}
		if c := cap(watch.queue); c > 2048 {
			t.Errorf("%s: the queue holds %d places for two changes", name, c)
		}
		watch.Close()
	}
}

func TestNextWaitsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := build(t, small())
		watch := h.Watch("x", Durable)
		got := make(chan home.Change, 1)
		go func() {
			cs, _, _ := watch.Next(t.Context(), 5)
			got <- cs[0]
		}()
		synctest.Wait()
		w.Apply(tick("sensor.rssi", 1))
		if c := <-got; c.Entity != "sensor.rssi" {
			t.Errorf("got %+v", c)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := watch.Next(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err is %v", err)
		}
		w.Apply(tick("sensor.rssi", 2))
		watch.Close()
		w.Apply(tick("sensor.rssi", 3))
		if cs, _, err := watch.Next(t.Context(), 5); err != nil || len(cs) != 1 {
			t.Errorf("what waited: %v %v", cs, err)
		}
		if _, _, err := watch.Next(t.Context(), 5); !errors.Is(err, io.EOF) {
			t.Errorf("err is %v", err)
		}
		watch.Close()
	})
}

// Many readers, watchers and waiters while reports come from two links.
func TestViewsNeverGoBackwards(t *testing.T) {
	h, w := build(t, small())
	const rounds = 2000
	watch := h.Watch("all", Durable)
	base := h.View().Seq()
	var writers, readers sync.WaitGroup
	for g := range 2 {
		writers.Go(func() {
			for i := range rounds {
				if i == 0 {
					w.Apply(states(full(fmt.Sprintf("sensor.g%d", g), "0", `{}`)))
					continue
				}
				w.Apply(tick(fmt.Sprintf("sensor.g%d", g), i))
			}
		})
	}
	stop := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			last := uint64(0)
			for {
				v := h.View()
				if v.Seq() < last {
					t.Error("backwards")
				}
				last = v.Seq()
				for range v.Entities(home.Visible(), Filter{Domain: "sensor"}) {
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for seq := base; seq < base+2*rounds; {
		cs, lost, err := watch.Next(t.Context(), 100)
		if err != nil || lost > 0 {
			t.Fatal(err, lost)
		}
		for _, c := range cs {
			seq++
			if c.Seq != seq || h.View().Seq() < seq {
				t.Fatalf("change %d at %d, view %d", c.Seq, seq, h.View().Seq())
			}
			if i, _ := json.Number(c.New.Value).Int64(); c.Old != nil && c.Old.Value != fmt.Sprint(i-1) {
				t.Fatalf("old %s, new %s", c.Old.Value, c.New.Value)
			}
		}
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := build(t, small())
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				v, ok := h.Await(t.Context(), func(v *View) bool {
					s := v.State("sensor.n")
					return s != nil && s.Value == fmt.Sprint(i)
				})
				if !ok || v.State("sensor.n").Value != fmt.Sprint(i) {
					t.Errorf("waiter %d: %v", i, ok)
				}
			})
		}
		synctest.Wait()
		w.Apply(states(full("sensor.n", "none", `{}`)))
		for i := range 20 {
			w.Apply(tick("sensor.n", i))
			synctest.Wait()
		}
		wg.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if v, ok := h.Await(ctx, func(*View) bool { return false }); ok || v != h.View() {
			t.Error("nothing to wait for, yet something came")
		}
		seen := h.View().Registry()
		w.Apply(tick("sensor.n", 99))
		if h.View().Registry() != seen {
			t.Error("a state change counts as a registry change")
		}
		go w.Apply(states(full("light.brand_new", "on", `{}`)))
		if v, ok := h.AwaitRegistry(t.Context(), seen); !ok || v.Row("light.brand_new") == nil {
			t.Error("a new entity is no registry change")
		}
	})
}

// Nobody can say that something does not exist before the house was read.
func TestFreshWaitsForTheFirstSnapshot(t *testing.T) {
	nothing := func(t *testing.T) (*House, *Writer) {
		h, w := New(Config{Site: "ha"}, nil, nil, nil)
		h.SetFetch(func(context.Context, []home.EntityID) ([]home.State, error) {
			t.Error("states alone say neither what is there nor what is hidden")
			return []home.State{{ID: "light.kitchen", Value: "on"}}, nil
		})
		return h, w
	}
	for _, c := range []struct {
		name   string
		happen func(w *Writer) // two seconds after the reader came
		within time.Duration   // the reader's own time, 0 for as long as it takes
		took   time.Duration
		known  bool
	}{
		{"the snapshot comes", func(w *Writer) { w.Apply(small()) }, 0, 2 * time.Second, true},
		{"the link is down", func(w *Writer) { w.Apply(home.Report{Kind: home.ReportLink, Reason: "refused"}) }, 0, 2 * time.Second, false},
		{"nothing comes", func(*Writer) {}, 0, firstWait, false},
		{"the reader has less time", func(*Writer) {}, 5 * time.Second, 4 * time.Second, false},
		{"the reader has no time", func(*Writer) {}, time.Second / 2, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, w := nothing(t)
				ctx := t.Context()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				happened := time.AfterFunc(2*time.Second, func() { c.happen(w) })
				defer happened.Stop()
				begun := time.Now()
				v := h.Fresh(ctx)
				if took := time.Since(begun); took != c.took || v.Empty() == c.known || c.known && v.State("light.kitchen") == nil {
					t.Errorf("after %v, empty %v", took, v.Empty())
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h, w := nothing(t)
		w.Apply(home.Report{Kind: home.ReportLink, Reason: "refused"})
		begun := time.Now()
		if v := h.Fresh(t.Context()); !v.Empty() || time.Since(begun) != 0 {
			t.Errorf("a house that is down is waited for: %v", time.Since(begun))
		}
	})
}

func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := build(t, small())
		live := h.View()
		if h.Fresh(t.Context()) != live {
			t.Error("a live view is not fresh")
		}
		w.Apply(home.Report{Kind: home.ReportLink, Reason: "gone"})
		if v := h.Fresh(t.Context()); v != h.View() {
			t.Error("without a fetch there is only the view")
		}
		calls, fail := 0, false
		h.SetFetch(func(ctx context.Context, ids []home.EntityID) ([]home.State, error) {
			calls++
			<-time.After(100 * time.Millisecond)
			if fail {
				return nil, home.Errorf(home.Offline, "down")
			}
			return []home.State{{ID: "light.kitchen", Value: "off", Attrs: json.RawMessage(`{"access_token":"x"}`)}, {ID: "light.unheard", Value: "on"}}, nil
		})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				v := h.Fresh(t.Context())
				since, stale := v.Stale()
				if s := v.State("light.kitchen"); s.Value != "off" || string(s.Attrs) != "{}" || !stale || !v.Fetched() || time.Since(since) > time.Second {
					t.Errorf("fetched %+v, stale %v since %v", s, stale, since)
				}
				if v.State("light.unheard") == nil || v.State("light.desk") != nil || v.Row("light.desk") == nil {
					t.Error("the fetched states are not the view's")
				}
				if got := ids(v, Filter{Domain: "light"}); len(got) != 4 {
					t.Errorf("lights are %v", got)
				}
			})
		}
		wg.Wait()
		if calls != 1 || h.View().State("light.kitchen").Value != "on" || h.View().Row("light.unheard") != nil {
			t.Errorf("%d calls; the mirror itself changed: %v", calls, h.View().State("light.kitchen").Value)
		}
		<-time.After(4 * time.Second)
		fail = true
		if v := h.Fresh(t.Context()); v != h.View() {
			t.Error("a failed fetch does not give the last view")
		}
		h.Fresh(t.Context())
		if calls != 2 {
			t.Errorf("%d calls: a failure is not kept", calls)
		}
		fail = false
		if s, err := h.Refetch(t.Context(), "light.kitchen"); err != nil || string(s.Attrs) != "{}" {
			t.Errorf("refetch %v %v", s, err)
		}
		if _, err := h.Refetch(t.Context(), "light.none"); home.CodeOf(err) != home.NotFound {
			t.Errorf("refetch of nothing: %v", err)
		}
	})
}
