// Package testfiles writes the files that a test is about.
package testfiles

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/git"
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

// Commit makes dir a git repository, if it isn't one, and commits all that is in it. It reports whether there is a git command.
func Commit(t testing.TB, dir string) bool {
	t.Helper()
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=a"},
	} {
		_, err := git.Run(t.Context(), dir, args...)
		if errors.Is(err, git.ErrNone) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return true
}
