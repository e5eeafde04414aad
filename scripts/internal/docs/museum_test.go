package docs

import (
	"strings"
	"testing"
)

func TestEachExhibitHasItsParts(t *testing.T) {
	const good = "# The museum\n\n## From somewhere\n\n### It eats\n\n" +
		"- Shown in [01: A bug](../01-a/README.md 'It eats')\n" +
		"- The bug: [`TestFix/it is fed`](../01-a/exercises/1-fix/exercise_test.go)\n" +
		"- The fix: [`TestFix`](../01-a/exercises/1-fix/exercise_test.go),\n  [`TestFix/it sleeps`](../01-a/exercises/1-fix/exercise_test.go)\n" +
		"- Upstream: [c.go](https://github.com/a/b/blob/v1.2.3/c.go)\n"
	for sentence, test := range map[string]struct {
		old, new string
		want     []string
	}{
		"all is well":                    {"", "", nil},
		"no list":                        {good[strings.Index(good, "- Shown"):], "", []string{`scripts/MUSEUM.md:5: exhibit "It eats": item 1 of its list should begin with "Shown in", and have a link`}},
		"an item is missing":             {"- The fix", "- Fix", []string{`item 3 of its list should begin with "The fix:"`}},
		"an item without a link":         {"[c.go](https://github.com/a/b/blob/v1.2.3/c.go)", "c.go", []string{`item 4 of its list should begin with "Upstream:", and have a link`}},
		"the address is of a branch":     {"v1.2.3", "main", []string{"https://github.com/a/b/blob/main/c.go isn't the address of a file at a commit or a tag"}},
		"an address of a commit":         {"v1.2.3", strings.Repeat("0a", 20), nil},
		"the test passes as given":       {"it is fed", "it sleeps", []string{"../01-a/exercises/1-fix/exercise_test.go doesn't say at its head that TestFix/it sleeps fails as given"}},
		"the test is gone":               {"it is fed", "it is full", []string{`has no subtest "it is full"`, "doesn't say at its head that TestFix/it is full"}},
		"the section doesn't show a bug": {"'It eats'", "'It sleeps'", []string{`doesn't say "It sleeps"`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := repository(t, map[string]string{
				museum:           strings.Replace(good, test.old, test.new, 1),
				"01-a/README.md": "It **eats**.\n",
				"01-a/exercises/1-fix/exercise_test.go": "// fails: TestFix/it is fed\n\npackage fix\n\nfunc TestFix(t *testing.T) {\n" +
					"\tt.Run(\"it is fed\", nil)\n\tt.Run(\"it sleeps\", nil)\n}\n",
			})
			problems, err := Repository{Root: root}.CheckText(museum)
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, test.want...)
		})
	}
}
