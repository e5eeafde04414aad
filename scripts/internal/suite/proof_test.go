package suite

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

// proofOf proves and lints the exercises of chapter 01-a, and returns the problems.
func proofOf(t *testing.T, root string) (problems string) {
	t.Helper()
	inRun(t, root, func(s *Suite) {
		chapter := chapters.Chapter{Name: "01-a", Dir: filepath.Join(root, "01-a")}
		_, proofErr := s.prove(t.Context(), s.UI.Start("proof"), chapter)
		problems = errorText(proofErr) + errorText(s.lintExercises(t.Context(), chapter, ""))
	})
	return problems
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// Each defect is in an exercise of its own. One run checks them all.
func TestTheProofFinds(t *testing.T) {
	root := t.TempDir()
	// with returns an exercise's file after a change.
	with := func(content, old, new string) string { return strings.Replace(content, old, new, 1) }
	const (
		exercise, solution, test, mistakes = "exercise.go", "solution.go", "exercise_test.go", "mistakes.yaml"
		announced                          = "// fails: TestAdd/nothing added is no change\n// says: the sum is\n//\n"
		skips                              = "if test.b == 0 {\n\t\t\t\tt.Skip(`no`)\n\t\t\t}\n\t\t\tif got"
	)
	type files = map[string]string
	defects := map[string]struct {
		folder string
		files  files
		want   string // the problem after the exercise's path; "": none
	}{
		"a good exercise": {
			"1-good", nil, "",
		},
		"an exercise that passes as given": {
			"2-passes", files{exercise: testkit.SumSolvedInPlace + "\n// YOUR WORK: none\n"},
			": as given, TestAdd/one_and_one_is_two should fail, and doesn't",
		},
		"an exercise that doesn't compile as given": {
			"3-broken", files{exercise: testkit.SumGiven + "func Sub() { nothing }\n"},
			": as given, it doesn't compile:\n01-a/exercises/3-broken/exercise.go:10:14: undefined: nothing",
		},
		"an exercise that fails for another reason": {
			"4-reason", files{
				exercise: with(testkit.SumGiven, "return a", "return a * 9"),
				test:     with(testkit.SumTest, "{1, 0, 1}", "{0, 0, 0}"),
			},
			": as given, TestAdd/one_and_one_is_two fails for another reason than \"the sum is 1, want 2\":\n" +
				"the sum is 9, want 2",
		},
		"a failure that isn't announced": {
			"5-more", files{
				exercise: with(testkit.SumGiven, "return a", "return 1"),
				test:     with(testkit.SumTest, "{1, 0, 1}", "{7, 0, 7}"),
			},
			": as given, TestAdd/nothing_added_is_no_change fails, which exercise_test.go doesn't announce:\n" +
				"the sum is 1, want 7",
		},
		"an announced failure of a test that passes": {
			"6-fewer", files{test: with(testkit.SumTest, "// fails: ", announced+"// fails: ")},
			": as given, TestAdd/nothing_added_is_no_change should fail, and doesn't",
		},
		"an exercise that announces no failure": {
			"7-silent", files{test: with(testkit.SumTest, "// says:", "// it says:")},
			"/exercise_test.go: it doesn't say what fails as given",
		},
		"a solution that fails": {
			"8-wrong", files{
				solution: with(testkit.SumSolved, "a + b", "a - b - 0"),
				mistakes: strings.ReplaceAll(testkit.SumMistakes, "replace: a + b", "replace: a - b - 0"),
			},
			"/solution.go: TestAdd/one_and_one_is_two doesn't pass:\nthe sum is 0, want 2",
		},
		"a test that is skipped": {
			"10-skips", files{test: with(testkit.SumTest, "if got", skips)},
			"/solution.go: TestAdd/nothing_added_is_no_change doesn't pass:\nno",
		},
		"a README without its time": {
			"12-time", files{"README.md": "# 12: Sums\n"},
			`/README.md: it needs the lines "# 12: Title" and "Minutes: N"`,
		},
		"an answer that doesn't say what was learned": {
			"13-answer", files{"answer.md": "# Answer to 13: Sums\n\nBoth.\n"},
			`/answer.md: it needs a heading, and then "**What you now know:** …"`,
		},
		"a ticket that says where to look": {
			"18-ticket", files{"cause.yaml": testkit.SumCause},
			`/exercise.go: a place must be marked "YOUR WORK", except in tickets`,
		},
		"a mistake that the tests accept": {
			"22-accepted", files{mistakes: with(testkit.SumMistakes, "with: b", "with: b + a")},
			`/mistakes.yaml: "It forgets a.": the tests accept it`,
		},
		"a mistake that isn't in the solution": {
			"23-elsewhere", files{mistakes: with(testkit.SumMistakes, "replace: a + b", "replace: a * b")},
			`/mistakes.yaml: "It forgets b.": solution.go has the text "a * b" 0 times, want once`,
		},
		"a mistake that fails another test": {
			"24-another", files{mistakes: with(testkit.SumMistakes, "one and one is two", "nothing added is no change")},
			`/mistakes.yaml: "It forgets b.": TestAdd/nothing_added_is_no_change doesn't fail. These do:` +
				"\nTestAdd/one_and_one_is_two",
		},
		"a mistake that doesn't compile": {
			"25-compile", files{mistakes: with(testkit.SumMistakes, "with: b", "with: c")},
			`/mistakes.yaml: "It forgets a.": it doesn't compile:`,
		},
	}
	for _, defect := range defects {
		testkit.WriteSum(t, root, "01-a", defect.folder, defect.files)
	}
	problems := proofOf(t, root)
	for sentence, defect := range defects {
		path := "01-a/exercises/" + defect.folder
		if defect.want != "" && !strings.Contains(problems, path+defect.want) {
			t.Errorf("%s: want %q in\n%s", sentence, path+defect.want, problems)
		}
		if defect.want == "" && strings.Contains(problems, path) {
			t.Errorf("%s: got\n%s", sentence, problems)
		}
	}
}

// A learner's work must not fail the proof. A maintainer's new exercise must be checked.
func TestTheProofIsAboutTheGivenExercises(t *testing.T) {
	root := t.TempDir()
	testkit.WriteSum(t, root, "01-a", "1-one", nil)
	if !testkit.Commit(t, root) {
		return
	}
	testkit.Write(t, root, map[string]string{"01-a/exercises/1-one/exercise.go": "package sum // a learner at work"})
	if problems := proofOf(t, root); problems != "" {
		t.Errorf("a learner's work: problems\n%s", problems)
	}
	testkit.WriteSum(t, root, "01-a", "2-new", map[string]string{
		"solution.go": strings.Replace(testkit.SumSolved, "a + b", "a - b", 1),
	})
	if problems := proofOf(t, root); !strings.Contains(problems, "2-new/solution.go") {
		t.Errorf("a new exercise: problems\n%s", problems)
	}
}
