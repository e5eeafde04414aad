// Package testfiles writes the files that a test is about.
package testfiles

import (
	"os"
	"path/filepath"
	"testing"
)

// Write writes files below dir, by their paths relative to it, with slashes. Folders that aren't there are made, and files that are there
// replaced. It returns dir.
func Write(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
