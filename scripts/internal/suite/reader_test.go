package suite

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestAReadersCopy(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
		"README.md":              "read",
		".dotfile":               "dot",
		".git/HEAD":              "git's",
		".workshop/bin/kubectl":  "the program",
		".workshop/clusters/a/b": "the workshop's",
		"01-a/pkg/a.go":          "package a",
		"scripts/workshop":       "#!/bin/sh",
	})
	if err := os.Chmod(filepath.Join(root, "scripts/workshop"), 0o755); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(root, ".workshop", "reader")
	for range 2 { // what is left of an earlier one is replaced
		if err := copyRepository(root, copied, filepath.Join(root, ".workshop", "bin")); err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{
			"README.md": "read", ".dotfile": "dot", "01-a/pkg/a.go": "package a", "scripts/workshop": "#!/bin/sh",
			".workshop/bin/kubectl": "the program",
			".git/HEAD":             "", ".workshop/clusters/a/b": "", ".workshop/reader/README.md": "",
		} {
			content, err := os.ReadFile(filepath.Join(copied, file))
			if got := string(content); got != want || (err == nil) != (want != "") {
				t.Errorf("%s: %q, error %v, want %q", file, got, err, want)
			}
		}
		if info, err := os.Stat(filepath.Join(copied, "scripts/workshop")); err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("scripts/workshop can't be run: %v, error %v", info.Mode(), err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(root, ".workshop/bin/kubectl")); err != nil || string(content) != "the program" {
		t.Errorf("got the repository's own program %q, error %v, want it unchanged", content, err)
	}
}
