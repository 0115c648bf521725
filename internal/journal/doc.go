// Package journal writes down what happened in the house and answers what
// happened, when, and why.
//
// It follows the mirror's one ordered stream, decides by a policy kept as data
// which changes are worth a row, and keeps state changes, automation and script
// runs, service calls and Hearth's own calls with the contexts that tie causes
// to effects. Beside the rows it keeps the journal's own truth: coverage while
// the link was up and everything was seen, and gaps for when it was not.
//
// Promises.
//   - Every change is counted: journal.seen = journal.kept + journal.filtered +
//     journal.lost, and each rule counts what it left out.
//   - Changes that become unavailable, and the way back, are always kept; many
//     at once become one bulk row whose members can still be asked for.
//   - Codes, pins, passwords and tokens in calls are starred before they reach
//     the disk.
//   - Answers hold everything the mirror showed when they were asked for, and
//     say from when to when they are complete.
//   - Record returns for a write when the disk has it. The rest is on disk within
//     the store's interval; after a crash a gap says from when on it may miss.
//   - Rows out of a caller's sight are left out, and the zero scope sees none.
//
// All methods may be called from any goroutine.
//
//	j := journal.New(journal.Config{}, db, house, log, h)
//	go j.Run(ctx)
//	page, err := j.Query(ctx, scope, journal.Query{Domain: "lock", Now: time.Now()})
//	why, err := j.Why(ctx, scope, journal.WhyQuery{Entity: "light.kitchen", Now: time.Now()})
package journal
