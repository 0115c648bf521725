package journal

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/mirror"
	"hearth/internal/store"
)

func (r *rig) down(reason string) time.Time {
	at := r.tick()
	r.w.Apply(home.Report{Kind: home.ReportLink, At: at, Reason: reason, Silent: strings.Contains(reason, "to a ping")})
	return at
}

// gaps renders the gap rows, oldest first: reason from-to in seconds after start.
func (r *rig) gaps(start time.Time) string {
	p := r.query(Query{Kinds: []RowKind{KindGap}, From: start.Add(-time.Hour)})
	var out []string
	for i := len(p.Rows) - 1; i >= 0; i-- {
		g := p.Rows[i]
		end := "open"
		if !g.Until.IsZero() {
			end = fmt.Sprint(g.Until.Sub(start).Round(time.Second))
		}
		out = append(out, fmt.Sprintf("%s [%s %s]", g.What, g.At.Sub(start).Round(time.Second), end))
	}
	return strings.Join(out, "; ")
}

func TestGaps_Link(t *testing.T) {
	r := newRig(t)
	start := r.now
	r.pass(10 * time.Second)
	r.up(testStates(r.now)...)
	r.pass(50 * time.Second)
	r.down("connection reset by peer")
	r.down("connection refused") // the second attempt says nothing new
	r.pass(30 * time.Second)
	r.up(testStates(r.now)...)
	r.pass(10 * time.Second)
	r.set("lock.front", "unlocked", "", home.Context{})
	r.pass(20 * time.Second)
	r.down("no answer to a ping")
	want := "not connected to Home Assistant yet [0s 10s]; no link to Home Assistant: connection reset by peer [1m0s 1m30s]; no link to Home Assistant: no answer to a ping [1m40s open]"
	if got := r.gaps(start); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, c := range []struct {
		from, to time.Duration
		gaps     int
	}{{11 * time.Second, 59 * time.Second, 0}, {0, 59 * time.Second, 1}, {11 * time.Second, 95 * time.Second, 1}, {91 * time.Second, 99 * time.Second, 0},
		{70 * time.Second, 80 * time.Second, 1}, {95 * time.Second, 10 * time.Minute, 1}, {-time.Minute, 10 * time.Minute, 4}} {
		cov, err := r.j.Coverage(t.Context(), start.Add(c.from), start.Add(c.to))
		if err != nil {
			t.Fatal(err)
		}
		if len(cov.Gaps) != c.gaps || cov.Complete != (c.gaps == 0) {
			t.Errorf("%s to %s: %+v, want %d gaps", c.from, c.to, cov, c.gaps)
		}
	}
}

func TestGaps_StopAndStart(t *testing.T) {
	r := newRig(t)
	start := r.now
	r.up(testStates(r.now)...)
	r.now = time.Now().UTC()
	r.down(home.OurStop)
	stopped := r.now
	r.stop() // the clean end is marked with the real clock
	var alive, clean int64
	peek(t, r.path, "SELECT alive, clean FROM mark", &alive, &clean)
	if clean != 1 || alive != stopped.UnixMilli() {
		t.Fatalf("clean %d, alive %d, want %d", clean, alive, stopped.UnixMilli())
	}
	r.now = time.UnixMilli(alive).UTC().Add(20 * time.Second)
	r.start()
	r.pass(5 * time.Second)
	r.up(testStates(r.now)...)
	p := r.query(Query{Kinds: []RowKind{KindGap}, From: start.Add(-time.Hour), To: r.now.Add(time.Hour)})
	if p.Total != 3 || p.Rows[1].What != reasonStopped || p.Rows[1].At.UnixMilli() != alive || p.Rows[1].Until.UnixMilli() != alive+20_000 || p.Rows[0].What != reasonWaiting {
		t.Errorf("alive %d: %+v", alive, p.Rows)
	}
}

func peek(t *testing.T, path, query string, dest ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(dest...); err != nil {
		t.Fatal(query, err)
	}
}

func TestGaps_TheStreamDropped(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	r.query(Query{})
	from := r.now
	r.pass(time.Minute)
	r.j.feed([]home.Change{{Seq: 1 << 40, Kind: home.StateChanged, At: r.now, Entity: "lock.front", Old: state("lock.front", "locked"), New: state("lock.front", "unlocked")}}, 12345)
	var n, at, till int64
	if err := r.db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.db.Reader().QueryRow("SELECT n, at, till FROM event WHERE kind = 6 AND n > 0").Scan(&n, &at, &till); err != nil {
		t.Fatal(err)
	}
	if n != 12345 || at < from.Add(-time.Second).UnixMilli() || till != r.now.UnixMilli() || r.count("journal.missed") != 12345 {
		t.Errorf("%d changes between %d and %d", n, at, till)
	}
	if _, lit := r.h.Has(health.StoreBehind); !lit {
		t.Error("no condition")
	}
}

