package exercises

// Repositories with made-up exercises, small enough for go test to be done in a moment.

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The exercise of these tests, its solution, and its test.
const (
	givenSum = `//go:build !solution

package sum

// Add adds.
func Add(a, b int) int {
	// YOUR WORK: it forgets b.
	return a
}
`
	solvedSum = `//go:build solution

package sum

// Add adds.
func Add(a, b int) int { return a + b }
`
	testOfSum = `//go:build check || solution

// fails: TestAdd/one and one is two
// says: the sum is 1, want 2

package sum

import "testing"

func TestAdd(t *testing.T) {
	for sentence, test := range map[string]struct{ a, b, want int }{
		"nothing added is no change": {1, 0, 1},
		"one and one is two":         {1, 1, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Add(test.a, test.b); got != test.want {
				t.Errorf("the sum is %d, want %d", got, test.want)
			}
		})
	}
}
`
	hintsOfSum = "# Hints\n\n## A nudge\n\nRead it.\n\n## An approach\n\nUse it.\n\n## Nearly the answer\n\n```sh\n## not a heading\na + b\n```\n"
)

// writeSum writes an exercise with that folder's name into a chapter, changed by what changes has: a file's content, or "" for
// a file that is missing.
func writeSum(t *testing.T, root, chapter, name string, changes map[string]string) Exercise {
	t.Helper()
	number, _, _ := strings.Cut(name, "-")
	files := map[string]string{
		"README.md":        "# " + number + ": Sums\n\nMinutes: 5\n\nAdd.\n",
		"exercise.go":      givenSum,
		"solution.go":      solvedSum,
		"exercise_test.go": testOfSum,
		"hints.md":         hintsOfSum,
	}
	maps.Copy(files, changes)
	for file, content := range files {
		if content != "" {
			write(t, filepath.Join(root, chapter, "exercises", name, file), content)
		}
	}
	write(t, filepath.Join(root, chapter, "go.mod"), "module example.com/"+chapter+"\n\ngo 1.26\n")
	found, err := Find(root, chapter+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// commit commits all that is in root, as a git repository of its own. Without git there is nothing to test: it returns false.
func commit(t *testing.T, root string) bool {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return false
	}
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "--all"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=a"},
	} {
		command := exec.Command("git", append([]string{"-C", root}, args...)...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, output)
		}
	}
	return true
}
