// Package store owns the database: it opens and migrates it, lets one writer
// write and many readers read, and keeps what could not be written yet.
//
// There are two ways to write. Append queues rows and never blocks: they are
// written at the latest every Config.Every or as soon as Config.Rows wait, so a
// crash loses at most that much. Commit writes now and returns when the disk
// confirmed it; what it returned for survives kill -9 and power loss.
//
// Promises. Rows reach the disk in the order of Append; Commit's rows follow
// everything appended before. A Commit is atomic. Readers are never blocked by
// the writer. A disk that is full or read-only lights health.StoreFull; the
// rows stay queued and are tried again until it works, and what no longer fits
// in the queue is refused and counted as store.lost: nothing is dropped in
// silence. All methods may be called from several goroutines. Commit, Flush,
// PutBlob and Blob work whether or not Run runs.
//
// A small example:
//
//	db, err := store.Open(ctx, store.Config{Path: "hearth.db"}, log, h)
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	err = db.Commit(ctx, row) // row has Write(tx *store.Tx) error
package store
