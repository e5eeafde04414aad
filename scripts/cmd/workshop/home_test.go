//go:build leftovers

package main

// The first commands, with an empty home folder:
//
//	go test -tags=leftovers -run=TestTheUsersHome -v ./cmd/workshop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheUsersHomeStaysUnchanged(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	// Go keeps its folders, so that nothing has to be built again.
	output, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOENV").Output()
	if err != nil {
		t.Fatal(err)
	}
	var goes map[string]string
	if err := json.Unmarshal(output, &goes); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	environment := append(os.Environ(), "HOME="+home, "WORKSHOP_CLUSTER=home", "WORKSHOP_ON=kwok")
	for name, value := range goes {
		environment = append(environment, name+"="+value)
	}
	environment = slices.DeleteFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, "XDG_") })
	for _, args := range []string{"up", "kubectl get nodes", "kubectl api-resources", "demo 01", "down"} {
		command := exec.Command(filepath.Join(root, "scripts", "workshop"), strings.Fields(args)...)
		command.Env = environment
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", args, err, output)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, ".workshop", "clusters", "home")); err != nil {
		t.Error(err)
	}
	err = filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if rest, _ := filepath.Rel(home, path); slices.Contains([]string{".config/go", "Library/Application Support/go"}, rest) {
			return filepath.SkipDir // the go command's telemetry
		}
		if err == nil && !entry.IsDir() {
			t.Errorf("%s was created in the home folder", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
