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
func TestPurgeKeepsTheLearnersFiles(t *testing.T) {
	root := t.TempDir()
	t.Setenv("WORKSHOP_ROOT", root)
	exists := func(file string) bool {
		t.Helper()
		_, err := os.Stat(filepath.Join(root, ".workshop", file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	for _, file := range []string{"bin/etcd", "progress.json", "kept/01-1.go"} {
		path := filepath.Join(root, ".workshop", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"down", "--progress"}); code != exitWrongUsage || !exists("bin") {
		t.Errorf("--progress alone: exit code %d", code)
	}
	t.Setenv("WORKSHOP_CLUSTER", "mine")
	if code := run(t.Context(), []string{"down", "--purge"}); code == 0 || !exists("bin") {
		t.Errorf("--purge, with one cluster named: exit code %d", code)
	}
	t.Setenv("WORKSHOP_CLUSTER", "")
	t.Setenv(nodesVariable, "kwok")
	if code := run(t.Context(), []string{"down", "--purge"}); code == 0 || !exists("bin") {
		t.Errorf("--purge, with one kind of clusters named: exit code %d", code)
	}
	t.Setenv(nodesVariable, "")
	if code := run(t.Context(), []string{"down", "--purge"}); code != 0 || exists("bin") || !exists("progress.json") || !exists("kept/01-1.go") {
		t.Errorf("--purge: exit code %d", code)
	}
	if code := run(t.Context(), []string{"down", "--purge", "--progress"}); code != 0 || exists("") {
		t.Errorf("--purge --progress: exit code %d", code)
	}
}

// Without a network, the archive's files can't be restored.
func TestPurgeKeepsTheArchivesFiles(t *testing.T) {
	root := t.TempDir()
	t.Setenv("WORKSHOP_ROOT", root)
	for _, file := range []string{"packed", "go/bin/go", "proxy/a.zip", "bin/etcd", "logs/build.log", "progress.json"} {
		path := filepath.Join(root, ".workshop", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"down", "--purge", "--progress"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	entries, err := os.ReadDir(filepath.Join(root, ".workshop"))
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{"bin", "go", "packed", "proxy"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v (%v)", left, want, err)
	}
}

// Without docker, purge can't delete a kind cluster. It keeps its record, and deletes all others.
func TestPurgeWithoutDocker(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{".workshop/bin/etcd": "", ".workshop/kind/workshop/made": "id"})
	t.Setenv("WORKSHOP_ROOT", root)
	t.Setenv("PATH", t.TempDir())
	if code := run(t.Context(), []string{"down", "--purge"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(root, ".workshop", "bin")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the programs still exist: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, ".workshop", "kind", "workshop", "made")); err != nil {
		t.Errorf("the kind cluster's record is gone: %v", err)
	}
}
