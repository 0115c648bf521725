package mcpd

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// maxNesting is how deep a message may nest; the SDK's decoder gives up deeper
// than this, and the conversation with it.
const maxNesting = 500

// batching is the one protocol revision with batches.
const batching = "2025-03-26"

// lines judges the lines of one conversation before the SDK sees them: it ends
// the whole conversation at a message it cannot decode, and with it the calls
// that are under way.
type lines struct {
	revision string // what the client asked for in initialize
}

// message is what a line says of itself; a batch has no id.
type message struct {
	id   json.RawMessage // of a request, nil otherwise
	any  json.RawMessage // whatever stands as id, for the complaint
	code int             // of the complaint; 0 when the line may pass
	why  string
}

// judge says whether a line may pass.
func (l *lines) judge(line []byte) message {
	switch {
	case !json.Valid(line) || line[0] != '{' && line[0] != '[':
		return message{code: codeParse, why: "the line is not a JSON-RPC message"}
	case nesting(line) > maxNesting:
		return message{code: codeParse, why: "the message nests too deep"}
	case line[0] == '{':
		return l.one(line)
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || l.revision != batching {
		return message{code: codeRequest, why: "batches are not part of this protocol revision; send one message a line"}
	}
	var ids []string
	for _, part := range batch {
		m := message{code: codeRequest, why: "a batch holds messages"}
		if part[0] == '{' {
			m = l.one(part)
		}
		if m.code != 0 {
			return message{code: m.code, why: m.why}
		}
		if m.id != nil {
			if slices.Contains(ids, string(m.id)) {
				return message{code: codeRequest, why: "two messages of the batch have one id"}
			}
			ids = append(ids, string(m.id))
		}
	}
	if len(batch) == 0 {
		return message{code: codeRequest, why: "the batch is empty"}
	}
	return message{}
}

// one judges one object. Its keys count by their exact letters, as they do for
// the SDK.
func (l *lines) one(line []byte) message {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(line, &m) // it is valid, and an object
	id, named := m["id"]
	no := func(why string) message {
		out := message{code: codeRequest, why: why}
		if keptID(id) {
			out.any = id
		}
		return out
	}
	var version, method string
	if json.Unmarshal(m["jsonrpc"], &version) != nil || version != "2.0" {
		return no(`the message's jsonrpc member must be "2.0"`)
	}
	if named && !keptID(id) && !(string(id) == "null" && m["method"] == nil) {
		return no("the message's id must be a text or a whole number")
	}
	if m["method"] == nil {
		var fault struct {
			Code *int64 `json:"code"`
		}
		_, result := m["result"]
		if failed := m["error"]; !result && (json.Unmarshal(failed, &fault) != nil || fault.Code == nil) || !named {
			return no("the message is neither a request nor an answer")
		}
		return message{}
	}
	if json.Unmarshal(m["method"], &method) != nil || method == "" {
		return no("the message's method must be a text")
	}
	if method == "initialize" {
		var p struct {
			Revision string `json:"protocolVersion"`
		}
		if json.Unmarshal(m["params"], &p) == nil {
			l.revision = p.Revision
		}
	}
	if !named {
		return message{}
	}
	return message{id: id, any: id}
}

// keptID reports whether an id is a text or a whole number that keeps its
// value on the way through.
func keptID(id json.RawMessage) bool {
	if len(id) == 0 {
		return false
	}
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n > -1<<53 && n < 1<<53 && !strings.HasPrefix(string(id), "-0")
}

// nesting is how deep valid JSON nests.
func nesting(line []byte) (most int) {
	depth, text := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case text:
			if c == '\\' {
				i++
			} else if c == '"' {
				text = false
			}
		case c == '"':
			text = true
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}
