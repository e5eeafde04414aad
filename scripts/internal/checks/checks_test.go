package checks

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	good := map[string]string{
		"02-informers/go.mod": "module c\n\ngo 1.26.0\n",
		"README.md":           "",
		".gitignore":          "",
		"01-raw-watch/go.mod": "module a\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
		"01-raw-watch/a.go":   "package a\n",
		"scripts/go.mod":      "module b\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
	}
	for _, chapter := range []string{"01-raw-watch", "02-informers"} {
		for _, file := range []string{"main.go", "events.go", "reconcile.go", "write.go", "read.go", "desired.go", api + "types.go"} {
			good[chapter+"/"+file] = "// Part of " + chapter + ".\npackage a\n"
		}
		for _, file := range []string{"crd.yaml", "foo.yaml", "rbac.yaml"} {
			good[chapter+"/manifests/"+file] = "kind: A\n"
		}
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
		"a part of the skeleton that differs": {"02-informers/desired.go", "package a\n",
			[]string{"02-informers/desired.go: should be the same as in 01-raw-watch"}},
		"a part that may differ": {"02-informers/write.go", "package a\n", nil},
		"a part that is missing": {"03-workqueue/go.mod", "module d\n\ngo 1.26.0\n", []string{
			"03-workqueue: has no main.go, as chapters 01 to 05 should",
			"03-workqueue: has no events.go, as chapters 01 to 05 should",
			"03-workqueue: has no queue.go, as chapters 03 to 04 should",
			"03-workqueue: has no leader.go, as chapters 03 to 04 should",
			"03-workqueue: has no reconcile.go, as chapters 01 to 05 should",
			"03-workqueue: has no write.go, as chapters 01 to 05 should",
			"03-workqueue: has no read.go, as chapters 01 to 04 should",
			"03-workqueue: has no desired.go, as chapters 01 to 03 should",
			"03-workqueue: has no " + api + "types.go, as chapters 01 to 03 should",
			"03-workqueue: has no manifests/crd.yaml, as chapters 01 to 05 should",
			"03-workqueue: has no manifests/foo.yaml, as chapters 01 to 05 should",
			"03-workqueue: has no manifests/rbac.yaml, as chapters 01 to 05 should",
		}},
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
