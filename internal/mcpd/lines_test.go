package mcpd

import (
	"io"
	"strings"
	"testing"

	"hearth/internal/home"
)

// Whatever stands on a line, the conversation goes on, and nobody's call is lost.
func TestNoLineEndsTheConversation(t *testing.T) {
	for name, line := range map[string]string{
		"an empty batch":               `[]`,
		"a batch where there are none": `[{"jsonrpc":"2.0","id":9,"method":"ping"}]`,
		"nothing but a version":        `{"jsonrpc":"2.0"}`,
		"an object for an id":          `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"half an id":                   `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		"true for an id":               `{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		"no id where one is named":     `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"an id beyond all numbers":     `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		"an id that would be cut":      `{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}`,
		"an error that is none":        `{"jsonrpc":"2.0","id":5,"error":7}`,
		"an error without a code":      `{"jsonrpc":"2.0","id":5,"error":{}}`,
		"a number for a method":        `{"jsonrpc":"2.0","id":5,"method":7}`,
		"an empty method":              `{"jsonrpc":"2.0","id":5,"method":""}`,
		"keys in other letters":        `{"JSONRPC":"2.0","ID":5,"Method":"ping"}`,
		"null":                         `null`,
		"a deep nest":                  `{"jsonrpc":"2.0","id":5,"method":"ping","params":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000) + `}`,
		"a nest of lists":              strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, nil)
			in := strings.Join([]string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, line, `{"jsonrpc":"2.0","id":"end","method":"ping"}`}, "\n")
			var out sink
			if err := h.ServeStdio(t.Context(), stdioCaller(home.Read), io.NopCloser(strings.NewReader(in)), &out); err != nil {
				t.Error(err)
			}
			if !strings.Contains(out.String(), `"id":"end","result"`) {
				t.Errorf("nothing after it was answered: %s", out.String())
			}
			if !strings.Contains(out.String(), `"code":-32`) {
				t.Errorf("it was passed over in silence: %s", out.String())
			}
		})
	}
}

func TestJudgeOfLines(t *testing.T) {
	for line, code := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                0,
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"{[\"\\"}}`:                    0,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                                    0,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`:                           0,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]`: 0,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`:     codeRequest,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`:                                            codeRequest,
		`[]`:                      codeRequest,
		`{"jsonrpc":"2.0","id":1`: codeParse,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`: codeParse,
	} {
		l := lines{revision: batching}
		if m := l.judge([]byte(line)); m.code != code || code == 0 && m.why != "" {
			t.Errorf("%s: %d %s", line, m.code, m.why)
		}
	}
}

func FuzzJudgeOfLines(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"a","method":"ping"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 {
			return
		}
		l := lines{revision: batching}
		if m := l.judge(line); (m.code == 0) != (m.why == "") {
			t.Errorf("%q: %+v", line, m)
		}
	})
}
