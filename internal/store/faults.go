package store

import (
	"errors"

	"modernc.org/sqlite"

	"hearth/internal/home"
)

// SQLite's primary result codes that matter here (sqlite.org/rescode.html).
const (
	codeBusy     = 5
	codeLocked   = 6
	codeNoMem    = 7
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// isCode reports whether err is SQLite's, with that primary code.
func isCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// Later reports whether what Commit failed with lies in the surroundings (a full
// disk, a lock, the caller's deadline) and not in the rows: appended, they are
// tried again until it works.
func Later(err error) bool { return outside(err) || home.CodeOf(err) == home.Timeout }

// outside reports whether err comes from the surroundings (disk, memory,
// locks) and not from the row: then trying again later may work.
func outside(err error) bool {
	for _, c := range []int{codeBusy, codeLocked, codeNoMem, codeReadOnly, codeIO, codeCorrupt, codeFull, codeCantOpen, codeNotADB} {
		if isCode(err, c) {
			return true
		}
	}
	return false
}
