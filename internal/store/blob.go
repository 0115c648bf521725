package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hearth/internal/home"
)

// PutBlob keeps data under key, replacing what was there, and returns when the
// disk has confirmed it. Nil data removes the key. Keys begin with the room's
// name: "mirror.states".
func (d *DB) PutBlob(ctx context.Context, key string, data []byte) error {
	return d.Commit(ctx, blobRow{key, data, time.Now().UnixMilli()})
}

// Blob gives what was last put under key and when; nil data, a zero time and
// no error when there is nothing.
func (d *DB) Blob(ctx context.Context, key string) (data []byte, saved time.Time, err error) {
	var ms int64
	err = d.reader.QueryRowContext(ctx, "SELECT data, saved_ms FROM blob WHERE key = ?", key).Scan(&data, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, home.Wrap(home.Internal, err, "read "+key+" from the database")
	}
	return data, time.UnixMilli(ms).UTC(), nil
}

type blobRow struct {
	key  string
	data []byte
	ms   int64
}

func (b blobRow) Write(tx *Tx) error {
	if b.data == nil {
		_, err := tx.Exec("DELETE FROM blob WHERE key = ?", b.key)
		return err
	}
	_, err := tx.Exec(`INSERT INTO blob (key, data, saved_ms) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET data = excluded.data, saved_ms = excluded.saved_ms`, b.key, b.data, b.ms)
	return err
}
