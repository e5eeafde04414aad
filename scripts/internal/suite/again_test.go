package suite

import (
	"context"
	"os"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/testfiles"
	"example.com/operators/scripts/internal/ui"
)

// A failed test runs again, and counts as passed only if it passes then.
func TestFailedTestsRunAgain(t *testing.T) {
	for sentence, test := range map[string]struct {
		body string
		want gotest.Counts
		says string
	}{
		"a test that passes the second time": {
			body: "t.Run(`sub test`, func(t *testing.T) { if os.Mkdir(`first`, 0o700) == nil { t.Error(`too slow`) } })",
			want: gotest.Counts{Passed: 3},
			says: "passed only when nothing else ran:\nexample.com/a TestA/sub_test",
		},
		"a test with a bug": {
			body: "t.Run(`sub test`, func(t *testing.T) { t.Error(os.ErrInvalid) })",
			want: gotest.Counts{Passed: 1, Failed: 2},
			says: "TestA/sub_test failed again",
		},
		"a skipped test isn't tried again": {
			body: "t.Skip(os.ErrInvalid)",
			want: gotest.Counts{Passed: 1, Skipped: 1},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testfiles.Write(t, t.TempDir(), map[string]string{
				"a/go.mod":    "module example.com/a\n\ngo 1.26\n",
				"a/a_test.go": "package a\n\nimport (\n\"os\"\n\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n" + test.body + "\n}\n\nfunc TestB(t *testing.T) {}\n",
			})
			var out output.Buffer
			s := &Suite{Root: root, UI: ui.New(os.Stderr).Beside(&out, func(string) {})}
			s.step(t.Context(), "tests", func(ctx context.Context, step *ui.Step) (string, error) {
				return s.goTest(ctx, step, "a", []string{"GOWORK=off"}, "-run=TestA|TestB", "./...")
			})
			s.runAgain(t.Context())
			if s.counts != test.want || !strings.Contains(out.String(), test.says) {
				t.Errorf("got counts %+v and\n%s\nwant %+v and %q", s.counts, out.String(), test.want, test.says)
			}
			if test.says == "" && strings.Contains(out.String(), "again") {
				t.Errorf("it ran again:\n%s", out.String())
			}
		})
	}
}
