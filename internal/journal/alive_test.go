package journal

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAlive_KeepsWhatWasSaidLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alive")
	a, err := openAlive(path)
	if err != nil {
		t.Fatal(err)
	}
	if a == nil {
		t.Skip("this system has no boot id")
	}
	if got := readAlive(path); got != (lived{}) {
		t.Errorf("it says %+v before anything was said", got)
	}
	want := lived{1_770_000_000_123, 1_770_000_000_000}
	if !a.say(want) {
		t.Error("not said")
	}
	if got := readAlive(path); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[20]++ // another boot
	if err := os.WriteFile(path+"2", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readAlive(path + "2"); got != (lived{}) {
		t.Errorf("another boot's word is believed: %+v", got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if a.say(want) {
		t.Error("the page is gone, yet it was said")
	}
	if !a.say(want) || a.close() != nil {
		t.Error("and it is not used again")
	}
}
