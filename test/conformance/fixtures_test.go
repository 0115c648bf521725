//lint:file-ignore SA1019 the suite requires what the newest revision deprecates

package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// The suite looks for tools, resources and prompts by name. Those a real tool
// can be are declared in the real registry; those that need parts of the
// protocol which Hearth's tools never use (pictures, progress, questions to
// the client) are added to the SDK's server, behind the same chain.

type none struct{}

// words is a fixture's answer.
type words struct {
	Text string `json:"text" jsonschema:"what the fixture says"`
}

// registered are the fixtures that go through the real registry.
func registered() []tool.Tool {
	return []tool.Tool{
		tool.NewRead(tool.Spec{
			Name: "test_simple_text", Title: "Simple text", About: "Answers with a text.", Class: home.Read, Core: true,
		}, func(context.Context, tool.Caller, none) (words, error) {
			return words{"a simple text"}, nil
		}),
		tool.NewRead(tool.Spec{
			Name: "test_error_handling", Title: "Error", About: "Always fails.", Class: home.Read, Core: true,
		}, func(context.Context, tool.Caller, none) (words, error) {
			return words{}, home.Errorf(home.Invalid, "this tool fails on purpose").WithHint("do not call it")
		}),
	}
}

// extend adds the other fixtures.
func extend(s *mcp.Server) {
	addContent(s)
	addQuestions(s)
	addRounds(s)
	addResources(s)
	addPrompts(s)
}

// widen turns on what the fixtures need and Hearth does not advertise.
func widen(o *mcp.ServerOptions) {
	o.Capabilities = nil
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"one", "two"}}}, nil
	}
}

type handler = func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// add declares a fixture that takes an object of string properties.
func add(s *mcp.Server, name string, h handler, properties ...string) {
	props := map[string]any{}
	for _, p := range properties {
		props[p] = map[string]any{"type": "string", "description": p}
	}
	addSchema(s, name, h, map[string]any{"type": "object", "properties": props})
}

func addSchema(s *mcp.Server, name string, h handler, schema any) {
	s.AddTool(&mcp.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: schema}, h)
}

// answers is a handler that always gives the same content.
func answers(c ...mcp.Content) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: c}, nil
	}
}

func text(format string, args ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func say(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{text(format, args...)}}
}

// argument is one string argument of a call.
func argument(r *mcp.CallToolRequest, name string) string {
	var args map[string]any
	if json.Unmarshal(r.Params.Arguments, &args) != nil {
		return ""
	}
	v, _ := args[name].(string)
	return v
}

// picture is a red dot, one pixel in size.
func picture() []byte {
	b, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return b
}

// sound is a WAV file without a sample.
func sound() []byte {
	return []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded text"}}
}

func addContent(s *mcp.Server) {
	image := &mcp.ImageContent{Data: picture(), MIMEType: "image/png"}
	add(s, "test_image_content", answers(image))
	add(s, "test_audio_content", answers(&mcp.AudioContent{Data: sound(), MIMEType: "audio/wav"}))
	add(s, "test_embedded_resource", answers(embedded("test://embedded")))
	add(s, "test_multiple_content_types", answers(text("several kinds"), image, embedded("test://mixed")))
	add(s, "test_tool_with_logging", logging(50*time.Millisecond))
	add(s, "test_logging_tool", logging(0))
	add(s, "test_tool_with_progress", progress)
	add(s, "test_streaming_elicitation", answers(text("no question is asked on this stream")))
	add(s, "test_missing_capability", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if c := r.ClientCapabilities(); c == nil || c.Sampling == nil {
			return nil, missing(&mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}})
		}
		return say("the client can sample"), nil
	})
	add(s, "test_trigger_tool_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add(s, "test_appearing", answers(text("here")))
		return say("the list of tools changed"), nil
	})
	add(s, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "test_appearing", Description: "a prompt that was not there before"}, prompt(text("here")))
		return say("the list of prompts changed"), nil
	})
	addSchema(s, "test_x_mcp_header", answers(text("the headers fit")), map[string]any{
		"type": "object",
		"properties": map[string]any{
			"region": map[string]any{"type": "string", "description": "mirrored in a header", "x-mcp-header": "Region"},
			"count":  map[string]any{"type": "integer", "description": "mirrored in a header", "x-mcp-header": "Count"},
			"flag":   map[string]any{"type": "boolean", "description": "mirrored in a header", "x-mcp-header": "Flag"},
		},
	})
	add(s, "test_reconnection", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		return say("the stream was closed"), nil
	})
}

