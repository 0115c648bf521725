package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hearth/internal/hass"
	"hearth/internal/journal"
	"hearth/internal/secret"
)

// Config is everything a person can set. YAML keys, HEARTH_* variables, flags,
// docs/config.md and hearth.example.yaml are made from this one declaration:
// the key tag names a setting, help says what it does, default is its value
// when nobody sets it, and env:"only" marks a secret, which no file or command
// line may hold.
type Config struct {
	Listen  string  `key:"listen" default:"127.0.0.1:4663" help:"Address and port of MCP and the pages. Anything but loopback is reachable by others: put TLS in front of it."`
	HA      HA      `key:"ha" help:"The link to Home Assistant"`
	MCP     MCP     `key:"mcp" help:"How MCP clients are served"`
	Store   Store   `key:"store" help:"The database"`
	Mirror  Mirror  `key:"mirror" help:"Live state"`
	Journal Journal `key:"journal" help:"What is written down"`
	Log     Log     `key:"log" help:"Logging, always to standard error"`
	Memory  Memory  `key:"memory" help:"Memory of the process"`
}

// HA is how Home Assistant is reached.
type HA struct {
	URL       string       `key:"url" example:"http://homeassistant.local:8123" help:"Where Home Assistant answers: http:// or https://, host and port."`
	TokenFile string       `key:"token_file" example:"ha-token" help:"File with a long-lived access token, best that of Hearth's own administrator user. In hearth.yaml a relative path starts in the data directory, in a flag or variable where the command runs."`
	Token     secret.Value `key:"token" env:"only" help:"The token itself, instead of ha.token_file."`
	CAFile    string       `key:"ca_file" help:"File with the certificate (PEM) that signed Home Assistant's, for https with a certificate of your own."`
	Insecure  bool         `key:"insecure" default:"false" help:"Accept any certificate. Whoever sits between sees the token; a health condition stays lit."`
	Site      string       `key:"site" default:"ha" help:"Short name of this house in ids and logs."`
}

// MCP is how MCP clients are served.
type MCP struct {
	Sessions     bool     `key:"sessions" default:"true" help:"Keep sessions for clients of the older protocol revisions; off serves every request on its own."`
	Hosts        []string `key:"hosts" example:"hearth.example.org" help:"Further Host names that requests may carry, for use behind a proxy. Loopback names are always allowed."`
	Origins      []string `key:"origins" example:"https://hearth.example.org" help:"Web origins that may call from a browser."`
	CacheMembers bool     `key:"cache_members" default:"false" help:"Send cache hints to clients of the older protocol revisions too; some refuse answers with unknown members."`
}

// Store is how the database writes.
type Store struct {
	FlushEvery time.Duration `key:"flush_every" default:"5s" help:"Journal rows wait at most this long before they are on disk."`
	FlushRows  int           `key:"flush_rows" default:"200" help:"And at most so many rows wait."`
}

// Mirror is how live state is kept for the next start.
type Mirror struct {
	SaveEvery time.Duration `key:"save_every" default:"1m" help:"How often the newest states are saved, to answer from when the house is down at the next start."`
}

// Journal is what is written down.
type Journal struct {
	Rules []journal.Rule `key:"rules" help:"Rules of your own on what is kept; they come before the built-in ones."`
}

// Log is how Hearth logs.
type Log struct {
	Level  string `key:"level" default:"info" enum:"debug,info,warn,error" help:"The least important level that is logged."`
	Format string `key:"format" default:"auto" enum:"auto,text,json" help:"auto is text on a terminal and JSON otherwise."`
}

// Memory is how the garbage collector is set. GOMEMLIMIT and GOGC win. The
// defaults are measured (docs/performance.md). At 5,000 entities under the load
// of every tool a percent of 100, 200 and 400 peaks at 59, 72 and 111 MB, so
// 200 leaves room under the 120 MB of the budget. At 40,000 the limit decides:
// 192, 224 and 256 MiB peak at 224, 259 and 291 MB of resident memory, and the
// smallest costs a tenth more CPU in a storm.
type Memory struct {
	Limit     Bytes `key:"limit" default:"224MiB" help:"Soft limit: near it the collector works harder. GOMEMLIMIT wins."`
	GCPercent int   `key:"gc_percent" default:"200" help:"How much garbage may gather before a collection, in percent of what is alive. GOGC wins."`
}

// Bytes is a size. It is written as 256MiB, 64KiB, 1GiB or a plain number.
type Bytes int64

// String writes the size with the largest unit that fits evenly.
func (b Bytes) String() string {
	for _, u := range []struct {
		name string
		size Bytes
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func parseBytes(s string) (Bytes, error) {
	m := sizePattern.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("is not a size; write it as 256MiB")
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("is too large")
	}
	shift := map[string]int{"": 0, "b": 0, "k": 10, "m": 20, "g": 30}[strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(m[2], "B"), "i"))]
	return Bytes(n) << shift, nil
}

var (
	sizePattern = regexp.MustCompile(`^(\d{1,9})\s*(|B|[KMG]i?B?)$`)
	sitePattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
)

