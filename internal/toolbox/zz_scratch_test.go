package toolbox

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"hearth/internal/hass"
	"hearth/internal/secret"
)

func TestScratchReal(t *testing.T) {
	tok := os.Getenv("TOK")
	if tok == "" {
		return
	}
	b := linked(t, hass.Config{URL: "http://127.0.0.1:8206", Token: secret.New(tok)})
	reg := door(t, b)
	raw, _ := os.ReadFile("/tmp/toolbox/calls.txt")
	for _, l := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		n, args, _ := strings.Cut(l, " ")
		a := reg.Call(t.Context(), reader(), n, json.RawMessage(args))
		fmt.Printf("%s %s  [%d]\n   %.1500s\n", n, args, len(said(a)), said(a))
	}
}
