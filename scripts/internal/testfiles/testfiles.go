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

// RefuseGit makes dir a git repository, to the go command's eyes, of which git says nothing: it is another user's.
func RefuseGit(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	bin := Write(t, t.TempDir(), map[string]string{"git": "#!/bin/sh\necho fatal: detected dubious ownership in repository >&2\nexit 128\n"})
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-buildvcs=auto") // go's default, whatever this machine's is
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
