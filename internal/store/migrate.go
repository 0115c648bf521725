package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"hearth/internal/home"
)

//go:embed schema/*.sql
var schema embed.FS

// migration is one numbered step of the schema, forward only.
type migration struct {
	number int
	sql    string
}

// migrations lists the embedded files in the order of their numbers, which
// must be 1, 2, 3 … without a hole.
func migrations() ([]migration, error) {
	names, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	var out []migration
	for i, name := range names { // Glob sorts
		num, _, _ := strings.Cut(strings.TrimPrefix(name, "schema/"), "_")
		n, err := strconv.Atoi(num)
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s should have number %d", name, i+1)
		}
		b, err := schema.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{n, string(b)})
	}
	return out, nil
}

// migrate brings the schema up to the newest number. Each step and its number
// are one transaction, so a crash in between leaves the step undone.
func migrate(ctx context.Context, conn *sql.Conn) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	var have int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > len(steps) {
		return home.Errorf(home.Conflict, "the database has schema %d, this Hearth knows up to %d", have, len(steps)).
			WithHint("it was written by a newer Hearth: use that version, or another data directory")
	}
	for _, m := range steps[have:] {
		if err := step(ctx, conn, m); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", m.number, err)
		}
	}
	return nil
}

func step(ctx context.Context, conn *sql.Conn, m migration) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if _, err := tx.ExecContext(ctx, m.sql); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(m.number)); err != nil {
		return err
	}
	return tx.Commit()
}
