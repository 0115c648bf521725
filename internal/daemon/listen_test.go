package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestListenSocket_IsNeverOpenToOthers opens the socket in a directory that
// others may enter, with a umask that takes nothing away, and looks all the time.
func TestListenSocket_IsNeverOpenToOthers(t *testing.T) {
	for _, name := range []string{"data", strings.Repeat("long", 30)} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		old := syscall.Umask(0)
		defer syscall.Umask(old)
		path := SocketPath(dir)
		var over, open atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for !over.Load() {
				if fi, err := os.Lstat(path); err == nil && fi.Mode().Perm() != 0o600 {
					open.Store(true)
				}
			}
		})
		for range 200 {
			l, err := listenSocket(dir)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
		}
		over.Store(true)
		wg.Wait()
		if open.Load() {
			t.Errorf("%s: others could have reached the socket", name)
		}
		l, err := listenSocket(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s: the socket is %v, %v", name, fi.Mode(), err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		short, done, err := shortPath(path)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		c, err := net.Dial("unix", short)
		if err != nil {
			t.Fatalf("%s: nobody answers: %v", name, err)
		}
		c.Close()
	}
}
