package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

// Programs can be built again, but a learner's work can't.
func TestWhatPurgeKeeps(t *testing.T) {
	learners := []string{"kept", "progress.json"}
	all := append([]string{"bin"}, learners...)
	for sentence, test := range map[string]struct {
		variable string // set to one cluster, or to one kind of clusters
		wantCode int
		want     []string // in .workshop
	}{
		"the learner's files":               {want: learners},
		"everything, if a cluster is named": {variable: "WORKSHOP_CLUSTER", wantCode: exitFailed, want: all},
		"everything, with --on":             {variable: nodesVariable, wantCode: exitFailed, want: all},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{
				".workshop/bin/etcd": "", ".workshop/progress.json": "", ".workshop/kept/01-1.go": "",
			})
			t.Setenv("WORKSHOP_ROOT", root)
			t.Setenv("WORKSHOP_CLUSTER", "")
			t.Setenv(nodesVariable, "")
			if test.variable != "" {
				t.Setenv(test.variable, "kwok")
			}
			if code := run(t.Context(), []string{"down", "--purge"}); code != test.wantCode {
				t.Errorf("exit code %d", code)
			}
			entries, err := os.ReadDir(filepath.Join(root, ".workshop"))
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, entry := range entries {
				left = append(left, entry.Name())
			}
			if !slices.Equal(left, test.want) {
				t.Errorf("left: %v, want %v", left, test.want)
			}
		})
	}
}

// Without docker, purge can't delete a kind cluster. It keeps its record, and deletes all others.
func TestPurgeWithoutDocker(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
		".workshop/bin/etcd": "", ".workshop/kind/workshop/kubeconfig": "",
	})
	t.Setenv("WORKSHOP_ROOT", root)
	t.Setenv(nodesVariable, "")
	t.Setenv("PATH", t.TempDir())
	if code := run(t.Context(), []string{"down", "--purge"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(root, ".workshop", "bin")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the programs still exist: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, ".workshop", "kind", "workshop", "kubeconfig")); err != nil {
		t.Errorf("the kind cluster's record is gone: %v", err)
	}
}
