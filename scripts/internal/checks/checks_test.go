package checks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	good := map[string]string{
		"README.md":           "",
		".gitignore":          "",
		"01-raw-watch/go.mod": "module a\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
		"01-raw-watch/a.go":   "package a\n",
		"scripts/go.mod":      "module b\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
	}
	for sentence, test := range map[string]struct {
		file, content string
		want          []string
	}{
		"all is well":                {"01-raw-watch/b.go", "package a\n", nil},
		"a stray file at the top":    {"notes.txt", "", []string{"notes.txt: doesn't belong at the top of the repository"}},
		"a file that gofmt dislikes": {"scripts/c.go", "package  b\n", []string{"scripts/c.go: gofmt would change it"}},
		"a library in two versions": {"scripts/go.mod", "module b\n\ngo 1.26.0\n\nrequire k8s.io/api v0.36.3\n",
			[]string{"scripts/go.mod: k8s.io/api v0.36.3, but v0.37.2 in 01-raw-watch"}},
		"two versions of Go": {"scripts/go.mod", "module b\n\ngo 1.25.0\n\nrequire k8s.io/api v0.37.2\n",
			[]string{"scripts/go.mod: go 1.25.0, but 1.26.0 in 01-raw-watch"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			write := func(file, content string) {
				path := filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for file, content := range good {
				write(file, content)
			}
			write(test.file, test.content)
			problems, err := All(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(problems, test.want) {
				t.Errorf("found %q, want %q", problems, test.want)
			}
		})
	}
}
