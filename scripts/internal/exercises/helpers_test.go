package exercises

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

// writeSum writes testkit's exercise, and returns it.
func writeSum(t *testing.T, root, chapter, name string, changes map[string]string) Exercise {
	t.Helper()
	testkit.WriteSum(t, root, chapter, name, changes)
	found, err := Find(root, chapter+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func write(t *testing.T, path, content string) {
	t.Helper()
	testkit.Write(t, filepath.Dir(path), map[string]string{filepath.Base(path): content})
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
