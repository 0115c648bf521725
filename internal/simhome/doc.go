// Package simhome is a simulated house that speaks Home Assistant's real
// protocol: the WebSocket API, REST, registries, history, logbook, traces,
// services with delays and effects, automations that really run, an hour of
// believable life, and faults on request. The demo, the tests and the
// benchmarks run on it. It imports nothing of the module: a shared type would
// hide a mismatch.
//
// Promises. Everything is checked against a real Home Assistant 2026.11 by the
// contract suite in test/samehouse; where the two differ, simhome is wrong.
// What simhome does not know it answers with unknown_command. One lock guards
// the house, so changes have one total order and every subscriber sees it. The
// same seed gives the same house, the same ids and the same life. Time comes
// from the time package only, so a house serves inside a testing/synctest
// bubble over the listener of [Pipe]. A client that leaves more than 4,096
// messages unread is dropped, as the real one does.
//
// A small example:
//
//	h := simhome.New(simhome.Options{Seed: 1})
//	l, dial := simhome.Pipe()
//	go h.Serve(ctx, l) // ends with ctx
//	conn, err := dial(ctx, "tcp", "house:8123")
package simhome