// Fault is one thing wrong with a setting.
type Fault struct {
	Key    string // of the section that checks, without the section's name
	Msg    string
	Remedy string
}

// Check finds what cannot work in the settings outside any section.
func (c *Config) Check() []Fault {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return []Fault{{"listen", "is not an address with a port", "write it as 127.0.0.1:4663"}}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return []Fault{{"listen", fmt.Sprintf("has the port %q, which is no number from 0 to 65535", port), "write it as 127.0.0.1:4663"}}
	} else if n == 8123 {
		return []Fault{{"listen", "takes Home Assistant's own port", "choose another, such as 4663"}}
	}
	if host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return []Fault{{"listen", fmt.Sprintf("has the host %q, which is no IP address", host), "write an address of this machine, such as 127.0.0.1"}}
	}
	return nil
}

// Check finds what cannot work: a missing or odd URL, no token, files that
// cannot be read.
func (h *HA) Check() []Fault {
	var faults []Fault
	if h.URL == "" {
		faults = append(faults, Fault{"url", "is missing", "say where Home Assistant answers, or run hearth setup"})
	} else if msg := checkURL(h.URL); msg != "" {
		faults = append(faults, Fault{"url", msg, "write it as http://homeassistant.local:8123"})
	}
	if h.Token.Empty() && h.TokenFile == "" {
		faults = append(faults, Fault{"token_file", "is missing", "name a file with a long-lived access token, set HEARTH_HA_TOKEN, or run hearth setup"})
	}
	if h.CAFile != "" {
		const remedy = "name a PEM file that the user Hearth runs as may read"
		if _, err := os.Stat(h.CAFile); err != nil {
			faults = append(faults, Fault{"ca_file", "cannot be read: " + reason(err), remedy})
		} else if (hass.Config{URL: "https://localhost", CAFile: h.CAFile}).Check() != nil {
			faults = append(faults, Fault{"ca_file", "holds no certificate that can be read", remedy})
		}
	}
	if h.CAFile != "" && h.Insecure {
		faults = append(faults, Fault{"insecure", "makes ha.ca_file useless", "set only one of the two"})
	}
	if !sitePattern.MatchString(h.Site) {
		faults = append(faults, Fault{"site", "is no short name", "use 1 to 16 lower-case letters and digits, beginning with a letter"})
	}
	return faults
}

func checkURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "does not begin with http:// or https://"
	case u.Hostname() == "":
		return "has no host"
	case u.User != nil:
		return "holds a user name or password; Home Assistant wants a token"
	case u.RawQuery != "" || u.Fragment != "":
		return "has something after the address"
	}
	return ""
}

// Check finds hosts and origins that can never match.
func (m *MCP) Check() []Fault {
	var faults []Fault
	for _, h := range m.Hosts {
		if h == "" || strings.ContainsAny(h, "/ *") {
			faults = append(faults, Fault{"hosts", fmt.Sprintf("holds %q, which is no host name", h), "write names as they stand in the address bar, without http:// and without *"})
		}
	}
	for _, o := range m.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || u.Path != "" || (u.Scheme != "http" && u.Scheme != "https") {
			faults = append(faults, Fault{"origins", fmt.Sprintf("holds %q, which is no origin", o), "write it as https://hearth.example.org, without a path"})
		}
	}
	return faults
}

// Check finds batches that would lose too much or never end.
func (s *Store) Check() []Fault {
	var faults []Fault
	if s.FlushEvery < 100*time.Millisecond || s.FlushEvery > time.Minute {
		faults = append(faults, Fault{"flush_every", "is outside 100ms to 1m", "5s is a good value: a crash loses at most that"})
	}
	if s.FlushRows < 1 || s.FlushRows > 10_000 {
		faults = append(faults, Fault{"flush_rows", "is outside 1 to 10000", "200 is a good value"})
	}
	return faults
}

// Check finds a saving pace that wears the disk or helps nobody.
func (m *Mirror) Check() []Fault {
	if m.SaveEvery < 5*time.Second || m.SaveEvery > time.Hour {
		return []Fault{{"save_every", "is outside 5s to 1h", "1m is a good value"}}
	}
	return nil
}

// Check asks each rule.
func (j *Journal) Check() []Fault {
	var faults []Fault
	for i := range j.Rules {
		if err := j.Rules[i].Check(); err != nil {
			faults = append(faults, Fault{"rules", fmt.Sprintf("holds a rule (number %d) that cannot work: %v", i+1, err), "correct or remove it"})
		}
	}
	return faults
}

// Check has nothing to find: the enum tags bound the words.
func (l *Log) Check() []Fault { return nil }

// Check finds limits under which nothing can run.
func (m *Memory) Check() []Fault {
	var faults []Fault
	if m.Limit < 32<<20 {
		faults = append(faults, Fault{"limit", "is under 32MiB", "224MiB suits most houses"})
	}
	if m.GCPercent < 10 || m.GCPercent > 2000 {
		faults = append(faults, Fault{"gc_percent", "is outside 10 to 2000", "200 is a good value"})
	}
	return faults
}

// reason is an error's last part, without the path that the message names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
