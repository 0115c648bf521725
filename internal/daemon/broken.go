package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"hearth/internal/home"
)

// Problem is one thing wrong with the configuration: where it stands, what
// stands there, and what to do. File and Line are empty for what comes from
// the environment or the command line; Field then names the variable or flag.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Field  string `json:"field,omitempty"`
	Value  string `json:"value,omitempty"` // stars for secrets
	Msg    string `json:"message"`
	Remedy string `json:"remedy,omitempty"`
}

// Place is file and line, or where else the setting came from.
func (p Problem) Place() string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	case p.File != "":
		return p.File
	}
	return "configuration"
}

// String is the problem in one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Place())
	b.WriteString(": ")
	if p.Field != "" {
		b.WriteString(p.Field + " ")
		if p.Value != "" {
			fmt.Fprintf(&b, "(%q) ", p.Value)
		}
	}
	b.WriteString(p.Msg)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Broken is a configuration that cannot be used, with everything wrong in it.
type Broken struct{ Problems []Problem }

// Error is one line per problem.
func (b *Broken) Error() string {
	lines := make([]string, len(b.Problems))
	for i, p := range b.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes a Broken an Invalid home.Error, for the exit code.
func (b *Broken) Unwrap() error { return &home.Error{Code: home.Invalid, Msg: b.Error()} }

func (b *Broken) add(p Problem) {
	p.Value = home.Clip(p.Value, 120)
	b.Problems = append(b.Problems, p)
}

// orNil is b as an error, nil when nothing is wrong.
func (b *Broken) orNil() error {
	if len(b.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(b.Problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return b
}

// brokenPage is the whole web page while the configuration is broken. The
// template escapes everything, since values may hold anything.
const brokenPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Hearth: configuration</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}dt{font-weight:600}dd{margin:0 0 .5rem}section{border:1px solid;border-radius:.5rem;padding:1rem;margin:1rem 0}code{overflow-wrap:anywhere}</style></head>
<body><h1>The configuration has an error</h1>
<p>Hearth is waiting and has not touched the house. Correct the following and start it again.</p>
{{range .}}<section><dl>
{{if .File}}<dt>File</dt><dd><code>{{.File}}</code></dd>{{end}}
{{if .Line}}<dt>Line</dt><dd>{{.Line}}</dd>{{end}}
{{if .Field}}<dt>Field</dt><dd><code>{{.Field}}</code></dd>{{end}}
{{if .Value}}<dt>Value</dt><dd><code>{{.Value}}</code></dd>{{end}}
<dt>Problem</dt><dd>{{.Msg}}</dd>
{{if .Remedy}}<dt>Remedy</dt><dd>{{.Remedy}}</dd>{{end}}
</dl></section>
{{end}}</body></html>
`

func writeBrokenPage(w io.Writer, err error) error {
	var b *Broken
	if !errors.As(err, &b) {
		b = &Broken{Problems: []Problem{{Msg: err.Error()}}}
	}
	t, perr := template.New("broken").Parse(brokenPage)
	if perr != nil {
		return perr
	}
	return t.Execute(w, b.Problems)
}
