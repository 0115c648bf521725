package secret

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite_IsWholeAndPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("open to all"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if fi, serr := os.Stat(path); err != nil || serr != nil || string(b) != text || fi.Mode().Perm() != 0o600 {
			t.Errorf("%q, %v, %v", b, err, serr)
		}
	}
	if err := Write(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a file was written into a file")
	}
	if es, _ := os.ReadDir(filepath.Dir(path)); len(es) != 1 {
		t.Errorf("%d files are left", len(es))
	}
}
