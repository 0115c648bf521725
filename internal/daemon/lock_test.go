package daemon

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hearth/internal/home"
)

func TestAcquire_RefusesASecondOwnerWithThePid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	l, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", fi.Mode(), err)
	}
	pid := strconv.Itoa(os.Getpid())
	_, err = Acquire(dir)
	if home.CodeOf(err) != home.Conflict || !strings.Contains(err.Error(), "process "+pid) {
		t.Errorf("second owner: %v", err)
	}
	if Holder(dir) != os.Getpid() {
		t.Errorf("holder %d", Holder(dir))
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if Holder(dir) != 0 {
		t.Errorf("holder %d after release", Holder(dir))
	}
	if l, err = Acquire(dir); err != nil {
		t.Fatalf("after release: %v", err)
	}
	l.Release()
}

func TestAcquire_TakesOverAStaleLock(t *testing.T) {
	dir := t.TempDir()
	for _, left := range []string{"1\n", "999999999\n", "", "rubbish"} {
		if err := os.WriteFile(filepath.Join(dir, "lock"), []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		if h := Holder(dir); h != 0 {
			t.Errorf("%q: holder %d", left, h)
		}
		l, err := Acquire(dir)
		if err != nil {
			t.Fatalf("%q: %v", left, err)
		}
		if h := Holder(dir); h != os.Getpid() {
			t.Errorf("%q: holder %d", left, h)
		}
		l.Release()
	}
}

func TestAcquire_NamesADirectoryThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(filepath.Join(file, "data")); home.CodeOf(err) != home.Invalid || !strings.Contains(err.Error(), "--data") {
		t.Errorf("got %v", err)
	}
}

func TestListenSocket_ReplacesADeadOnesAndTakesLongPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-name-", 12))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds the first's socket
		l, err := listenSocket(dir)
		if err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Stat(SocketPath(dir)); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("socket %v, %v", fi, err)
		}
		c, err := Join(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
	}
	if _, err := Join(t.Context(), dir); home.CodeOf(err) != home.Offline {
		t.Errorf("joined a dead owner: %v", err)
	}
}
