//lint:file-ignore SA1019 the suite requires what the newest revision deprecates

package conformance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addRounds adds the tools that ask a modern client by answering with a
// question, and go on when the same call comes back with the response.
func addRounds(s *mcp.Server) {
	seal := newSealer()
	prefix := "test_input_required_result_"
	named := `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	sure := `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	add(s, prefix+"elicitation", once("user_name", question("What is your name?", named)))
	add(s, prefix+"sampling", once("capital_question", sample("What is the capital of France?")))
	add(s, prefix+"list_roots", once("client_roots", &mcp.ListRootsParams{}))
	add(s, prefix+"multiple_inputs", several(seal, mcp.InputRequestMap{
		"user_name": question("What is your name?", named), "greeting": sample("Greet somebody."), "client_roots": &mcp.ListRootsParams{},
	}))
	add(s, prefix+"request_state", several(seal, mcp.InputRequestMap{"confirm": question("Is that right?", sure)}))
	add(s, prefix+"tampered_state", several(seal, mcp.InputRequestMap{"confirm": question("Is that right?", sure)}))
	add(s, prefix+"multi_round", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		state, err := seal.open(r.Params.RequestState)
		switch {
		case err != nil:
			return nil, err
		case state == "two" && r.Params.InputResponses["step2"] != nil:
			return say("two rounds are over"), nil
		case state == "one" && r.Params.InputResponses["step1"] != nil:
			return need(mcp.InputRequestMap{"step2": question("Step 2: which colour?", named)}, seal.close("two")), nil
		}
		return need(mcp.InputRequestMap{"step1": question("Step 1: which name?", named)}, seal.close("one")), nil
	})
	add(s, prefix+"capabilities", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) > 0 {
			return say("thanks"), nil
		}
		asks, can := mcp.InputRequestMap{}, r.ClientCapabilities()
		if can != nil && can.Sampling != nil {
			asks["sample"] = sample("Say something.")
		}
		if can != nil && can.Elicitation != nil {
			asks["name"] = question("What is your name?", named)
		}
		return need(asks, ""), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: prefix + "prompt", Description: "a prompt that asks"},
		func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if r.Params.InputResponses["user_context"] == nil {
				return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": question("Which context?",
					`{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`)}}, nil
			}
			return prompt(text("a prompt with context"))(ctx, r)
		})
}

func need(asks mcp.InputRequestMap, state string) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: asks, RequestState: state}
}

// once asks one thing and is done when it is there.
func once(key string, ask mcp.InputRequest) handler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.InputResponses[key] == nil {
			return need(mcp.InputRequestMap{key: ask}, ""), nil
		}
		return say("thanks for %s", key), nil
	}
}

// several asks all things at once under a sealed state.
func several(seal sealer, asks mcp.InputRequestMap) handler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		state, err := seal.open(r.Params.RequestState)
		if err != nil {
			return nil, err
		}
		for key := range asks {
			if state == "" || r.Params.InputResponses[key] == nil {
				return need(asks, seal.close("asked")), nil
			}
		}
		return say("state-ok"), nil
	}
}

// sealer signs the state a client carries back to us.
type sealer struct{ key []byte }

func newSealer() sealer {
	key := make([]byte, 32)
	rand.Read(key)
	return sealer{key}
}

func (s sealer) close(state string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(state))
	return state + "." + hex.EncodeToString(m.Sum(nil))
}

// open gives the state inside; no state at all is the empty one.
func (s sealer) open(sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	state, _, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(s.close(state)), []byte(sealed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state was altered"}
	}
	return state, nil
}
