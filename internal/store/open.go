package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver: SQLite without cgo

	"hearth/internal/health"
	"hearth/internal/home"
)

// Config is the store's part of the configuration.
type Config struct {
	Path  string        // the database file; its folder is made when missing
	Every time.Duration // Append flushes at least this often; 0 means 5 s
	Rows  int           // and at this many rows; 0 means 200
	Queue int           // rows that may wait while the disk does not take them; 0 means 65,536
}

const (
	defaultEvery = 5 * time.Second
	defaultRows  = 200
	defaultQueue = 65536
	readers      = 2
	cacheKiB     = 2048
)

// Check reports what is wrong with the configuration, nil when nothing is.
func (c Config) Check() error {
	switch {
	case c.Path == "":
		return home.Errorf(home.Invalid, "the database has no path").WithHint("set the data directory")
	case c.Every < 0 || c.Every > time.Minute:
		return home.Errorf(home.Invalid, "the store's flush interval %s is not between 0 and 1m", c.Every).WithHint("leave it out for 5s")
	case c.Rows < 0 || c.Rows > maxBatch:
		return home.Errorf(home.Invalid, "the store's batch of %d rows is not between 0 and %d", c.Rows, maxBatch).WithHint("leave it out for 200")
	case c.Queue < 0:
		return home.Errorf(home.Invalid, "the store's queue of %d rows is negative", c.Queue).WithHint("leave it out for %d", defaultQueue)
	}
	return nil
}

// DB is the open database.
type DB struct {
	path  string
	every time.Duration
	rows  int
	most  int
	log   *slog.Logger
	h     *health.Registry

	turn   chan struct{} // holds one token: whoever has it may use the writer
	pool   *sql.DB       // the writer's pool of one
	conn   *sql.Conn
	tx     Tx
	full   bool // with turn: the connection is set to synchronous FULL
	reader *sql.DB

	mu       sync.Mutex // guards the queue
	queue    []Row
	spare    []Row
	inflight int       // taken from the queue, not yet written
	cutAt    time.Time // when the batch in flight was cut, if it left no rows behind
	durable  time.Time // everything appended before is written
	wake     chan struct{}

	closed   atomic.Bool
	counters counters
}

// counters are looked up once.
type counters struct {
	written, lost, rejected, flushes, commits *atomic.Int64
}

// Open opens or creates the database, brings its schema up to date and leaves
// it ready for Append, Commit and Reader. It fails with a *home.Error when the
// file cannot be used: not a database, made by a newer Hearth, or no rights.
func Open(ctx context.Context, c Config, log *slog.Logger, h *health.Registry) (*DB, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if h == nil {
		h = new(health.Registry)
	}
	d := &DB{
		path: c.Path, every: c.Every, rows: c.Rows, most: c.Queue, log: log, h: h,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	if d.every == 0 {
		d.every = defaultEvery
	}
	if d.rows == 0 {
		d.rows = defaultRows
	}
	if d.most == 0 {
		d.most = defaultQueue
	}
	d.counters = counters{
		written: h.Counter("store.written"), lost: h.Counter("store.lost"), rejected: h.Counter("store.rejected"),
		flushes: h.Counter("store.flushes"), commits: h.Counter("store.commits"),
	}
	if err := d.open(ctx); err != nil {
		d.closeAll()
		return nil, cannotOpen(c.Path, err)
	}
	d.turn <- struct{}{}
	return d, nil
}

func (d *DB) open(ctx context.Context) error {
	if err := prepareFile(d.path); err != nil {
		return err
	}
	var err error
	if d.pool, err = sql.Open("sqlite", dsn(d.path, 5000, cacheKiB, "_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")); err != nil {
		return err
	}
	d.pool.SetMaxOpenConns(1)
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return err
	}
	d.tx = Tx{conn: d.conn, stmts: map[string]*sql.Stmt{}}
	if err := migrate(ctx, d.conn); err != nil {
		return err
	}
	if d.reader, err = sql.Open("sqlite", dsn(d.path, 5000, cacheKiB, "_pragma=query_only(1)")); err != nil {
		return err
	}
	d.reader.SetMaxOpenConns(readers)
	d.reader.SetMaxIdleConns(readers)
	return d.reader.PingContext(ctx)
}

// prepareFile makes the folder and, so that the file is never readable by
// others, the file itself. The write-ahead files inherit its mode.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn escapes the path: a "?" or "#" in a folder's name must not end it.
func dsn(path string, busyMS, cacheKiB int, pragmas string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	u.RawQuery = fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=cache_size(-%d)&_pragma=synchronous(NORMAL)&_pragma=temp_store(MEMORY)&%s",
		busyMS, cacheKiB, pragmas)
	return u.String()
}

// cannotOpen turns the reason into an error a person can act on.
func cannotOpen(path string, err error) error {
	var known *home.Error
	if errors.As(err, &known) {
		return err
	}
	e := &home.Error{Code: home.Internal, Msg: fmt.Sprintf("cannot open the database %s: %v", path, err), Err: err}
	switch {
	case isCode(err, codeNotADB), isCode(err, codeCorrupt):
		return e.WithHint("the file is damaged or no database: move it away (or restore a backup) and start again")
	case errors.Is(err, fs.ErrPermission), isCode(err, codeReadOnly), isCode(err, codeCantOpen):
		return e.WithHint("make the data directory writable for the user Hearth runs as")
	case isCode(err, codeFull):
		return e.WithHint("free disk space and start again")
	}
	return e.WithHint("check the data directory")
}

// Reader gives the read-only pool of two connections. Its queries see every
// row whose Commit or Flush returned before they began.
func (d *DB) Reader() *sql.DB { return d.reader }

// Size is what the database takes on disk, in bytes, the write-ahead file included.
func (d *DB) Size() int64 {
	var n int64
	for _, p := range []string{d.path, d.path + "-wal"} {
		if fi, err := os.Stat(p); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// Backup writes a consistent copy to path, which must not exist, while the
// database stays in use.
func (d *DB) Backup(ctx context.Context, path string) error {
	pool, err := sql.Open("sqlite", dsn(d.path, 5000, cacheKiB, "_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		return home.Wrap(home.Internal, err, "back up the database")
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return home.Wrap(home.Internal, err, "back up the database")
	}
	return os.Chmod(path, 0o600)
}

// Close closes the database. Call it after Run returned; what is still queued
// is written first, and what cannot be written is counted as lost.
func (d *DB) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	err := d.flushLast()
	<-d.turn
	return errors.Join(err, d.closeAll())
}

func (d *DB) closeAll() error {
	var errs []error
	for _, s := range d.tx.stmts {
		errs = append(errs, s.Close())
	}
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.reader != nil {
		errs = append(errs, d.reader.Close())
	}
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	return errors.Join(errs...)
}
