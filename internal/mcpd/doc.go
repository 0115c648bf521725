// Package mcpd serves MCP: stdio and Streamable HTTP, in both eras of the
// protocol, over one server and one catalogue.
//
// A request over HTTP passes a chain: request id and access log, panic guard,
// Host allowlist, Origin allowlist with CORS, bearer token with a brake on
// wrong ones, path, body cap, and then the era router. Requests that declare
// revision 2026-07-28 or later stand for themselves; older ones may open a
// session with initialize, and those without a session are served alone. What
// the SDK dispatches passes one middleware that knows the caller, filters the
// list of tools by its grant, and lets every call through the tool package's
// one door, which checks the arguments, the grant and the size of the answer.
//
// Promises. Nothing behind the chain runs without a valid token; the owner's
// token opens nothing here. Every refusal is a status and a line that says what
// to do. At most 16 sessions live, bound to the token that opened them, and end
// after 30 minutes without a request or an open stream. A request without a
// session is cancelled when its connection closes. Answers are marked private.
// A comment goes out on a stream that was silent for 20 seconds. Neither a
// panic in a tool nor a broken message ends the process or another caller's
// conversation.
//
//	s := mcpd.New(mcpd.Parts{Config: mcpd.Config{Sessions: true}, Registry: registry, Tokens: tokens, House: house, Log: log, Health: conditions})
//	go http.Serve(listener, s.Handler())
//	err := s.Run(ctx) // until ctx ends
package mcpd
