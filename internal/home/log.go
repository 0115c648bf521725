package home

// The keys of log lines: one thing has one key, whichever room logs it. A test
// refuses others. None of them may be the name of a secret, whose value the
// handler would star.
const (
	KeyAddr     = "addr"     // address of a peer
	KeyBytes    = "bytes"    // size
	KeyCall     = "call"     // id of a call: call_…
	KeyCaller   = "caller"   // name of the token or person
	KeyContext  = "context"  // id of Home Assistant's context
	KeyCount    = "count"    // how many so far
	KeyData     = "data"     // the data directory
	KeyEntities = "entities" // how many rows of the entity registry
	KeyEntity   = "entity"   // entity id
	KeyError    = "error"    // the cause, as it is
	KeyEvent    = "event"    // event type of Home Assistant
	KeyFile     = "file"     // path
	KeyHost     = "host"     // host and port of Home Assistant
	KeyKind     = "kind"     // of a report or row
	KeyList     = "list"     // which registry or list
	KeyListen   = "listen"   // our own address
	KeyLost     = "lost"     // how many could not be kept
	KeyMethod   = "method"   // of HTTP
	KeyMissing  = "missing"  // what cannot be had
	KeyMode     = "mode"     // of a file
	KeyPage     = "page"     // address of a page
	KeyPanic    = "panic"    // what a panic said
	KeyPath     = "path"     // of a URL
	KeyReason   = "reason"   // why, in words for people
	KeyRequest  = "request"  // id of a request: req_…
	KeyRetry    = "retry_in" // how long until the next try
	KeyRoom     = "room"     // which room logs
	KeyRPC      = "rpc"      // method of JSON-RPC
	KeyService  = "service"  // domain.service
	KeyStack    = "stack"    // of a panic
	KeyStates   = "states"   // how many states
	KeyStatus   = "status"   // of HTTP
	KeyTook     = "took"     // how long it took
	KeyTool     = "tool"     // name of a tool
	KeyURL      = "url"      // address of Home Assistant
	KeyVersion  = "version"  // of whom the line speaks
	KeyWhere    = "where"    // in which part of the work
)
