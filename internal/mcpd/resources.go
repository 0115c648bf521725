package mcpd

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hearth/internal/home"
	"hearth/internal/tool"
)

// addResources declares every reading tool that has a URI: a resource is the
// same tool through the same door.
func (s *Server) addResources() {
	for _, t := range s.tools.All() {
		spec := t.Spec()
		if spec.URI == "" {
			continue
		}
		h := s.reader(spec)
		if strings.Contains(spec.URI, "{") {
			s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
				Name: spec.Name, Title: spec.Title, Description: spec.About, MIMEType: "application/json", URITemplate: spec.URI,
			}, h)
			continue
		}
		s.sdk.AddResource(&mcp.Resource{
			Name: spec.Name, Title: spec.Title, Description: spec.About, MIMEType: "application/json", URI: spec.URI,
		}, h)
	}
}

// reader reads one resource through the door.
func (s *Server) reader(spec tool.Spec) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		args, ok := arguments(spec.URI, r.Params.URI)
		if !ok {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		a := s.tools.Call(ctx, callerOf(ctx), spec.Name, args)
		if a.Err != nil {
			return nil, resourceError(a.Err, r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: r.Params.URI, MIMEType: "application/json", Text: string(a.JSON),
		}}}, nil
	}
}

// resourceError tells a resource that is not there from one that cannot be read now.
func resourceError(e *home.Error, uri string) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		data = nil
	}
	code := int64(jsonrpc.CodeInternalError)
	switch e.Code {
	case home.NotFound, home.Ambiguous, home.Invalid, home.Denied:
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: e.Error(), Data: data}
}

// arguments are the values that uri has where pattern has {name}. A value is
// one path segment, percent-decoded.
func arguments(pattern, uri string) (json.RawMessage, bool) {
	args := map[string]string{}
	for {
		fixed, rest, ok := strings.Cut(pattern, "{")
		if !strings.HasPrefix(uri, fixed) {
			return nil, false
		}
		uri = uri[len(fixed):]
		if !ok {
			break
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, false
		}
		raw := uri
		if end := strings.IndexByte(uri, '/'); end >= 0 {
			raw = uri[:end]
		}
		value, err := url.PathUnescape(raw)
		if err != nil || value == "" {
			return nil, false
		}
		args[name] = value
		uri, pattern = uri[len(raw):], after
	}
	out, err := json.Marshal(args)
	return out, err == nil && uri == ""
}
