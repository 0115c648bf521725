package mcpd

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/tool"
)

// toolCall is the part of a tools/call that the short way reads.
type toolCall struct {
	Name      string                     `json:"name"`
	Arguments json.RawMessage            `json:"arguments"`
	Meta      map[string]json.RawMessage `json:"_meta"`
}

// short answers a plain tools/call without the SDK, which decodes each message
// many times over: up to half a megabyte of garbage, and more processor than
// the call itself. It takes only what is beyond doubt: one well-formed call of a
// tool of the registry, with the headers its era asks for. For anything else it
// reports false, having done nothing, and the SDK decides what is wrong with it.
func (s *Server) short(w *stream, r *http.Request, req *request) bool {
	if req.msg.Method != "tools/call" || req.msg.Version != "2.0" || !plainID(req.msg.ID) ||
		mediaType(r.Header.Get("Content-Type")) != "application/json" || !acceptsBoth(r.Header) || r.Header.Get("Last-Event-ID") != "" {
		return false
	}
	var call toolCall
	if json.Unmarshal(req.msg.Params, &call) != nil {
		return false
	}
	t, ours := s.tools.Find(call.Name)
	if !ours || !plainHeaders(r.Header, call) {
		return false
	}
	if string(call.Arguments) == "null" {
		call.Arguments = nil
	}
	s.health.Counter("mcp.calls").Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.arm()
	a := s.tools.Call(r.Context(), req.caller, t.Spec().Name, call.Arguments)
	_, _ = w.Write(s.event(req.msg.ID, a, r.Header.Get(headVersion) >= modern))
	return true
}

// plainHeaders reports whether headers and body agree on the era, and in the
// modern one on method and name, and whether the client introduced itself.
func plainHeaders(h http.Header, c toolCall) bool {
	version, meta := h.Get(headVersion), c.Meta[mcp.MetaKeyProtocolVersion]
	switch version {
	case modern:
		caps, info := c.Meta[mcp.MetaKeyClientCapabilities], c.Meta[mcp.MetaKeyClientInfo]
		return string(meta) == `"`+modern+`"` && h.Get("Mcp-Method") == "tools/call" && h.Get("Mcp-Name") == c.Name &&
			len(caps) > 0 && caps[0] == '{' && (len(info) == 0 || info[0] == '{')
	case "", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25":
		return meta == nil
	}
	return false
}

// plainID reports whether id is a string or a whole number.
func plainID(id json.RawMessage) bool {
	if len(id) == 0 || len(id) > 200 {
		return false
	}
	if id[0] == '"' {
		return true
	}
	return len(id) < 16 && strings.Trim(string(id), "0123456789") == ""
}

// event is the answer as the one event of its stream.
func (s *Server) event(id json.RawMessage, a tool.Answer, modernEra bool) []byte {
	text := []byte(a.JSON)
	if a.Err != nil {
		text = []byte(a.Err.Error())
	}
	b := make([]byte, 0, len(text)+len(text)/4+512)
	b = append(b, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":"...)
	b = append(b, id...)
	b = append(b, `,"result":{`...)
	if modernEra {
		b = append(b, s.serverInfo...)
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b = appendQuoted(b, text)
	b = append(b, "}]"...)
	switch {
	case a.Err != nil:
		b = append(b, `,"isError":true`...)
	case s.profile.outputs:
		b = append(b, `,"structuredContent":`...)
		b = append(b, a.JSON...)
	}
	if modernEra {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, "}}\n\n"...)
}

// appendQuoted appends text as a JSON string.
func appendQuoted(b, text []byte) []byte {
	if !utf8.Valid(text) {
		text = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i, c := range text {
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, text[from:]...)
	return append(b, '"')
}

// acceptsBoth reports whether the client takes both forms of answer.
func acceptsBoth(h http.Header) bool {
	a := strings.ToLower(strings.Join(h.Values("Accept"), ","))
	return strings.Contains(a, "application/json") && strings.Contains(a, "text/event-stream")
}

func mediaType(v string) string {
	v, _, _ = strings.Cut(v, ";")
	return strings.ToLower(strings.TrimSpace(v))
}
