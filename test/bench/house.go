package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"hearth/internal/daemon"
	"hearth/internal/simhome"
)

// sim is a simulated house on a loopback port.
type sim struct {
	*simhome.House
	url  string
	stop func()
}

func startSim(ctx context.Context, entities int) (*sim, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := simhome.New(simhome.Options{Seed: 1, Entities: entities})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { h.Serve(ctx, l); close(ended) }() // ends with ctx
	return &sim{House: h, url: "http://" + l.Addr().String(), stop: func() { cancel(); <-ended }}, nil
}

// server is the measured process.
type server struct {
	cmd   *exec.Cmd
	dir   string
	addr  string
	token string
	ctl   *daemon.Client
	done  chan struct{}
	began time.Time
	keep  bool
}

// startServer runs the binary against a house; dir may hold an earlier run's data.
func startServer(ctx context.Context, bin string, s *sim, dir string) (*server, error) {
	srv := &server{dir: dir, done: make(chan struct{}), keep: dir != ""}
	if dir == "" {
		var err error
		if srv.dir, err = os.MkdirTemp("", "hearth-bench-"); err != nil {
			return nil, err
		}
	}
	tokenFile := filepath.Join(srv.dir, "ha-token")
	if err := os.WriteFile(tokenFile, []byte(s.HearthToken()), 0o600); err != nil {
		return nil, err
	}
	srv.cmd = exec.CommandContext(ctx, bin, "serve", "--data", srv.dir, "--ha-url", s.url, "--ha-token-file", tokenFile, "--listen", "127.0.0.1:0", "--log-format", "json")
	stderr, err := srv.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	srv.began = time.Now()
	if err := srv.cmd.Start(); err != nil {
		return nil, err
	}
	up := make(chan string, 1)
	go func() { // ends with the process
		sc := bufio.NewScanner(stderr)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			var line struct{ Level, Msg, Listen string }
			if json.Unmarshal(sc.Bytes(), &line) == nil && line.Msg == "hearth is up" {
				up <- line.Listen
			} else if line.Level == "ERROR" {
				fmt.Fprintf(os.Stderr, "  hearth: %s\n", sc.Text())
			}
		}
		srv.cmd.Wait()
		close(srv.done)
	}()
	select {
	case srv.addr = <-up:
	case <-srv.done:
		return nil, errors.New("hearth ended at once")
	case <-time.After(60 * time.Second):
		return nil, errors.New("hearth did not come up")
	}
	b, err := os.ReadFile(filepath.Join(srv.dir, "mcp-token"))
	if err != nil {
		return nil, err
	}
	srv.token = strings.TrimSpace(string(b))
	srv.ctl, err = daemon.Join(ctx, srv.dir)
	return srv, err
}

func (s *server) close() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
	if !s.keep {
		os.RemoveAll(s.dir)
	}
}

// until polls the status until ok.
func (s *server) until(ctx context.Context, limit time.Duration, ok func(daemon.Status) bool) (daemon.Status, error) {
	deadline := time.Now().Add(limit)
	for {
		st, err := s.ctl.Status(ctx)
		if err == nil && ok(st) {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, fmt.Errorf("not reached within %s: online %v, live %v, %d entities, %d waiting (%v)", limit, st.Online, st.Live, st.Entities, st.Waiting, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// live waits until the whole house is mirrored. The status counts what a caller
// sees, so a hidden entity or two are missing from it.
func (s *server) live(ctx context.Context, house *sim) (daemon.Status, error) {
	return s.until(ctx, 60*time.Second, func(st daemon.Status) bool { return st.Live && st.Entities >= house.States()-5 })
}

// cpu is the processor time the process has used.
func (s *server) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+2:]))
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond // 100 ticks a second on Linux
}

// memory is the resident size now and the highest so far, in MB.
func (s *server) memory() (now, peak float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kb, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmRSS:":
			now = kb * 1024 / 1e6
		case "VmHWM:":
			peak = kb * 1024 / 1e6
		}
	}
	return now, peak
}
