package docs

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/operators/scripts/internal/testkit"
)

func repository(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	return testkit.Write(t, t.TempDir(), files)
}

// markdownText joins lines, and replaces ”' by a fence, which Go's raw strings can't contain.
func markdownText(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "'''", "```")
}

// wantProblems checks that the error contains all of this, or that there is none.
func wantProblems(t *testing.T, got error, want ...string) {
	t.Helper()
	if (got != nil) != (len(want) > 0) {
		t.Fatalf("error %v, want %q", got, want)
	}
	for _, part := range want {
		if !strings.Contains(got.Error(), part) {
			t.Errorf("the error is\n%v\nwhich does not contain\n%s", got, part)
		}
	}
}

func TestFilesAreThoseOfChaptersScriptsAndGitHub(t *testing.T) {
	root := repository(t, map[string]string{
		"README.md":                             "",
		"NOTES.md":                              "nobody's",
		"01-raw-watch/README.md":                "",
		"01-raw-watch/main.go":                  "",
		"01-raw-watch/exercises/1-get/hints.md": "",
		"scripts/acceptance/MATRIX.md":          "",
		".github/CONTRIBUTING.md":               "",
		".workshop/01-raw-watch/README.md":      "",
		"01-raw-watch/.workshop/README.md":      "",
		".git/README.md":                        "",
		"other/README.md":                       "",
	})
	got, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".github/CONTRIBUTING.md", "01-raw-watch/README.md", "01-raw-watch/exercises/1-get/hints.md", "README.md",
		"scripts/acceptance/MATRIX.md",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	root := repository(t, map[string]string{"README.md": markdownText(
		"'''console what", "$ true", "'''",
		"[gone](gone.md)",
		"", "<!-- code: gone.go -->",
	)})
	wantProblems(t, CheckText(root, "README.md"),
		"README.md:1: console block: ", `README.md:4: link "gone.md"`, "README.md:6: <!-- code: gone.go -->")
}
