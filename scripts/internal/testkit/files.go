// Package testkit has what tests share: it writes files, finds the repository's, starts API servers,
// and waits for conditions.
package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Write writes files by their paths relative to dir, with slashes. It creates missing folders,
// replaces existing files, and returns dir.
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

// Repository returns the path from a package in internal/ to the repository. Go's test cache doesn't
// notice changes outside of the module, such as those in the chapters. But a result is only used
// again if the environment variables that the test has read are the same, and the suite's
// TEST_KUBECONFIG is different in each run.
func Repository() string {
	_ = os.Getenv("TEST_KUBECONFIG")
	return "../../.."
}

// Commit commits all files in dir, in a new git repository if necessary. It returns false if there
// is no git command.
func Commit(t testing.TB, dir string) bool {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return false
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=a"},
	} {
		command := exec.Command("git", append([]string{"-C", dir}, args...)...)
		// Neither the user's settings nor the repository of a hook that runs the test count.
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, output)
		}
	}
	return true
}
