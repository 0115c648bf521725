package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hearth/internal/hass"
	"hearth/internal/health"
	"hearth/internal/home"
	"hearth/internal/secret"
	"hearth/internal/store"
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Name   string        `json:"name"` // data, config, lock, store, process, condition …, or a hop
	OK     bool          `json:"ok"`
	Warn   bool          `json:"warning,omitempty"` // not well, but everything runs
	Detail string        `json:"detail"`
	Remedy string        `json:"remedy,omitempty"`
	Took   time.Duration `json:"took_ns,omitempty"`
	Code   home.Code     `json:"error_code,omitempty"`
}

// Examine looks at the data directory, the configuration, the process that owns
// it, the database and every hop to Home Assistant, in this order. It changes
// nothing, except that looking into the database of an older Hearth, which no
// process owns, brings its schema up to date. Later looks go on where an earlier
// one failed, if they can. Where a process runs, it tests the hops itself: with
// its own settings, from where it is.
func Examine(ctx context.Context, src Sources) []Finding {
	out := []Finding{examineDir(src.Data)}
	l, err := Load(src)
	c, jerr := Join(ctx, src.Data)
	if jerr == nil && err != nil && l.File == "" && len(src.Flags) == 0 {
		out = append(out, Finding{Name: "config", OK: true, Detail: "no file; the running process was started with flags or variables"})
	} else {
		out = append(out, examineConfig(l, err)...)
	}
	switch {
	case jerr == nil:
		defer c.Close()
		return append(out, examineOwner(ctx, c)...)
	case Holder(src.Data) != 0:
		out = append(out, Finding{Name: "process", Code: home.Offline, Detail: fmt.Sprintf("process %d owns the data directory and does not answer", Holder(src.Data)), Remedy: "stop it and start Hearth again"})
	default:
		out = append(out, Finding{Name: "process", OK: true, Detail: "no process runs here"})
		if out[0].OK {
			out = append(out, examineStore(ctx, src.Data))
		}
	}
	if err != nil {
		return out
	}
	return append(out, hops(ctx, Options{Config: l.Config}.link())...)
}

// hops tests the way to Home Assistant, one finding for each hop, up to the
// first that fails.
func hops(ctx context.Context, c hass.Config) []Finding {
	var out []Finding
	for _, h := range hass.Probe(ctx, c) {
		f := Finding{Name: h.Name, OK: h.OK, Detail: h.Detail, Remedy: h.Remedy, Took: h.Took}
		switch {
		case h.OK:
			f.Remedy = ""
		case h.Name == "admin" || h.Name == "rights" || h.Name == "clock":
			f.Warn = true
		case h.Name == "token":
			f.Code = home.Denied
		case h.Name == "url":
			f.Code = home.Invalid
		default:
			f.Code = home.Offline
		}
		out = append(out, f)
	}
	return out
}

func examineDir(dir string) Finding {
	f := Finding{Name: "data", Detail: dir, Code: home.Invalid}
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.OK, f.Detail = true, dir+" does not exist yet; the first start makes it"
		return f
	case err != nil:
		f.Detail, f.Remedy = dir+": "+reason(err), "make it readable for the user Hearth runs as"
		return f
	case !fi.IsDir():
		f.Detail, f.Remedy = dir+" is a file", "choose a directory with --data"
		return f
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		f.Detail, f.Remedy = dir+" cannot be written: "+reason(err), "make it writable for the user Hearth runs as"
		return f
	}
	probe.Close()
	os.Remove(probe.Name())
	var loose []string
	for _, n := range []string{"token", "mcp-token", "ha-token", "hearth.yaml"} {
		if secret.Loose(filepath.Join(dir, n)) {
			loose = append(loose, n)
		}
	}
	if loose != nil {
		f.Warn, f.Detail = true, "others may read "+strings.Join(loose, ", ")+" in "+dir
		f.Remedy = "chmod 600 " + filepath.Join(dir, loose[0])
		return f
	}
	f.OK = true
	return f
}

func examineConfig(l Loaded, err error) []Finding {
	var b *Broken
	if errors.As(err, &b) {
		var out []Finding
		for _, p := range b.Problems {
			remedy := p.Remedy
			p.Remedy = ""
			out = append(out, Finding{Name: "config", Code: home.Invalid, Detail: p.String(), Remedy: remedy})
		}
		return out
	}
	detail := "no file; everything comes from flags, environment and defaults"
	if l.File != "" {
		detail = l.File
	}
	out := []Finding{{Name: "config", OK: true, Detail: detail}}
	for _, n := range l.Notes {
		out = append(out, Finding{Name: "config", Warn: true, Detail: n})
	}
	return out
}

func examineOwner(ctx context.Context, c *Client) []Finding {
	s, err := c.Status(ctx)
	if err != nil {
		return []Finding{{Name: "process", Code: home.CodeOf(err), Detail: err.Error(), Remedy: "stop it and start Hearth again"}}
	}
	where := "no HTTP"
	if s.Listen != "" {
		where = "http://" + s.Listen
	}
	out := []Finding{{Name: "process", OK: true, Detail: fmt.Sprintf("process %d, version %s, %s, %d entities", s.Pid, s.Version, where, s.Entities)}}
	for _, k := range s.Conditions {
		detail := k.Title
		if k.Text != "" {
			detail += ": " + k.Text
		}
		f := Finding{Name: k.Name, Detail: detail + ", since " + k.Since.Format(time.RFC3339), Remedy: k.Remedy, Warn: k.Severity != string(health.Fault)}
		if !f.Warn {
			f.Code = home.Offline
		}
		out = append(out, f)
	}
	for _, f := range s.BadFrames {
		out = append(out, Finding{Name: "frame", Warn: true, Detail: f})
	}
	var hops []Finding
	if err := c.get(ctx, "/hops", &hops); err != nil {
		return append(out, Finding{Name: "process", Code: home.CodeOf(err), Detail: err.Error(), Remedy: "stop it and start Hearth again"})
	}
	return append(out, hops...)
}

// because is the finding with what an error says.
func (f Finding) because(err error) Finding {
	why := failure(err)
	f.Detail, f.Code = why.Message, why.Code
	if why.Hint != "" {
		f.Remedy = why.Hint
	}
	return f
}

func examineStore(ctx context.Context, dir string) Finding {
	if _, err := os.Stat(dbPath(dir)); errors.Is(err, os.ErrNotExist) {
		return Finding{Name: "store", OK: true, Detail: "no database yet; the first start makes it"}
	}
	f := Finding{Name: "store", Detail: dbPath(dir), Code: home.Internal, Remedy: "make the file writable, or restore it from backups/"}
	lock, err := Acquire(dir)
	if err != nil {
		return f.because(err)
	}
	defer lock.Release() // an error here would show at the next start
	db, err := store.Open(ctx, store.Config{Path: dbPath(dir)}, slog.New(slog.DiscardHandler), &health.Registry{})
	if err != nil {
		return f.because(err)
	}
	defer db.Close()
	var verdict string
	if err := db.Reader().QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
		f.Detail = dbPath(dir) + " is damaged: " + firstOf(verdict, fmt.Sprint(err))
		return f
	}
	f.OK, f.Remedy, f.Code = true, "", ""
	return f
}
