package main

import (
	"os"
	"syscall"
	"unsafe"
)

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool {
	_, err := termios(f)
	return err == nil
}

// hideInput stops the terminal from showing what is typed, until restore.
func hideInput(f *os.File) (restore func(), err error) {
	old, err := termios(f)
	if err != nil {
		return nil, err
	}
	hidden := old
	hidden.Lflag &^= syscall.ECHO
	if err := setTermios(f, &hidden); err != nil {
		return nil, err
	}
	return func() { setTermios(f, &old) }, nil
}

func termios(f *os.File) (t syscall.Termios, err error) {
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&t))); e != 0 {
		return t, e
	}
	return t, nil
}

func setTermios(f *os.File, t *syscall.Termios) error {
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TCSETS, uintptr(unsafe.Pointer(t))); e != 0 {
		return e
	}
	return nil
}
