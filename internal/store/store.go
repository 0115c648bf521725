// Package store owns the database: open, migrate, one writer, many readers.
package store

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"hearth/internal/health"
)

// Config is the store's part of the configuration.
type Config struct {
	Path  string
	Every time.Duration // Append flushes at least this often; 0 means 5 s
	Rows  int           // and at this many rows; 0 means 200
}

// Row writes itself within a transaction. Tx caches prepared statements.
type Row interface{ Write(tx *Tx) error }

// Tx is one write transaction.
type Tx struct{}

// Exec runs a statement, prepared once per connection.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) { panic("skeleton") }

// QueryRow reads within the transaction, prepared once per connection.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row { panic("skeleton") }

// DB is the open database.
type DB struct{}

// Open opens or creates the database and migrates it.
func Open(ctx context.Context, c Config, log *slog.Logger, h *health.Registry) (*DB, error) {
	panic("skeleton")
}

// Run writes what Append queued until ctx ends, then flushes.
func (d *DB) Run(ctx context.Context) error { panic("skeleton") }

// Append queues rows for the next batch. It never blocks; what does not fit is counted and false is returned.
func (d *DB) Append(rows ...Row) bool { panic("skeleton") }

// Commit writes rows now, fully synced, after everything appended before.
func (d *DB) Commit(ctx context.Context, rows ...Row) error { panic("skeleton") }

// Reader gives the read-only pool (two connections).
func (d *DB) Reader() *sql.DB { panic("skeleton") }

// Flush writes everything appended so far.
func (d *DB) Flush(ctx context.Context) error { panic("skeleton") }

// Close closes the database after Run returned.
func (d *DB) Close() error { panic("skeleton") }
