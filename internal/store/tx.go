package store

import (
	"context"
	"database/sql"
)

// Row writes itself within a transaction. Write may run more than once: when
// the disk was full, the whole transaction is tried again later.
type Row interface{ Write(tx *Tx) error }

// Tx is one write transaction. It is only valid during Row.Write.
type Tx struct {
	conn     *sql.Conn
	stmts    map[string]*sql.Stmt
	rollback []func()
	number   uint64
}

// Number tells transactions of one process apart; it grows. A cache that is
// filled while writing registers its OnRollback once per number.
func (t *Tx) Number() uint64 { return t.number }

// Exec runs a statement, prepared once per connection.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

// QueryRow reads within the transaction, prepared once per connection.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	s, err := t.stmt(query)
	if err != nil {
		// The pool has one connection, which conn holds: asking through conn
		// reports the same error in the row.
		return t.conn.QueryRowContext(context.Background(), query, args...)
	}
	return s.QueryRow(args...)
}

// Query reads several rows within the transaction, prepared once per
// connection. The caller closes the rows before the next statement.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.Query(args...)
}

// OnRollback registers what must be undone in memory when the transaction does
// not commit, such as forgetting row ids that were cached while writing.
func (t *Tx) OnRollback(f func()) { t.rollback = append(t.rollback, f) }

func (t *Tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = s
	return s, nil
}

// begin, commit and abandon speak SQL directly: database/sql's own Tx would
// wrap every prepared statement anew for each transaction.
func (t *Tx) begin() error {
	t.rollback = t.rollback[:0]
	t.number++
	_, err := t.Exec("BEGIN IMMEDIATE")
	return err
}

func (t *Tx) commit() error {
	if _, err := t.Exec("COMMIT"); err != nil {
		t.abandon()
		return err
	}
	t.rollback = t.rollback[:0]
	return nil
}

func (t *Tx) abandon() {
	_, _ = t.Exec("ROLLBACK") // SQLite may have rolled back by itself: then this fails, which is right
	for _, f := range t.rollback {
		f()
	}
	t.rollback = t.rollback[:0]
}
