package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hearth/internal/home"
)

// DataDir says where Hearth keeps everything: the flag, HEARTH_DATA, /data in a
// container, $XDG_DATA_HOME/hearth, else ~/.local/share/hearth. The path is
// absolute; nothing is made yet.
func DataDir(flag string, lookup func(string) (string, bool)) (string, error) {
	env := func(name string) string { s, _ := lookup(name); return s }
	dir := firstOf(flag, env("HEARTH_DATA"))
	switch {
	case dir != "":
	case contained(env("container")):
		dir = "/data"
	case filepath.IsAbs(env("XDG_DATA_HOME")):
		dir = filepath.Join(env("XDG_DATA_HOME"), "hearth")
	default:
		h := env("HOME")
		if h == "" {
			return "", home.Errorf(home.Invalid, "there is no home directory to keep data in").WithHint("say where with --data or HEARTH_DATA")
		}
		dir = filepath.Join(h, ".local", "share", "hearth")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}
	return abs, nil
}

// contained reports whether this looks like a container with a /data volume.
func contained(container string) bool {
	if fi, err := os.Stat("/data"); err != nil || !fi.IsDir() {
		return false
	}
	for _, f := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(f); err == nil {
			return true
		}
	}
	return container != ""
}

// makeDataDir makes the data directory for its owner only.
func makeDataDir(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return &home.Error{Code: home.Invalid, Msg: "the data directory " + dir + " cannot be made: permission denied", Hint: "choose another with --data or HEARTH_DATA", Err: err}
	}
	return &home.Error{Code: home.Invalid, Msg: fmt.Sprintf("the data directory %s cannot be made: %s", dir, reason(err)), Hint: "choose another with --data or HEARTH_DATA", Err: err}
}
