package store

import (
	"context"
	"database/sql"
	"os"
	"time"

	"hearth/internal/home"
)

const (
	checkpointEvery = time.Minute
	walSoft         = 8 << 20  // beyond this a checkpoint runs beside the writer
	walHard         = 64 << 20 // beyond this the writer waits for it, so the file starts over
	walLook         = 2 * time.Second
)

// checkpoints copies the write-ahead file into the database on a connection of
// its own, so that no commit pays for it. It returns when ctx ends.
func (d *DB) checkpoints(ctx context.Context) {
	pool, err := sql.Open("sqlite", dsn(d.path, 300, 64, "_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		d.log.Error("no checkpoints", home.KeyError, err)
		return
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	look := time.NewTicker(walLook)
	defer look.Stop()
	last := time.Now()
	var done int64 // size of the write-ahead file at the last checkpoint
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			size := d.walSize()
			switch {
			case size > walHard:
				d.restart(ctx, pool)
			case size > walSoft && size != done, now.Sub(last) >= checkpointEvery:
				d.checkpoint(ctx, pool, "PASSIVE")
			default:
				continue
			}
			last, done = now, size
		}
	}
}

func (d *DB) walSize() int64 {
	fi, err := os.Stat(d.path + "-wal")
	if err != nil {
		return 0
	}
	return fi.Size()
}

// restart checkpoints most of the file beside the writer, then the rest while
// holding the writer's turn, and cuts the file. Append goes on meanwhile.
func (d *DB) restart(ctx context.Context, pool *sql.DB) {
	d.checkpoint(ctx, pool, "PASSIVE")
	if d.take(ctx) != nil {
		return
	}
	defer d.give()
	d.checkpoint(ctx, pool, "TRUNCATE")
}

func (d *DB) checkpoint(ctx context.Context, pool *sql.DB, mode string) {
	var busy, frames, copied int
	err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &copied)
	if err != nil && ctx.Err() == nil {
		d.log.Warn("checkpoint failed", home.KeyError, err)
	}
}