// missing is the error for a call that needs what the client did not declare.
func missing(need *mcp.ClientCapabilities) error {
	data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: need})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot do what this tool needs", Data: data}
}

// wait passes d or ends with the call.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func logging(pause time.Duration) handler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, line := range []string{"begins", "works", "ends"} {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				return nil, err
			}
			if err := wait(ctx, pause); err != nil {
				return nil, err
			}
		}
		return say("three lines were logged"), nil
	}
}

func progress(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := r.Params.GetProgressToken()
	for _, at := range []float64{0, 50, 100} {
		if token != nil {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100}); err != nil {
				return nil, err
			}
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return say("done"), nil
}

// addQuestions adds the tools that ask a legacy client while they run.
func addQuestions(s *mcp.Server) {
	add(s, "test_sampling", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, err := r.Session.CreateMessage(ctx, sample(argument(r, "prompt")))
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(got.Content)
		return say("the model says %s", b), err
	}, "prompt")
	person := `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}`
	add(s, "test_elicitation", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, r, argument(r, "message"), person)
	}, "message")
	defaults := `{"type":"object","properties":{
		"name":{"type":"string","default":"John Doe"},
		"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},
		"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","default":true}}}`
	add(s, "test_elicitation_sep1034_defaults", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, r, "Who are you?", defaults)
	})
	enums := `{"type":"object","properties":{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["First","Second","Third"]},
		"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`
	add(s, "test_elicitation_sep1330_enums", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, r, "Which ones?", enums)
	})
}

func sample(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", prompt)}}}
}

func question(message, schema string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func ask(ctx context.Context, r *mcp.CallToolRequest, message, schema string) (*mcp.CallToolResult, error) {
	got, err := r.Session.Elicit(ctx, question(message, schema))
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(got.Content)
	return say("the person chose %s: %s", got.Action, b), err
}

func addResources(s *mcp.Server) {
	fixed := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c.URI = r.Params.URI
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	s.AddResource(&mcp.Resource{URI: "test://static-text", Name: "text", MIMEType: "text/plain"}, fixed(mcp.ResourceContents{MIMEType: "text/plain", Text: "a text"}))
	s.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "picture", MIMEType: "image/png"}, fixed(mcp.ResourceContents{MIMEType: "image/png", Blob: picture()}))
	s.AddResource(&mcp.Resource{URI: "test://watched-resource", Name: "watched", MIMEType: "text/plain"}, fixed(mcp.ResourceContents{MIMEType: "text/plain", Text: "watched"}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)}}}, nil
		})
}

func prompt(cs ...mcp.Content) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		r := &mcp.GetPromptResult{}
		for _, c := range cs {
			r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return r, nil
	}
}

func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "a plain prompt"}, prompt(text("a plain prompt")))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "a prompt with a picture"},
		prompt(&mcp.ImageContent{Data: picture(), MIMEType: "image/png"}, text("what is this?")))
	two := []*mcp.PromptArgument{{Name: "arg1", Description: "the first", Required: true}, {Name: "arg2", Description: "the second", Required: true}}
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "a prompt with arguments", Arguments: two},
		func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(text("first %q, second %q", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]))(ctx, r)
		})
	one := []*mcp.PromptArgument{{Name: "resourceUri", Description: "what to embed", Required: true}}
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "a prompt with a resource", Arguments: one},
		func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(embedded(r.Params.Arguments["resourceUri"]), text("read this"))(ctx, r)
		})
}
