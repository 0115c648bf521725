package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hearth/internal/home"
)

// Lock is the ownership of a data directory. The kernel drops it when the
// process ends, however it ends, so a lock file left behind blocks nobody.
type Lock struct{ f *os.File }

// Acquire makes this process the owner of dir or fails with a Conflict that
// names the holder's pid.
func Acquire(dir string) (*Lock, error) {
	if err := makeDataDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &home.Error{Code: home.Invalid, Msg: fmt.Sprintf("the data directory %s cannot be written: %s", dir, reason(err)),
			Hint: "make it writable for the user Hearth runs as, or choose another with --data", Err: err}
	}
	if err := flock(f); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, held(dir, readPid(f))
	}
	if err := writePid(f, os.Getpid()); err != nil {
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &Lock{f: f}, nil
}

// flock tries for a moment, since Holder of another process may be looking.
func flock(f *os.File) error {
	for try := 0; ; try++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) || try == 5 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Release gives the directory free. The file stays: removing it would let two
// processes lock two files of one name.
func (l *Lock) Release() error {
	if err := l.f.Truncate(0); err != nil {
		l.f.Close()
		return fmt.Errorf("empty the lock: %w", err)
	}
	return l.f.Close()
}

func held(dir string, pid int) error {
	who := "another process"
	if pid > 0 {
		who = "process " + strconv.Itoa(pid)
	}
	return &home.Error{Code: home.Conflict, Msg: who + " already owns the data directory " + dir,
		Hint: "stop it, or choose another directory with --data; call, tools, token and stdio join the owner by themselves"}
}

// Holder is the pid of the process that owns dir, 0 when nobody does.
func Holder(dir string) int {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return 0
	}
	defer f.Close()
	// A shared lock fails exactly while somebody holds the exclusive one.
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return 0
	}
	return max(readPid(f), 1)
}

func readPid(f *os.File) int {
	b, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, 0, 32), 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func writePid(f *os.File, pid int) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0)
	return err
}
