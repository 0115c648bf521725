package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"hearth/internal/home"
)

type callCommand struct {
	settings
	Words []string `arg:"" name:"tool" passthrough:"" help:"The tool, then its flags. Flags of hearth itself stand before."`
}

// Help is the second half of hearth call --help.
func (callCommand) Help() string {
	return "The answer is printed as JSON. The exit status is 0 when all went well, 1 for the outcome failed and errors inside, 2 invalid, 3 not_found, 4 ambiguous, " +
		"5 denied and the outcome refused, 6 offline, 7 conflict, 8 timeout and the outcome unknown."
}

// maxArgs bounds arguments read from a file or from standard input.
const maxArgs = 4 << 20

// Run calls one tool through the door and prints its answer as JSON.
func (c *callCommand) Run(a *app) (err error) {
	t, err := findTool(c.Words[0])
	if err != nil {
		return err
	}
	words, given, err := takeJSON(c.Words[1:])
	if err != nil {
		return err
	}
	for _, w := range words {
		if w == "--help" || w == "-h" {
			return printTool(t)
		}
	}
	f, err := flagsOf(t.Input)
	if err != nil {
		return err
	}
	if words, err = f.where(words, a); err != nil {
		return err
	}
	args, err := f.parse(words, given)
	if err != nil {
		return err
	}
	house, leave, err := a.enter(c.settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if _, err := house.Live(a.ctx); err != nil {
		return err
	}
	answer, err := house.Call(a.ctx, t.Name, args)
	if err != nil {
		return err
	}
	if answer.JSON != nil {
		var out bytes.Buffer
		if err := json.Indent(&out, answer.JSON, "", "  "); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
		fmt.Println(out.String())
	}
	if err := answer.Error.Err(); err != nil {
		return err
	}
	if status := statusOf(answer.Outcome); status != 0 {
		fmt.Fprintf(os.Stderr, "hearth: the outcome is %s; the answer says why\n", answer.Outcome)
		return &exit{status: status}
	}
	return nil
}

// statusOf is the exit status of a call that was answered. What was sent and is
// not seen yet, or waits for a person, went well so far.
func statusOf(o home.Outcome) int {
	switch o {
	case home.Failed:
		return home.Internal.Exit()
	case home.Refused:
		return home.Denied.Exit()
	case home.Unclear:
		return home.Timeout.Exit()
	}
	return 0
}

// takeJSON takes --json out of the words and reads what it names: JSON itself,
// - for standard input, @file.
func takeJSON(words []string) (rest []string, given map[string]json.RawMessage, err error) {
	for i := 0; i < len(words); i++ {
		text, inline := strings.CutPrefix(words[i], "--json=")
		switch {
		case inline:
		case words[i] != "--json":
			rest = append(rest, words[i])
			continue
		case i+1 == len(words):
			return nil, nil, home.Errorf(home.Invalid, "--json wants a value").WithHint(`write --json '{"entity_id":"light.kitchen"}'`)
		default:
			i++
			text = words[i]
		}
		if given, err = readJSON(text); err != nil {
			return nil, nil, err
		}
	}
	return rest, given, nil
}

func readJSON(text string) (map[string]json.RawMessage, error) {
	raw := []byte(text)
	var err error
	switch {
	case text == "-":
		raw, err = io.ReadAll(io.LimitReader(os.Stdin, maxArgs))
	case strings.HasPrefix(text, "@"):
		raw, err = os.ReadFile(text[1:])
	}
	if err != nil {
		return nil, &home.Error{Code: home.Invalid, Msg: "the arguments cannot be read: " + err.Error(), Err: err}
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return nil, home.Errorf(home.Invalid, "--json is no JSON object").WithHint(`write --json '{"entity_id":"light.kitchen"}'`)
	}
	return given, nil
}
