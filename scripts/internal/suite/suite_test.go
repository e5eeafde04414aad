package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/testkit"
)

// A text's commands must not act on the user's cluster, whatever the environment of the test run
// says.
func TestTextsRunOnTheirOwnCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/the/users")
	t.Setenv("WORKSHOP_ON", "kind")
	s := &Suite{Root: t.TempDir()}
	c := cluster.New(s.Root, readersCluster)
	last := map[string]string{}
	for _, variable := range s.readersEnvironment(c) {
		name, value, _ := strings.Cut(variable, "=")
		last[name] = value
	}
	for name, want := range map[string]string{
		"KUBECONFIG": c.Kubeconfig(), "WORKSHOP_CLUSTER": readersCluster, "WORKSHOP_ON": "",
	} {
		if last[name] != want {
			t.Errorf("%s=%s, want %s", name, last[name], want)
		}
	}
	if path := filepath.SplitList(last["PATH"]); path[0] != binOf(s.Root) {
		t.Errorf("the workshop's kubectl isn't first in PATH: %v", path)
	}
}

func TestAReadersCopyHasOnlySourcesAndTheControlPlane(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{
		"README.md": "read", ".dotfile": "dot", "01-a/pkg/a.go": "package a",
		".git/HEAD": "git's", ".workshop/bin/kubectl": "the program", ".workshop/clusters/a/b": "the workshop's",
	})
	copied := readersCopy(root)
	for range 2 { // the second one replaces the first
		if err := copyRepository(root, copied); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"README.md": "read", ".dotfile": "dot", "01-a/pkg/a.go": "package a", ".workshop/bin/kubectl": "the program",
		".git/HEAD": "", ".workshop/clusters/a/b": "", ".workshop/reader/README.md": "",
	} {
		content, err := os.ReadFile(filepath.Join(copied, file))
		if got := string(content); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, error %v, want %q", file, got, err, want)
		}
	}
}
