package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hearth/internal/store"
)

const childEnv = "HEARTH_STORE_TEST_CHILD"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
		return
	}
	os.Exit(m.Run())
}

// child commits and appends until it is killed, and says what it did: "c n"
// after Commit n returned, "a n time" after Append n.
func child(path string) {
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{Path: path, Every: 100 * time.Millisecond}, nil, nil)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	go func() { _ = db.Run(ctx) }() // ends with the process
	for i := 0; ; i++ {
		db.Append(line{fmt.Sprintf("a%08d", i), []byte{1}})
		fmt.Println("a", i, time.Now().UnixMilli())
		if i%7 == 0 {
			if err := db.Commit(ctx, line{fmt.Sprintf("c%08d", i), []byte{1}}); err != nil {
				fmt.Println("error", err)
				return
			}
			fmt.Println("c", i)
		}
	}
}

func TestKill_LosesNoCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hearth.db")
	for round, lines := range []int{50, 3000, 700} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
		committed, appended, killedAt := killAfter(t, path, lines)
		db, err := store.Open(t.Context(), store.Config{Path: path}, nil, nil)
		if err != nil {
			t.Fatalf("round %d: open after kill: %v", round, err)
		}
		var check string
		if err := db.Reader().QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
			t.Fatalf("round %d: integrity: %s %v", round, check, err)
		}
		for _, i := range committed {
			if !has(t, db, fmt.Sprintf("c%08d", i)) {
				t.Errorf("round %d: commit %d returned and is lost", round, i)
			}
		}
		old := 0
		for i, ms := range appended {
			if killedAt-ms > 5000 && !has(t, db, fmt.Sprintf("a%08d", i)) {
				t.Errorf("round %d: append %d is lost after %d ms", round, i, killedAt-ms)
			}
			if i <= committed[len(committed)-1] {
				if old++; !has(t, db, fmt.Sprintf("a%08d", i)) {
					t.Errorf("round %d: append %d came before a commit and is lost", round, i)
				}
			}
		}
		if old == 0 {
			t.Errorf("round %d: nothing was checked", round)
		}
		db.Close()
	}
}

// killAfter starts the child and kills it once it has said n lines.
func killAfter(t *testing.T, path string, n int) (committed []int, appended map[int]int64, at int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appended = map[int]int64{}
	sc := bufio.NewScanner(out)
	for seen := 0; sc.Scan(); seen++ {
		if seen == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			at = time.Now().UnixMilli()
		}
		f := strings.Fields(sc.Text())
		if len(f) < 2 || f[0] == "error" {
			t.Fatalf("child: %s", sc.Text())
		}
		i, _ := strconv.Atoi(f[1])
		if f[0] == "c" {
			committed = append(committed, i)
		} else if len(f) == 3 {
			appended[i], _ = strconv.ParseInt(f[2], 10, 64)
		}
	}
	_ = cmd.Wait() // killed: always an error
	if at == 0 || len(committed) == 0 {
		t.Fatal("the child ended by itself")
	}
	return committed, appended, at
}

func has(t *testing.T, db *store.DB, key string) bool {
	t.Helper()
	b, _, err := db.Blob(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return b != nil
}
