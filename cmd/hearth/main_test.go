package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hearth/internal/daemon"
	"hearth/internal/simhome"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hearth": main})
}

// TestScripts runs the conversations of testdata, each with a simulated house
// of its own at $HA_URL and its tokens in the files owner-token, hearth-token
// and user-token.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		Setup:               func(e *testscript.Env) error { return house(t, e) },
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"owned": owned, "http": fetch, "mode": mode, "port": port, "pid": pid,
		},
	})
}

func house(t *testing.T, e *testscript.Env) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := simhome.New(simhome.Options{Seed: 1})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }() // ends with the script
	e.Defer(func() {
		cancel()
		<-done
	})
	e.Setenv("HA_URL", "http://"+l.Addr().String())
	e.Setenv("HOME", e.WorkDir)
	for name, token := range map[string]string{"owner-token": h.OwnerToken(), "hearth-token": h.HearthToken(), "user-token": h.UserToken()} {
		if err := os.WriteFile(filepath.Join(e.WorkDir, name), []byte(token+"\n"), 0o600); err != nil {
			return err
		}
	}
	// A port that nothing listens on.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e.Setenv("NOWHERE", "http://"+free.Addr().String())
	return free.Close()
}

// owned DIR waits until a process owns the directory and answers; ! owned DIR
// until none does.
func owned(ts *testscript.TestScript, neg bool, args []string) {
	dir := ts.MkAbs(args[0])
	within(ts, "owned "+args[0], func() bool {
		c, err := daemon.Join(context.Background(), dir)
		if err != nil {
			return neg && daemon.Holder(dir) == 0
		}
		defer c.Close()
		_, err = c.Live(context.Background())
		return err == nil && !neg
	})
}

func within(ts *testscript.TestScript, what string, ok func() bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			ts.Fatalf("%s: not within 30 s", what)
		}
	}
}

// http URL STATUS [header: value] fetches a page into the file named page.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	var body []byte
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	within(ts, "http "+args[0], func() bool {
		q, err := http.NewRequest(http.MethodGet, args[0], nil)
		ts.Check(err)
		for _, h := range args[2:] {
			k, v, _ := strings.Cut(h, ": ")
			q.Header.Set(k, v)
			if k == "Host" {
				q.Host = v
			}
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			return false // not up yet
		}
		defer a.Body.Close()
		body, err = io.ReadAll(a.Body)
		ts.Check(err)
		if (a.StatusCode == want) == neg {
			ts.Fatalf("%s answers %d: %s", args[0], a.StatusCode, body)
		}
		return true
	})
	ts.Check(os.WriteFile(ts.MkAbs("page"), body, 0o600))
}

// mode FILE 0600 checks a file's mode.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	fi, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	if (fi.Mode().Perm() == os.FileMode(want)) == neg {
		ts.Fatalf("%s has mode %v", args[0], fi.Mode())
	}
}

// port NAME puts a free loopback address into the environment.
func port(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	defer l.Close()
	ts.Setenv(args[0], l.Addr().String())
}

// pid NAME DIR puts the pid of a directory's owner into the environment.
func pid(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], strconv.Itoa(daemon.Holder(ts.MkAbs(args[1]))))
}
