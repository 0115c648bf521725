package journal

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The mark in the database says once a minute how far an idle journal has come;
// oftener would wear a memory card. In between an alive file says it: one page
// of memory shared with the system, which outlives a kill of this process and
// costs no write to the disk when it changes. A power cut may keep the page and
// lose rows that were not synced, so it is believed only within the boot that
// wrote it; after a power cut the mark in the database speaks.

const (
	bootFile  = "/proc/sys/kernel/random/boot_id" // Linux; elsewhere there is no alive file
	bootSize  = 36
	aliveSize = 16 + bootSize // two numbers and the boot's id
)

// alive is the open alive file; nil does nothing.
type alive struct{ page []byte }

// lived is what an alive file says: everything that happened up to till is in a
// database whose own mark is base or later.
type lived struct{ till, base int64 }

// readAlive gives what an earlier run of this boot left; zero without one.
func readAlive(path string) lived {
	b, err := os.ReadFile(path)
	boot := bootID()
	if err != nil || boot == nil || len(b) != aliveSize || !bytes.Equal(b[16:], boot) {
		return lived{}
	}
	return lived{int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))}
}

func bootID() []byte {
	b, err := os.ReadFile(bootFile)
	if err != nil || len(b) < bootSize {
		return nil
	}
	return b[:bootSize]
}

// openAlive begins an alive file that says nothing yet. It gives nil where the
// system has no boot id.
func openAlive(path string) (*alive, error) {
	boot := bootID()
	if path == "" || boot == nil {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Written, not only made longer: the page must have its place on the disk
	// before it is shared, or a full disk would fault.
	if _, err := f.WriteAt(append(make([]byte, 16), boot...), 0); err != nil {
		return nil, err
	}
	if err := f.Truncate(aliveSize); err != nil {
		return nil, err
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, aliveSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &alive{page}, nil
}

// say writes l. It reports false when the file was taken away beneath it: then
// the page is lost and must not be used again.
func (a *alive) say(l lived) (ok bool) {
	if a == nil || a.page == nil {
		return true
	}
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if recover() != nil {
			a.page, ok = nil, false
		}
	}()
	atomic.StoreInt64((*int64)(unsafe.Pointer(&a.page[8])), l.base)
	atomic.StoreInt64((*int64)(unsafe.Pointer(&a.page[0])), l.till)
	return true
}

// close lets go of the page.
func (a *alive) close() error {
	if a == nil || a.page == nil {
		return nil
	}
	page := a.page
	a.page = nil
	return syscall.Munmap(page)
}
