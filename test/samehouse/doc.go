// Package samehouse holds the contract of a house on the wire: a table of
// commands, service calls and requests with the answers a real Home Assistant
// gives. The same table runs against the simulated house always, and against a
// real Home Assistant where one is installed; where the two differ, the
// simulation is wrong. The package has no code of its own, only tests.
package samehouse
