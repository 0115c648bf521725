// Package conformance runs the protocol's own conformance suite and the MCP
// Inspector against Hearth, in both revisions.
//
// Three lanes share one set of tools, which setup.sh installs from npm at
// pinned versions: the plain program behind a loopback proxy that adds the
// token, held against a baseline in which every accepted failure has its
// reason; the real handler with fixture tools and prompts, which must pass
// every required scenario; and the Inspector's strict look at the real list of
// tools. Nothing in Hearth turns authentication off for them.
//
// Without the tools the tests skip and say so; HEARTH_REQUIRE_CONFORMANCE=1
// makes that a failure:
//
//	./test/conformance/setup.sh && HEARTH_REQUIRE_CONFORMANCE=1 go test ./test/conformance/
package conformance
