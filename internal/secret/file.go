package secret

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxFile bounds a secret file: a token is some hundred bytes, so anything
// longer is the wrong file.
const maxFile = 64 << 10

// Load reads a secret from a file and trims the white space around it. An
// empty file, a file over 64 KiB and one with several lines are errors, since
// each is a mistake that would otherwise show up as a refused token.
func Load(path string) (Value, error) {
	f, err := os.Open(path)
	if err != nil {
		return Value{}, fmt.Errorf("read secret: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Value{}, fmt.Errorf("read secret: %w", err)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) // editors on Windows add it
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return Value{}, fmt.Errorf("read secret: %s is empty", path)
	case len(b) > maxFile:
		return Value{}, fmt.Errorf("read secret: %s is too long to be a token", path)
	case bytes.ContainsAny(b, "\r\n"):
		return Value{}, fmt.Errorf("read secret: %s has more than one line", path)
	}
	return New(string(b)), nil
}

// Loose reports whether others than the file's owner may read it. It is false
// for a file that is not there.
func Loose(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().Perm()&0o077 != 0
}

// Write puts text into a file that only its owner may read, whole or not at
// all: a crash leaves the old file or the new one, never half of either. What
// was written is on the disk when Write returns.
func Write(path string, text []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir) // the new name must survive a power cut, too
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
