package store

import (
	"context"
	"fmt"
	"time"

	"hearth/internal/health"
	"hearth/internal/home"
)

const maxBatch = 4096 // rows in one transaction

// Append queues rows for the next batch, all or none of them. It never blocks.
// It returns false when they do not fit (the disk has not taken anything for
// long): then they are counted as store.lost and the caller should say so.
func (d *DB) Append(rows ...Row) bool {
	d.mu.Lock()
	if d.closed.Load() {
		d.mu.Unlock()
		d.counters.lost.Add(int64(len(rows)))
		return false
	}
	if len(d.queue)+d.inflight+len(rows) > d.most {
		d.mu.Unlock()
		d.counters.lost.Add(int64(len(rows)))
		d.h.Light(health.StoreFull, fmt.Sprintf("%d rows could not be kept", d.counters.lost.Load()))
		return false
	}
	d.queue = append(d.queue, rows...)
	n := len(d.queue)
	d.mu.Unlock()
	if n >= d.rows {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// Waiting is how many appended rows are not on disk yet.
func (d *DB) Waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) + d.inflight
}

// Durable is the time up to which every appended row is written; now when none
// waits, zero when nothing was written while rows wait.
func (d *DB) Durable() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue)+d.inflight == 0 {
		return time.Now()
	}
	return d.durable
}

// Commit writes rows now, as one transaction, after everything appended
// before, and returns when the disk has confirmed it. On an error none of the
// rows is kept; it is Internal with a hint, or the context's while waiting for
// the writer's turn.
func (d *DB) Commit(ctx context.Context, rows ...Row) error {
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	if err := d.drain(); err != nil {
		return d.failed(err)
	}
	if err := d.synchronous(true); err != nil {
		return d.failed(err)
	}
	if err := d.write(rows); err != nil {
		return d.failed(err)
	}
	d.counters.commits.Add(1)
	return nil
}

// Flush writes everything appended so far. It returns at once when nothing waits.
func (d *DB) Flush(ctx context.Context) error {
	if d.Waiting() == 0 {
		return nil
	}
	if err := d.take(ctx); err != nil {
		return err
	}
	defer d.give()
	return d.failed(d.drain())
}

func (d *DB) take(ctx context.Context) error {
	select {
	case <-d.turn:
	case <-ctx.Done():
		return home.Wrap(home.Timeout, ctx.Err(), "wait for the database")
	}
	if d.closed.Load() {
		d.give()
		return home.Errorf(home.Internal, "the database is closed").WithHint("Hearth is stopping")
	}
	return nil
}

func (d *DB) give() { d.turn <- struct{}{} }

// failed gives an error its hint; nil stays nil.
func (d *DB) failed(err error) error {
	if err == nil {
		return nil
	}
	if !outside(err) {
		return home.Wrap(home.Internal, err, "write to the database")
	}
	return (&home.Error{Code: home.Internal, Msg: "the database cannot be written: " + err.Error(), Err: err}).
		WithHint("free disk space or make the data directory writable")
}

// drain writes the queue in batches. Whoever calls it holds the turn. What the
// disk does not take goes back to the head of the queue.
func (d *DB) drain() error {
	for {
		batch := d.cut()
		if len(batch) == 0 {
			return nil
		}
		err := d.synchronous(false)
		if err == nil {
			err = d.write(batch)
		}
		rest := batch
		if err != nil && !outside(err) {
			rest, err = d.singly(batch)
		}
		if err != nil {
			d.putBack(rest)
			return err
		}
		d.release(batch)
	}
}

// cut takes up to maxBatch rows off the queue.
func (d *DB) cut() []Row {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.queue), maxBatch)
	if n == 0 {
		return nil
	}
	batch := append(d.spare[:0], d.queue[:n]...)
	d.spare = nil
	rest := copy(d.queue, d.queue[n:])
	if d.cutAt = (time.Time{}); rest == 0 {
		d.cutAt = time.Now()
	}
	clear(d.queue[rest:])
	d.queue = d.queue[:rest]
	d.inflight = n
	return batch
}

func (d *DB) release(batch []Row) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inflight = 0
	if !d.cutAt.IsZero() {
		d.durable = d.cutAt
	}
	clear(batch)
	d.spare = batch[:0]
	if cap(d.queue) > 4*maxBatch && len(d.queue) == 0 {
		d.queue = nil // a flood's memory is given back
	}
}

func (d *DB) putBack(batch []Row) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inflight = 0
	d.queue = append(batch, d.queue...)
}

// write writes rows in one transaction and keeps the condition.
func (d *DB) write(rows []Row) error {
	err := d.try(rows)
	switch {
	case err == nil:
		d.counters.written.Add(int64(len(rows)))
		d.counters.flushes.Add(1)
		if d.h.Clear(health.StoreFull) {
			d.log.Warn("the database can be written again")
		}
	case outside(err):
		if _, lit := d.h.Has(health.StoreFull); !lit {
			d.log.Error("the database cannot be written; rows wait in memory", home.KeyError, err)
		}
		d.h.Light(health.StoreFull, err.Error())
	}
	return err
}

func (d *DB) try(rows []Row) error {
	if err := d.tx.begin(); err != nil {
		return err
	}
	for _, r := range rows {
		if err := r.Write(&d.tx); err != nil {
			d.tx.abandon()
			return err
		}
	}
	return d.tx.commit()
}

// singly writes a batch that holds a faulty row: each row alone, so that only
// the faulty ones are refused; those are counted and logged. It stops where the
// disk stops, and gives what is left.
func (d *DB) singly(batch []Row) (rest []Row, err error) {
	for i, r := range batch {
		err := d.write(batch[i : i+1])
		switch {
		case err == nil:
		case outside(err):
			return batch[i:], err
		default:
			d.counters.rejected.Add(1)
			d.log.Error("a row cannot be written", home.KeyKind, fmt.Sprintf("%T", r), home.KeyError, err)
		}
	}
	return nil, nil
}

// synchronous sets how far a commit goes: through to the disk, or to the
// system, which survives kill -9 but not a power cut.
func (d *DB) synchronous(full bool) error {
	if d.full == full {
		return nil
	}
	q := "PRAGMA synchronous = NORMAL"
	if full {
		q = "PRAGMA synchronous = FULL"
	}
	if _, err := d.conn.ExecContext(context.Background(), q); err != nil {
		return err
	}
	d.full = full
	return nil
}

// Run writes what Append queued, and checkpoints the write-ahead file, until
// ctx ends; then it flushes and returns nil, or why the last rows stayed.
func (d *DB) Run(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends with ctx; Run waits for it below
		defer close(done)
		d.checkpoints(ctx)
	}()
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	wake := d.wake
	for {
		select {
		case <-ctx.Done():
			<-done
			return d.Flush(context.WithoutCancel(ctx))
		case <-wake:
		case <-tick.C:
		}
		// While the disk refuses, only the tick tries: a flood of wakes would spin.
		if err := d.Flush(ctx); err != nil {
			wake = nil
		} else {
			wake = d.wake
		}
	}
}

// flushLast is Close's last attempt.
func (d *DB) flushLast() error {
	<-d.turn
	err := d.failed(d.drain())
	d.mu.Lock()
	left := len(d.queue)
	d.queue = nil
	d.mu.Unlock()
	if left > 0 {
		d.counters.lost.Add(int64(left))
		d.log.Error("rows could not be kept", home.KeyLost, left)
	}
	d.give()
	return err
}
