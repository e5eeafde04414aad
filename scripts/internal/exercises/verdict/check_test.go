package verdict

// The output of check. Each case runs a real go test of a learner's code.

import (
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// writeSum writes testkit's exercise, and returns it.
func writeSum(t *testing.T, root string, changes map[string]string) exercises.Exercise {
	t.Helper()
	testkit.WriteSum(t, root, "01-a", "1-sum", changes)
	e, err := exercises.FindOne(root, "01/1")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCheckShows(t *testing.T) {
	const (
		file = "01-a/exercises/1-sum/exercise.go"
		row  = "      the test: 01-a/exercises/1-sum/exercise_test.go:"
	)
	for sentence, test := range map[string]struct {
		source string // of exercise.go, from line 5 on; "": as given
		tests  string // exercise_test.go; "": as given
		limit  time.Duration
		want   string
	}{
		"which tests pass, which fail, and where to look": {
			want: "✗ 01/1 Sums: 1 of 2 tests passed (0.0s)\n\n" +
				"  ✓ nothing added is no change\n" +
				"  ✗ one and one is two\n" +
				"      the sum is 1, want 2\n" +
				"      look at: " + file + ":7 (YOUR WORK in Add)\n" +
				row + "13\n",
		},
		"that all tests pass": {
			source: "func Add(a, b int) int { return a + b }\n",
			want: "✓ 01/1 Sums: passed (0.0s)\n\n" +
				"  ✓ nothing added is no change\n" +
				"  ✓ one and one is two\n",
		},
		"the compiler's errors, with paths from the root": {
			source: "func Add(a, b int) int { return c }\n",
			want:   "✗ 01/1 Sums: it doesn't compile (0.0s)\n\n  " + file + ":5:33: undefined: c\n",
		},
		"that the test needs the original names": {
			source: "func Plus(a, b int) int { return a + b }\n",
			want: "✗ 01/1 Sums: it doesn't compile (0.0s)\n\n" +
				"  01-a/exercises/1-sum/exercise_test.go:16:14: undefined: Add\n\n" +
				"  The test uses the names and types that the original exercise.go declares, so keep them.\n",
		},
		"vet's mistakes": {
			source: "import \"fmt\"\n\nfunc Add(a, b int) int {\n\tfmt.Printf(\"%s\", a)\n\treturn a + b\n}\n",
			want: "✗ 01/1 Sums: go vet finds a mistake (0.0s)\n\n" +
				"  " + file + ":8:14: fmt.Printf format %s has arg a of\n  wrong type int\n",
		},
		"where it panicked": {
			source: "func Add(a, b int) int {\n\tvar sums map[int]int\n\tsums[a] = b\n\treturn a\n}\n",
			tests:  oneTest,
			want: "✗ 01/1 Sums: 0 of 1 test passed (0.0s)\n\n" +
				"  ✗ one and one\n" +
				"      it panicked: assignment to entry in nil map\n" +
				"      look at: " + file + ":7 (in Add)\n" +
				row + "8\n\n" +
				"  The run ended there. The tests after it are missing here.\n",
		},
		"where it panicked, in another goroutine": {
			source: "func Add(a, b int) int {\n\tsum := make(chan int)\n" +
				"\tgo func() {\n\t\tsum <- a / (b - b)\n\t}()\n\treturn <-sum\n}\n",
			want: "it panicked: runtime error: integer divide by zero\n      look at: " + file + ":8 (in Add)\n",
		},
		"where it hangs": {
			source: "func Add(a, b int) int {\n\tsum := make(chan int)\n\treturn <-sum\n}\n",
			limit:  time.Second,
			want: "it didn't finish within 1s, and was stopped\n" +
				"      look at: " + file + ":7 (in Add, waiting: chan\n      receive)\n",
		},
		"what ended the program": {
			source: "import \"log\"\n\nfunc Add(a, b int) int {\n\tlog.SetFlags(0)\n\tlog.Fatal(`oh`)\n\treturn 0\n}\n",
			want: "      printed: oh\n" +
				"      it ended the whole test run, because something in it calls os.Exit or\n      log.Fatal\n" +
				"      look at: " + file + ":7 (the test calls Add)\n",
		},
		"what failed outside the tests": {
			source: "func Add(a, b int) int { return a + b }\n\nfunc init() { panic(`early`) }\n",
			want: "✗ 01/1 Sums: 0 of 1 test passed (0.0s)\n\n" +
				"  ✗ outside the tests\n      it panicked: early\n      look at: " + file + ":7 (in init)\n",
		},
		"the learner's own output, and messages of several lines": {
			source: "import \"fmt\"\n\nfunc Add(a, b int) int {\n\tfmt.Println(`here`, a)\n\treturn a\n}\n",
			tests:  strings.Replace(testkit.SumTest, "the sum is %d, want %d", `the sum is %d\nwant %d`, 1),
			want:   "  ✗ one and one is two\n      printed: here 1\n      the sum is 1\n      want 2\n",
		},
		"a place in an operator's log isn't where to look": {
			tests: strings.Replace(testkit.SumTest, "want %d",
				`want %d\nthe operator's log of this stage:\nI1126 exercise.go:3] Creating`, 1),
			want: "      I1126 exercise.go:3] Creating\n      look at: " + file + ":7 (YOUR WORK in Add)\n",
		},
		"why a test was skipped, which isn't a failure": {
			tests: strings.Replace(testkit.SumTest, "if got",
				"if test.b > 0 {\n\t\t\t\tt.Skip(`there is no cluster`)\n\t\t\t}\n\t\t\tif got", 1),
			want: "✓ 01/1 Sums: passed (0.0s)\n\n  ✓ nothing added is no change\n" +
				"  - one and one is two: not checked\n      there is no cluster\n",
		},
		"that nothing was checked": {
			tests: "package sum\n",
			want: "✗ 01/1 Sums: no test was run (0.0s)\n\n" +
				"  Nothing was checked. Is 01-a/exercises/1-sum/exercise_test.go still the original?\n",
		},
		"the mark in a function that the test calls indirectly, not the first mark": {
			source: "func Sub(a, b int) int {\n\t// YOUR WORK: later.\n\treturn a\n}\n\n" +
				"func Add(a, b int) int { return sum(a, b) }\n\nfunc sum(a, b int) int {\n\treturn a // YOUR WORK\n}\n",
			want: "      look at: " + file + ":13 (YOUR WORK in sum)\n",
		},
		"a mark outside of functions": {
			source: "// YOUR WORK: a number.\nconst one = 0\n\nfunc Add(a, b int) int { return a + b*one }\n",
			want:   "      look at: " + file + ":5 (YOUR WORK)\n",
		},
		"the tests that the subtests belong to, if there are several": {
			tests: severalTests,
			want: "  Add:\n" +
				"    ✗ one and one is two\n" +
				"        the sum is 1, want 2\n" +
				"        look at: " + file + ":7 (YOUR WORK in Add)\n" +
				"        the test: 01-a/exercises/1-sum/exercise_test.go:8\n" +
				"    ✓ nothing added is no change\n" +
				"  ✓ no subtests\n" +
				"  Big numbers:\n" +
				"    ✓ a million and nothing\n",
		},
		"a test without a sentence, by its name": {
			tests: strings.Replace(severalTests, "TestNoSubtests(t *testing.T) { equal(t, 0, Add(0, 0))",
				"TestOneAndOneIsTwo(t *testing.T) { equal(t, 2, Add(1, 1))", 1),
			want: "  ✗ one and one is two\n" +
				"      the sum is 1, want 2\n" +
				"      the test: 01-a/exercises/1-sum/exercise_test.go:12\n",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			files := map[string]string{}
			if test.source != "" {
				files["exercise.go"] = "//go:build !solution\n\npackage sum\n\n" + test.source
			}
			if test.tests != "" {
				files["exercise_test.go"] = test.tests
			}
			root := t.TempDir()
			verdict := check(t, root, writeSum(t, root, files), test.limit)
			page := verdict.Text(ui.NewPalette(false), false)
			if !strings.Contains(page, test.want) {
				t.Errorf("got\n%s\nwant\n%s", page, test.want)
			}
			progress, err := exercises.ReadProgress(root)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.HasPrefix(page, "✓"); progress.Of(verdict.Exercise).Passing != want {
				t.Errorf("recorded as passing: %v, want %v", !want, want)
			}
		})
	}
}

func check(t *testing.T, root string, e exercises.Exercise, limit time.Duration) Verdict {
	t.Helper()
	verdict, err := Checker{Root: root, Limit: limit}.Check(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	verdict.Took = 0
	return verdict
}

// Of seven failures, three are shown, and the others later.
func TestCheckShowsAHandfulOfFailures(t *testing.T) {
	rows := ""
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		rows += `"` + name + `": {1, 1, 2}, `
	}
	test := strings.Replace(testkit.SumTest, `"one and one is two":         {1, 1, 2},`, rows, 1)
	test = strings.Replace(test, "the sum is %d, want %d", `the sum is %d,\nwant %d`, 1)
	root := t.TempDir()
	verdict := check(t, root, writeSum(t, root, map[string]string{"exercise_test.go": test}), 0)
	short, all := verdict.Text(ui.NewPalette(false), false), verdict.Text(ui.NewPalette(false), true)
	const more = "\n  Begin with these. Not shown: 4 failing tests. All at once:\n" +
		"    ./scripts/workshop check 01/1 --all\n"
	for text, want := range map[string]int{"  ✗ ": 3, "  ✓ ": 1, "the sum is 1": 3, "want 2": 3, more: 1} {
		if got := strings.Count(short, text); got != want {
			t.Errorf("in short, %q is there %d times, want %d:\n%s", text, got, want, short)
		}
	}
	if strings.Count(all, "      want 2\n") != 7 || strings.Contains(all, "--all") {
		t.Errorf("in full, got\n%s", all)
	}
}

// oneTest has a subtest in a subtest, and one that comes after.
const oneTest = `//go:build check || solution

package sum

import "testing"

func TestAdd(t *testing.T) {
	t.Run("one and one", func(t *testing.T) {
		if Add(1, 1) != 2 {
			t.Error("it isn't two")
		}
	})
	t.Run("the others", func(t *testing.T) { Add(1, 2) })
}
`

// severalTests has two tests with subtests, and one without.
const severalTests = `//go:build check || solution

package sum

import "testing"

func TestAdd(t *testing.T) {
	t.Run("one and one is two", func(t *testing.T) { equal(t, 2, Add(1, 1)) })
	t.Run("nothing added is no change", func(t *testing.T) { equal(t, 1, Add(1, 0)) })
}

func TestNoSubtests(t *testing.T) { equal(t, 0, Add(0, 0)) }

func TestBigNumbers(t *testing.T) {
	t.Run("a million and nothing", func(t *testing.T) { equal(t, 1e6, Add(1e6, 0)) })
}

func equal(t *testing.T, want, got int) {
	t.Helper()
	if got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
}
`
