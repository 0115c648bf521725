package tool

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"hearth/internal/home"
)

var (
	toolName  = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	fieldName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	uriPart   = regexp.MustCompile(`\{([^}]*)\}`)
)

// fault ends the program with what is wrong in a declaration. A declaration is
// made at start from constants, so this is a programmer's error and a test
// meets it.
func fault(tool, format string, args ...any) {
	panic("tool " + tool + ": " + fmt.Sprintf(format, args...))
}

// declare checks what does not depend on the direction of a tool.
func declare(s Spec, in, out reflect.Type) *declared {
	switch {
	case !toolName.MatchString(s.Name):
		panic(fmt.Sprintf("tool: %q is not a snake_case name", s.Name))
	case len(s.Name) > 40:
		fault(s.Name, "the name is longer than 40 characters")
	case strings.TrimSpace(s.Title) == "":
		fault(s.Name, "no title")
	case strings.TrimSpace(s.About) == "":
		fault(s.Name, "no text about what it is for")
	case len(s.About) > 1000:
		fault(s.Name, "the text about it has %d characters, at most 1,000", len(s.About))
	case s.Class < home.Read || s.Class > home.Danger:
		fault(s.Name, "no class")
	case s.Slow < 0 || s.Slow > 10*time.Minute:
		fault(s.Name, "a deadline of %v", s.Slow)
	case s.Limit < 0 || s.Limit > 100_000:
		fault(s.Name, "a limit of %d bytes", s.Limit)
	}
	s.Examples = slices.Clone(s.Examples)
	d := &declared{spec: s, in: newShape(s.Name, in)}
	if len(s.Examples) > 0 {
		d.in.example = s.Examples[0]
	}
	d.inDoc = d.in.schema()
	d.outDoc, d.fill = outputOf(s.Name, out)
	d.checkExamples()
	d.checkURI()
	return d
}

// checkExamples refuses an example that needs repair or does not fit.
func (d *declared) checkExamples() {
	for _, e := range d.spec.Examples {
		if err := d.in.strict([]byte(e)); err != nil {
			fault(d.spec.Name, "the example %s does not fit its own schema: %v", e, err)
		}
	}
}

// checkURI wants each {part} of a resource's URI to be an argument, and every
// required argument to be a part.
func (d *declared) checkURI() {
	if d.spec.URI == "" {
		return
	}
	parts := map[string]bool{}
	for _, m := range uriPart.FindAllStringSubmatch(d.spec.URI, -1) {
		if _, ok := d.in.byName[m[1]]; !ok {
			fault(d.spec.Name, "the URI's part {%s} is no argument", m[1])
		}
		parts[m[1]] = true
	}
	for _, f := range d.in.fields {
		if f.required && !parts[f.name] {
			fault(d.spec.Name, "the URI does not give the required argument %s", f.name)
		}
	}
}
