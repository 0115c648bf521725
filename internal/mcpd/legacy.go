package mcpd

import (
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hearth/internal/home"
)

// legacyMethod reports whether the SDK serves a request of this name from
// before the modern revision. Those revisions are closed: no method joins them.
// The last two are the modern era's, whose own answer tells a client that asks
// for it with a header of old what is wrong.
func legacyMethod(name string) bool {
	switch name {
	case "initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get",
		"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"logging/setLevel", "completion/complete",
		"server/discover", "subscriptions/listen":
		return true
	}
	return false
}

// noMethod answers a legacy request whose method there is not. The SDK refuses
// it with a line of plain text and the status 400, which clients take for a
// fault of the transport and not for an answer to their request.
func noMethod(w *stream, r *http.Request, req *request) bool {
	if r.Method != http.MethodPost || req.msg.Method == "" || !plainID(req.msg.ID) || isModern(r, req) || legacyMethod(req.msg.Method) {
		return false
	}
	answerError(w, http.StatusOK, req.msg.ID, jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %q", home.Clip(req.msg.Method, 60)))
	return true
}
