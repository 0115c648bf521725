package daemon

import (
	"io"
	"log/slog"
	"os"

	"hearth/internal/secret"
)

// NewLog makes the logger of a process: text on a terminal, JSON otherwise,
// with every secret starred. Logs go to standard error, never to standard
// output, where MCP speaks.
func NewLog(c Log, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // Load refused anything else; this is for a broken configuration
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "text" || c.Format != "json" && terminal(w) {
		return slog.New(secret.NewHandler(slog.NewTextHandler(w, o)))
	}
	return slog.New(secret.NewHandler(slog.NewJSONHandler(w, o)))
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}

// Redact stars what looks like a token or a password in a line for people.
func Redact(line string) string { return secret.Text(line) }
