package mcpd

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/tool"
)

type callerKey struct{}

// callerOf is who calls; the zero Caller, which may nothing, where nobody does.
func callerOf(ctx context.Context) tool.Caller {
	c, _ := ctx.Value(callerKey{}).(tool.Caller)
	return c
}

// receive is the middleware around everything the SDK dispatches, in both eras
// and on stdio: it knows the caller, catches panics, ends calls nobody waits
// for, filters the list by the grant and keeps answers true to their era.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.panicked(method, p)
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong inside Hearth; its log says what"}
			}
		}()
		req, ok := requestOf(ctx, r)
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request lost its caller"}
		}
		ctx = context.WithValue(ctx, callerKey{}, req.caller)
		switch method {
		case "tools/call", "resources/read", "prompts/get":
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer req.cancels(cancel)()
			if req.stream != nil {
				req.stream.arm()
			}
		}
		s.spell(r)
		if res, err = next(ctx, method, r); err != nil {
			return nil, s.unknown(ctx, r, err)
		}
		if list, ok := res.(*mcp.ListToolsResult); ok {
			s.filter(list, req.caller)
		}
		return s.era(r, res), nil
	}
}

// spell writes the name of a called tool as the catalogue does: the SDK knows
// exact names only, while a tool is found however a client cases or divides it.
func (s *Server) spell(r mcp.Request) {
	p, ok := r.GetParams().(*mcp.CallToolParamsRaw)
	if !ok || p == nil {
		return
	}
	if t, ok := s.tools.Find(p.Name); ok {
		p.Name = t.Spec().Name
	}
}

// unknown puts the names the door finds near it into the error of a call of a
// tool there is not.
func (s *Server) unknown(ctx context.Context, r mcp.Request, err error) error {
	p, ok := r.GetParams().(*mcp.CallToolParamsRaw)
	var e *jsonrpc.Error
	if !ok || !errors.As(err, &e) || e.Code != jsonrpc.CodeInvalidParams {
		return err
	}
	if _, ok := s.tools.Find(p.Name); ok {
		return err
	}
	if a := s.tools.Call(ctx, callerOf(ctx), p.Name, nil); a.Err != nil {
		return &jsonrpc.Error{Code: e.Code, Message: a.Err.Error(), Data: e.Data}
	}
	return err
}

// filter leaves the tools the caller's grant reaches and the profile lists,
// in the catalogue's order.
func (s *Server) filter(list *mcp.ListToolsResult, c tool.Caller) {
	visible := map[string]bool{}
	for _, t := range s.tools.Visible(c) {
		visible[t.Spec().Name] = s.profile.lists(t.Spec())
	}
	list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool {
		_, ours := s.order[t.Name]
		return ours && !visible[t.Name]
	})
	slices.SortStableFunc(list.Tools, func(a, b *mcp.Tool) int { return s.order[a.Name] - s.order[b.Name] })
}

// How long a client may keep an answer, in milliseconds.
const (
	listTTL = 60_000
	readTTL = 0 // the house moves
)

// cacheable marks every answer as the caller's own: what is listed and read
// depends on the token.
func cacheable(_ context.Context, r mcp.Request, c *mcp.Cacheable) {
	c.CacheScope = "private"
	c.TTLMs = listTTL
	if _, ok := r.(*mcp.ReadResourceRequest); ok {
		c.TTLMs = readTTL
	}
}

// era takes the cache members out of answers to legacy peers, whose revisions
// do not know them.
func (s *Server) era(r mcp.Request, res mcp.Result) mcp.Result {
	if s.cacheMembers {
		return res
	}
	if _, ok := res.(mcp.CacheableResult); !ok {
		return res
	}
	if p := r.GetParams(); p != nil {
		if v, _ := p.GetMeta()[mcp.MetaKeyProtocolVersion].(string); v >= modern {
			return res
		}
	}
	switch x := res.(type) {
	case *mcp.ListToolsResult:
		return plainTools{x}
	case *mcp.ListPromptsResult:
		return plainPrompts{x}
	case *mcp.ListResourcesResult:
		return plainResources{x}
	case *mcp.ListResourceTemplatesResult:
		return plainTemplates{x}
	case *mcp.ReadResourceResult:
		return plainRead{x}
	}
	return res
}

// The five answers of the legacy era, without cache members.
type (
	plainTools     struct{ *mcp.ListToolsResult }
	plainPrompts   struct{ *mcp.ListPromptsResult }
	plainResources struct{ *mcp.ListResourcesResult }
	plainTemplates struct {
		*mcp.ListResourceTemplatesResult
	}
	plainRead struct{ *mcp.ReadResourceResult }
)

// page is the part every list shares.
type page struct {
	Meta mcp.Meta `json:"_meta,omitempty"`
	Next string   `json:"nextCursor,omitempty"`
}

// MarshalJSON writes the list as the legacy revisions define it.
func (l plainTools) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		page
		Tools []*mcp.Tool `json:"tools"`
	}{page{l.Meta, l.NextCursor}, l.Tools})
}

// MarshalJSON writes the list as the legacy revisions define it.
func (l plainPrompts) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		page
		Prompts []*mcp.Prompt `json:"prompts"`
	}{page{l.Meta, l.NextCursor}, l.Prompts})
}

// MarshalJSON writes the list as the legacy revisions define it.
func (l plainResources) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		page
		Resources []*mcp.Resource `json:"resources"`
	}{page{l.Meta, l.NextCursor}, l.Resources})
}

// MarshalJSON writes the list as the legacy revisions define it.
func (l plainTemplates) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		page
		Templates []*mcp.ResourceTemplate `json:"resourceTemplates"`
	}{page{l.Meta, l.NextCursor}, l.ResourceTemplates})
}

// MarshalJSON writes the contents as the legacy revisions define them.
func (l plainRead) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Meta     mcp.Meta                `json:"_meta,omitempty"`
		Contents []*mcp.ResourceContents `json:"contents"`
	}{l.Meta, l.Contents})
}