func TestGaps_TheStoreIsFull(t *testing.T) {
	h := new(health.Registry)
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "hearth.db"), Queue: 1500}, nil, h)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	j := New(Config{}, db, nil, nil, h)
	j.linkUp(time.Now())
	feed := func(n int) {
		var cs []home.Change
		for i := range n {
			old, now := "on", "off"
			if i%2 == 0 {
				old, now = now, old
			}
			cs = append(cs, home.Change{Kind: home.StateChanged, At: time.Now(), Entity: "switch.x", Old: state("switch.x", old), New: state("switch.x", now)})
		}
		j.feed(cs, 0)
	}
	for range 7 { // nobody flushes: the queue fills
		feed(1000)
	}
	lost := h.Counter("journal.lost").Load()
	if seen, kept := h.Counter("journal.seen").Load(), h.Counter("journal.kept").Load(); lost == 0 || seen != 7000 || kept+lost != seen {
		t.Fatalf("%d seen, %d kept, %d lost", seen, kept, lost)
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	feed(1)
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n, open int64
	var what string
	if err := db.Reader().QueryRow("SELECT n, till IS NULL, what FROM event WHERE kind = 6").Scan(&n, &open, &what); err != nil {
		t.Fatal(err)
	}
	if n != lost || open != 0 {
		t.Errorf("the gap says %d lost, open %d: %s; want %d", n, open, what, lost)
	}
}

const childEnv = "HEARTH_JOURNAL_TEST_CHILD"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
		return
	}
	os.Exit(m.Run())
}

// child journals a house that never rests until it is killed.
func child(path string) {
	ctx := context.Background()
	h := new(health.Registry)
	db, err := store.Open(ctx, store.Config{Path: path}, nil, h)
	if err != nil {
		fmt.Println(err)
		return
	}
	house, w := mirror.New(mirror.Config{Site: "ha"}, nil, nil, h)
	j := New(Config{Alive: path + ".alive"}, db, house, nil, h)
	go func() { _ = db.Run(ctx) }() // both end with the process
	go func() { _ = j.Run(ctx) }()
	w.Apply(home.Report{Kind: home.ReportLink, Up: true, At: time.Now()})
	w.Apply(home.Report{Kind: home.ReportSnapshot, At: time.Now(), Registries: testHouse(), Patches: testStates(time.Now())})
	for i := range 3000 {
		v := map[bool]string{true: "on", false: "off"}[i%2 == 0]
		at := time.Now()
		w.Apply(home.Report{Kind: home.ReportStates, At: at, Patches: []home.Patch{{ID: "light.kitchen_lights", Value: &v, Changed: at, Updated: at, Context: &home.Context{}}}})
	}
	// An answer waits until all of it was taken; only then is a commit after it.
	if _, err := j.Coverage(ctx, time.Now(), time.Now()); err != nil {
		fmt.Println(err)
		return
	}
	if err := j.Record(ctx, home.CallRecord{ID: "call_killed", At: time.Now(), Tool: "service_call", Class: home.Act, Who: "test"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("recorded")
	select {}
}

// lastWords waits until an idle child said that it lived at least until from.
func lastWords(t *testing.T, path string, from time.Time) time.Time {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for range 1000 {
		if till := time.UnixMilli(readAlive(path).till); till.After(from) {
			return till.Truncate(time.Millisecond)
		}
		<-look.C
	}
	t.Fatal("an idle journal does not say that it lives")
	return time.Time{}
}

func TestGaps_CrashBeginsWithTheNewestRow(t *testing.T) {
	for _, c := range []struct {
		row, mark, now, file, base, want int64
	}{
		{row: 5_000, mark: 1_000, now: 60_000, want: 5_000},
		{row: 500, mark: 1_000, now: 60_000, want: 1_000},
		{row: 90_000, mark: 1_000, now: 200_000, want: 1_000}, // a clock that is wrong
		{row: 5_000, mark: 1_000, now: 3_000, want: 1_000},
		{row: 5_000, mark: 1_000, now: 60_000, file: 8_000, base: 1_000, want: 8_000},
		{row: 5_000, mark: 1_000, now: 60_000, file: 8_000, base: 2_000, want: 5_000}, // an older copy of the database
	} {
		r := newRig(t)
		r.stop()
		db, err := store.Open(t.Context(), store.Config{Path: r.path}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &startRow{j: r.j, now: c.now, lived: lived{c.file, c.base}}
		err = db.Commit(t.Context(), writes(func(tx *store.Tx) error {
			if _, err := tx.Exec("INSERT INTO event (at, kind) VALUES (?, 1), (99000, 5)", c.row); err != nil {
				return err
			}
			got, err := s.lastWord(tx, c.mark)
			if got != c.want {
				t.Errorf("%+v: the gap begins at %d", c, got)
			}
			return err
		}))
		if err != nil {
			t.Error(err)
		}
		db.Close()
	}
}

// writes is a function as a row.
type writes func(*store.Tx) error

func (w writes) Write(tx *store.Tx) error { return w(tx) }

func TestGaps_Kill(t *testing.T) {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "hearth.db")}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+r.path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 8)
	if _, err := out.Read(said); err != nil || string(said) != "recorded" {
		t.Fatalf("%q %v", said, err)
	}
	idle := lastWords(t, r.path+".alive", time.Now().Add(time.Second))
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: always an error
	r.now = time.Now().UTC()
	r.alive = r.path + ".alive"
	r.start()
	p := r.query(Query{Kinds: []RowKind{KindGap}, From: killed.Add(-time.Hour), To: time.Now().Add(time.Hour)})
	last := p.Rows[len(p.Rows)-1]
	for _, g := range p.Rows {
		if g.What == reasonCrashed {
			last = g
		}
	}
	if last.What != reasonCrashed || last.At.After(killed) || last.At.Before(idle) || last.Until.Before(killed.Add(-time.Millisecond)) {
		t.Errorf("no gap says that Hearth was killed at %s: %+v", killed, p.Rows)
	}
	own := r.query(Query{Kinds: []RowKind{KindOwn}, From: killed.Add(-time.Hour), To: time.Now()})
	if own.Total != 1 || own.Rows[0].Call != "call_killed" {
		t.Errorf("the recorded call is lost: %+v", own.Rows)
	}
	if own.Coverage.Complete {
		t.Error("the answer claims to be complete over a kill")
	}
	if p := r.query(Query{Entities: []home.EntityID{"light.kitchen_lights"}, From: killed.Add(-time.Hour), To: time.Now(), Limit: 1}); p.Total < 3000 {
		t.Errorf("only %d changes came through, though a commit followed them", p.Total)
	}
}

