package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/testkit"
)

const learned = "<!-- Learned: A sum needs both numbers. -->\n"

// Each defect is in an exercise of its own. One run checks them all.
func TestProveFinds(t *testing.T) {
	root := t.TempDir()
	defects := map[string]struct {
		folder string
		files  map[string]string
		want   string // the problem after the exercise's path; "": none
	}{
		"a good exercise": {
			"1-good", nil, "",
		},
		"an exercise that passes as given": {
			"2-passes", map[string]string{"exercise.go": exercisetest.SolvedInPlace + "\n// YOUR WORK: none\n"},
			": it passes as given: there is nothing to do",
		},
		"an exercise that doesn't compile as given": {
			"3-broken", map[string]string{"exercise.go": exercisetest.Given + "func Sub() { nothing }\n"},
			": as given, it doesn't compile:\n01-a/exercises/3-broken/exercise.go:10:14: undefined: nothing",
		},
		"an exercise that fails for another reason": {
			"4-reason", map[string]string{"exercise.go": strings.Replace(exercisetest.Given, "return a", "return a * 9", 1), "exercise_test.go": strings.Replace(exercisetest.Test, "{1, 0, 1}", "{0, 0, 0}", 1)},
			": as given, TestAdd/one_and_one_is_two fails for another reason than \"the sum is 1, want 2\":\nthe sum is 9, want 2",
		},
		"a failure that isn't announced": {
			"5-more", map[string]string{"exercise.go": strings.Replace(exercisetest.Given, "return a", "return 1", 1), "exercise_test.go": strings.Replace(exercisetest.Test, "{1, 0, 1}", "{7, 0, 7}", 1)},
			": as given, TestAdd/nothing_added_is_no_change fails, which exercise_test.go doesn't announce:\nthe sum is 1, want 7",
		},
		"an announced failure of a test that passes": {
			"6-fewer", map[string]string{"exercise_test.go": strings.Replace(exercisetest.Test, "// fails: ", "// fails: TestAdd/nothing added is no change\n// says: the sum is\n//\n// fails: ", 1)},
			": as given, TestAdd/nothing_added_is_no_change should fail, and doesn't",
		},
		"an exercise that announces no failure": {
			"7-silent", map[string]string{"exercise_test.go": strings.Replace(exercisetest.Test, "// says:", "// it says:", 1)},
			"/exercise_test.go: it doesn't say what fails as given",
		},
		"a solution that fails": {
			"8-wrong", map[string]string{
				"solution.go":   strings.Replace(exercisetest.Solved, "a + b", "a - b - 0", 1),
				"mistakes.yaml": strings.ReplaceAll(exercisetest.Mistakes, "replace: a + b", "replace: a - b - 0"),
			},
			"/solution.go: TestAdd/one_and_one_is_two fails:\nthe sum is 0, want 2",
		},
		"a solution that doesn't compile": {
			"9-worse", map[string]string{
				"solution.go":   strings.Replace(exercisetest.Solved, "a + b", "a + c", 1),
				"mistakes.yaml": strings.ReplaceAll(exercisetest.Mistakes, "replace: a + b", "replace: a + c"),
			},
			"/solution.go: it doesn't compile:\n",
		},
		"a test that is skipped": {
			"10-skips", map[string]string{"exercise_test.go": strings.Replace(exercisetest.Test, "if got", "if test.b == 0 {\n\t\t\t\tt.Skip(`no`)\n\t\t\t}\n\t\t\tif got", 1)},
			"/solution.go: TestAdd/nothing_added_is_no_change was skipped:\nno",
		},
		"hints that aren't three": {
			"11-hints", map[string]string{"hints.md": "## A nudge\n\na\n"},
			"/hints.md: its second-level headings are",
		},
		"a README without its time": {
			"12-time", map[string]string{"README.md": "# 12: Sums\n\n" + learned},
			`/README.md: it has no line "Minutes: N"`,
		},
		"a README with another's number": {
			"13-number", map[string]string{"README.md": "# 12: Sums\n\nMinutes: 5\n\n" + learned},
			`/README.md: its first line isn't "# 13: Title"`,
		},
		"a README that doesn't say what is learned": {
			"19-learned", map[string]string{"README.md": "# 19: Sums\n\nMinutes: 5\n\nLearned: Nothing.\n"},
			`/README.md: it has no line "<!-- Learned: … -->"`,
		},
		"a solution with another tag": {
			"14-tag", map[string]string{"solution.go": strings.Replace(exercisetest.Solved, "solution", "solution || never", 1)},
			`/solution.go: its first line isn't "//go:build solution"`,
		},
		"a file that gofmt would change": {
			"17-format", map[string]string{"types.go": "package sum\n\ntype  number int\n"},
			"/types.go: gofmt would change it",
		},
		"a place to work that isn't marked": {
			"15-mark", map[string]string{"exercise.go": strings.Replace(exercisetest.Given, "YOUR WORK: ", "", 1)},
			`/exercise.go: a place must be marked "YOUR WORK", except in tickets`,
		},
		"a ticket that says where to look": {
			"18-ticket", map[string]string{"cause.yaml": "question: Why?\nanswers: [{text: a, because: b, right: true}, {text: c, because: d}, {text: e, because: f}, {text: g, because: h}]\n"},
			`/exercise.go: a place must be marked "YOUR WORK", except in tickets`,
		},
		"an exercise without mistakes": {
			"20-none", map[string]string{"mistakes.yaml": ""},
			"/mistakes.yaml: it is missing",
		},
		"an exercise with too few mistakes": {
			"21-few", map[string]string{"mistakes.yaml": strings.Replace(exercisetest.Mistakes, "- mistake: It forgets b.\n", "", 1)},
			"/mistakes.yaml: ",
		},
		"a mistake that the tests accept": {
			"22-accepted", map[string]string{"mistakes.yaml": strings.Replace(exercisetest.Mistakes, "with: b", "with: b + a", 1)},
			`/mistakes.yaml: "It forgets a.": the tests accept it`,
		},
		"a mistake that isn't in the solution": {
			"23-elsewhere", map[string]string{"mistakes.yaml": strings.Replace(exercisetest.Mistakes, "replace: a + b", "replace: a * b", 1)},
			`/mistakes.yaml: "It forgets b.": solution.go has the text "a * b" 0 times, want once`,
		},
		"a mistake that fails another test": {
			"24-another", map[string]string{"mistakes.yaml": strings.Replace(exercisetest.Mistakes, "one and one is two", "nothing added is no change", 1)},
			`/mistakes.yaml: "It forgets b.": TestAdd/nothing_added_is_no_change doesn't fail. These do:` + "\nTestAdd/one_and_one_is_two",
		},
		"a mistake that doesn't compile": {
			"25-compile", map[string]string{"mistakes.yaml": strings.Replace(exercisetest.Mistakes, "with: b", "with: c", 1)},
			`/mistakes.yaml: "It forgets a.": it doesn't compile:`,
		},
		"a mistake that names the whole test": {
			"26-whole", map[string]string{"mistakes.yaml": strings.ReplaceAll(exercisetest.Mistakes, "/one and one is two", "")},
			"",
		},
		"an exercise that announces its panic": {
			"16-panic", map[string]string{
				"exercise.go":      strings.Replace(exercisetest.Given, "return a", "panic(`YOUR WORK`)", 1),
				"mistakes.yaml":    strings.ReplaceAll(exercisetest.Mistakes, "/one and one is two", ""),
				"exercise_test.go": "//go:build check || solution\n\n// fails: TestAdd\n// says: it panicked: YOUR WORK\n\npackage sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
			}, "",
		},
	}
	for _, defect := range defects {
		exercisetest.Write(t, root, "01-a", defect.folder, defect.files)
	}
	exercisetest.Write(t, root, "01-a", "28-gap", nil)
	testkit.Write(t, root, map[string]string{"01-a/exercises/Notes/README.md": "not an exercise"})

	o := Options{Root: root, Chapter: chapters.Chapter{Name: "01-a", Dir: filepath.Join(root, "01-a")}, Staticcheck: "true"}
	proof, err := Prove(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	linted, err := Lint(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range linted.Problems {
		if !slices.Contains(proof.Problems, problem) && !strings.HasPrefix(problem, "01-a: ") {
			proof.Problems = append(proof.Problems, problem)
			proof.Failed++
		}
	}
	about := func(folder string) (problems []string) {
		for _, problem := range proof.Problems {
			if rest, ok := strings.CutPrefix(problem, "01-a/exercises/"+folder); ok {
				problems = append(problems, rest)
			}
		}
		return problems
	}
	for sentence, defect := range defects {
		t.Run(sentence, func(t *testing.T) {
			problems := about(defect.folder)
			if defect.want == "" && len(problems) > 0 || defect.want != "" && (len(problems) != 1 || !strings.HasPrefix(problems[0], defect.want)) {
				t.Errorf("found %q, want one that begins with %q", problems, defect.want)
			}
		})
	}
	if got := about("28-gap"); !slices.Equal(got, []string{": exercise 27 of the chapter should have the number 27"}) {
		t.Errorf("a gap in the numbers: found %q", got)
	}
	if got := about("Notes"); len(got) != 1 {
		t.Errorf("a folder that is no exercise: found %q", got)
	}
	if proof.Exercises != 27 || proof.Failed+proof.Skipped != len(proof.Problems) || proof.Passed == 0 {
		t.Errorf("%d exercises, counts %+v, %d problems", proof.Exercises, proof.Counts, len(proof.Problems))
	}
}

// A learner's changes must not fail the proof. A maintainer's new exercise must be checked.
func TestProveChecksTheLastCommit(t *testing.T) {
	root := t.TempDir()
	chapter := chapters.Chapter{Name: "01-a", Dir: filepath.Join(root, "01-a")}
	exercisetest.Write(t, root, "01-a", "1-one", nil)
	exercisetest.Write(t, root, "01-a", "2-two", nil)
	testkit.Write(t, chapter.Dir, map[string]string{"shared/shared.go": "package shared\n"})
	prove := func() Proof {
		t.Helper()
		proof, err := Prove(t.Context(), Options{Root: root, Chapter: chapter})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(root, ".workshop", "prove", "01-a")); err == nil {
			t.Error("the export was left behind")
		}
		return proof
	}
	if !testkit.Commit(t, root) {
		return
	}
	if proof := prove(); len(proof.Problems)+len(proof.Notes) > 0 || proof.Passed != 2*(1+2+3) {
		t.Errorf("as committed: counts %+v, problems %q, notes %q", proof.Counts, proof.Problems, proof.Notes)
	}

	testkit.Write(t, chapter.Dir, map[string]string{
		"exercises/1-one/exercise.go":      "package sum // a learner at work",
		"exercises/1-one/exercise.go~":     "package sum",
		"exercises/2-two/exercise_test.go": "package sum // and one who goes further",
		"exercises/2-two/helper.go":        "package sum // with a file of their own",
		"shared/shared.go":                 "broken",
	})
	if err := os.Remove(filepath.Join(chapter.Dir, "exercises/2-two/hints.md")); err != nil {
		t.Fatal(err)
	}
	proof := prove()
	if len(proof.Problems) > 0 || proof.Passed != 2*(1+2+3) {
		t.Errorf("a learner's work: counts %+v, problems %q", proof.Counts, proof.Problems)
	}
	if want := []string{"judged as committed, without your changes to 01-a/exercises/2-two/exercise_test.go, 01-a/exercises/2-two/helper.go, " +
		"01-a/exercises/2-two/hints.md, 01-a/shared/shared.go"}; !slices.Equal(proof.Notes, want) {
		t.Errorf("notes %q, want %q", proof.Notes, want)
	}

	exercisetest.Write(t, root, "01-a", "3-new", map[string]string{"solution.go": strings.Replace(exercisetest.Solved, "a + b", "a - b", 1)})
	if proof := prove(); proof.Exercises != 3 || len(proof.Problems) != 1 || !strings.Contains(proof.Problems[0], "3-new/solution.go") {
		t.Errorf("a new exercise: %d exercises, problems %q", proof.Exercises, proof.Problems)
	}
}

func TestExercisesAreNumberedWithoutAGap(t *testing.T) {
	for sentence, test := range map[string]struct {
		numbers []int
		want    []string
	}{
		"from 1":            {[]int{1, 2}, nil},
		"from 0":            {[]int{1, 0, 2}, nil},
		"none":              {nil, nil},
		"from 2":            {[]int{2, 3}, []string{"01-a/exercises/2-x: exercise 1 of the chapter should have the number 1"}},
		"a gap after 0":     {[]int{0, 2, 3}, []string{"01-a/exercises/2-x: exercise 2 of the chapter should have the number 1"}},
		"two of them are 0": {[]int{0, 0, 1}, []string{"01-a/exercises/0-x: exercise 2 of the chapter should have the number 1"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var all []exercises.Exercise
			for _, number := range test.numbers {
				all = append(all, exercises.Exercise{Chapter: chapters.Chapter{Name: "01-a"}, Number: number, Folder: fmt.Sprintf("%d-x", number)})
			}
			var proof Proof
			proof.numbers(all)
			if !slices.Equal(proof.Problems, test.want) {
				t.Errorf("problems %q, want %q", proof.Problems, test.want)
			}
		})
	}
}

func TestProveAChapterWithoutExercises(t *testing.T) {
	root := t.TempDir()
	testkit.Write(t, root, map[string]string{"01-a/go.mod": "module example.com/a\n\ngo 1.26\n"})
	proof, err := Prove(t.Context(), Options{Root: root, Chapter: chapters.Chapter{Name: "01-a", Dir: filepath.Join(root, "01-a")}})
	if err != nil || proof.Exercises != 0 || len(proof.Problems) > 0 {
		t.Errorf("%+v, error %v", proof, err)
	}
}

func TestLintRunsVetAndStaticcheckWithBothTags(t *testing.T) {
	root := t.TempDir()
	exercisetest.Write(t, root, "01-a", "1-one", map[string]string{"solution.go": exercisetest.Solved + "\nfunc same(a int) { a = a }\n"})
	program := filepath.Join(testkit.Write(t, root, map[string]string{
		"staticcheck": "#!/bin/sh\nprintf '<%s>' \"$@\" \"$GOWORK\" \"$(cat)\"\nexit 1\n",
	}), "staticcheck")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	proof, err := Lint(t.Context(), Options{Root: root, Chapter: chapters.Chapter{Name: "01-a", Dir: filepath.Join(root, "01-a")}, Staticcheck: program})
	if err != nil {
		t.Fatal(err)
	}
	if len(proof.Problems) != 2 || !strings.Contains(proof.Problems[0], "solution.go:") || !strings.Contains(proof.Problems[0], "self-assignment") {
		t.Errorf("problems %q, want first what vet says about the solution", proof.Problems)
	}
	if want := "01-a: staticcheck:\n<-matrix><./exercises/1-one><off><given: -tags=check\nsolved: -tags=solution>"; !slices.Contains(proof.Problems, want) {
		t.Errorf("problems %q, want %q", proof.Problems, want)
	}
}
