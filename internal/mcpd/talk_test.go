package mcpd

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the conversations in testdata anew")

// A conversation is a txtar file: its comment says what it shows, and its files
// alternate between what is sent and what comes back. What is sent begins with
// "METHOD path [as token]", then headers, an empty line and the body. Three
// headers are ours: "Modern: method [name]" stands for the modern era's
// headers, "Session: yes" for the session opened last, "Times: n" repeats the
// request and shows the last answer. META in a body stands for the members a
// modern client sends about itself, BIG for more than the cap allows.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := Config{Sessions: !bytes.Contains(ar.Comment, []byte("sessions: off")), Origins: []string{"https://panel.example"}, Hosts: []string{"hearth.example"}}
			c.CacheMembers = bytes.Contains(ar.Comment, []byte("cache members: on"))
			talk := &conversation{house: newHouse(t, &c)}
			for i := 0; i+1 < len(ar.Files); i += 2 {
				got := talk.say(t, string(ar.Files[i].Data))
				if want := string(ar.Files[i+1].Data); got != want && !*update {
					t.Errorf("%s:\n--- got\n%s--- want\n%s", ar.Files[i].Name, got, want)
				}
				ar.Files[i+1].Data = []byte(got)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type conversation struct {
	house   *testHouse
	session string
}

const aboutClient = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`

// say sends what text describes and shows what came back.
func (c *conversation) say(t *testing.T, text string) string {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	first := strings.Fields(lines[0])
	body = strings.ReplaceAll(strings.TrimSpace(body), "META", aboutClient)
	body = strings.ReplaceAll(body, "BIG", strings.Repeat("x", maxBody))
	times := 1
	var got string
	for i := 0; i < times; i++ {
		r, err := http.NewRequestWithContext(t.Context(), first[0], c.house.url+first[1], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		if len(first) == 4 {
			r.Header.Set("Authorization", "Bearer "+first[3]+"-token")
		}
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ": ")
			if name == "Times" {
				if times, err = strconv.Atoi(value); err != nil {
					t.Fatal(err)
				}
				continue
			}
			c.header(r, name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got = c.show(t, resp)
	}
	return got
}

func (c *conversation) header(r *http.Request, name, value string) {
	switch name {
	case "Modern":
		method, about, _ := strings.Cut(value, " ")
		r.Header.Set("Mcp-Protocol-Version", modern)
		r.Header.Set("Mcp-Method", method)
		if about != "" {
			r.Header.Set("Mcp-Name", about)
		}
	case "Session":
		r.Header.Set(headSession, c.session)
	case "Host":
		r.Host = value
	default:
		r.Header.Set(name, value)
	}
}

var ourID = regexp.MustCompile(`(call|req)_[0-9a-z]{10}`)

// show writes an answer down: status, the headers that matter, the body with
// its JSON indented and what differs from run to run replaced.
func (c *conversation) show(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if id := r.Header.Get(headSession); id != "" {
		c.session = id
		r.Header.Set(headSession, "(a session)")
	}
	if got := r.Header.Get("X-Request-Id"); !strings.HasPrefix(got, "req_") {
		t.Errorf("request id %q", got)
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.StatusCode)
	var names []string
	for name := range r.Header {
		if !slices.Contains([]string{"Date", "Content-Length", "X-Request-Id", "X-Content-Type-Options", "Cache-Control", "X-Accel-Buffering", "Vary", "Connection"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
	}
	if r.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("a proxy may buffer this")
	}
	b.WriteByte('\n')
	for line := range strings.Lines(string(body)) {
		line = strings.TrimRight(line, "\n")
		prefix := ""
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			prefix, line = "data: ", data
		}
		var pretty bytes.Buffer
		if json.Indent(&pretty, []byte(line), "", "  ") == nil && line != "" {
			line = pretty.String()
		}
		b.WriteString(ourID.ReplaceAllString(prefix+line, "${1}_0000000000") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