// stuck is a row that keeps the writer busy until it is let go.
type stuck struct{ held, free chan struct{} }

func (s stuck) Write(*store.Tx) error {
	close(s.held)
	<-s.free
	return nil
}

func TestCoverage_SaysWhatTheDiskDidNotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.now = time.Now().UTC()
		r.up(testStates(r.now)...)
		<-time.After(time.Minute) // by the bubble's clock: nobody waits
		r.query(Query{})
		s := stuck{make(chan struct{}), make(chan struct{})}
		done := make(chan error)
		go func() { done <- r.db.Commit(context.Background(), s) }() // ends when it is let go
		<-s.held
		r.now = time.Now().UTC()
		r.set("lock.front", "unlocked", "", home.Context{})
		p := r.query(Query{Entities: []home.EntityID{"lock.front"}, From: r.now.Add(-30 * time.Second), To: r.now.Add(time.Hour)})
		if p.Total != 0 || p.Coverage.Complete || !strings.Contains(p.Coverage.Gaps[0].Reason, "kept in memory") {
			t.Errorf("the disk does not answer, yet: %+v", p)
		}
		close(s.free)
		if err := <-done; err != nil {
			t.Error(err)
		}
		p = r.query(Query{Entities: []home.EntityID{"lock.front"}, From: r.now.Add(-30 * time.Second), To: time.Now()})
		if p.Total != 1 || !p.Coverage.Complete {
			t.Errorf("and afterwards: %+v", p)
		}
		r.stop()
	})
}

// Whoever only asks how complete the journal is does not wait until all that
// happened is written, but until all that matters for the answer is.
func TestCoverage_WaitsForNoMoreThanItNeeds(t *testing.T) {
	r := newRig(t)
	r.up(testStates(r.now)...)
	start := r.now
	cover := func() Coverage {
		t.Helper()
		c, err := r.j.Coverage(t.Context(), start, r.now)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := cover(); !c.Complete {
		t.Errorf("the link is up: %+v", c)
	}
	r.set("lock.front", "unlocked", "", home.Context{})
	if c, waiting := cover(), r.db.Waiting(); !c.Complete || waiting == 0 {
		t.Errorf("%d rows wait after %+v", waiting, c)
	}
	r.pass(time.Minute)
	r.down("cut")
	r.pass(time.Minute)
	if c := cover(); c.Complete || len(c.Gaps) != 1 || !c.Gaps[0].To.IsZero() {
		t.Errorf("the link is down: %+v", c)
	}
	r.up(testStates(r.now)...)
	r.pass(time.Minute)
	if c := cover(); c.Complete || len(c.Gaps) != 1 || c.Gaps[0].To.IsZero() {
		t.Errorf("the link is back: %+v", c)
	}
}
