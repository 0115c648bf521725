package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDocuments_AreWhatTheDeclarationsSay compares the committed documents.
func TestDocuments_AreWhatTheDeclarationsSay(t *testing.T) {
	for name, want := range Documents() {
		got, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got) != want {
			t.Errorf("%s is not what the declarations say: run make docs", name)
		}
	}
}
