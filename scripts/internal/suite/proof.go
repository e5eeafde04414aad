package suite

// The proof of a chapter's exercises: each fails as given for the right reason, passes as solved, and
// rejects wrong answers (mistakes.go).
//
// A comment in exercise_test.go says why the exercise fails as given, in two lines for each test:
//
//	// fails: TestFollow/a bookmark moves the point forward, but isn't reported
//	// says: it reported [ADDED a BOOKMARK ]
//
// Exactly these tests have to fail, and each message must contain those words.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

// proofLimit is for a chapter's exercises on a slow machine. Learners wait at most
// verdict.DefaultLimit.
const proofLimit = 10 * time.Minute

// proofs is the folder in .workshop with copies of the chapters.
const proofs = "prove"

// given returns a copy of the chapter in which each exercise.go is as in the last commit, so that a
// learner's work can't fail the proof. A new exercise, or one outside a git repository, is as it is.
// The copy is always in the same folder, because Go's build cache depends on it.
func (s *Suite) given(ctx context.Context, chapter chapters.Chapter) ([]exercises.Exercise, error) {
	here, err := exercises.In(chapter)
	if err != nil {
		return nil, err
	}
	if len(s.Exercises) > 0 {
		here = slices.DeleteFunc(here, func(e exercises.Exercise) bool { return !slices.Contains(s.Exercises, e) })
	}
	copied := chapter
	copied.Dir = filepath.Join(stateOf(s.Root), proofs, chapter.Name)
	if err := errors.Join(os.RemoveAll(copied.Dir), os.CopyFS(copied.Dir, os.DirFS(chapter.Dir))); err != nil {
		return nil, fmt.Errorf("copy %s: %w", chapter.Name, err)
	}
	for i := range here {
		content, err := here[i].Committed(ctx)
		here[i].Chapter = copied
		if err != nil {
			continue
		}
		if err := os.WriteFile(here[i].File(exercises.ExerciseFile), content, 0o600); err != nil {
			return nil, err
		}
	}
	return here, ctx.Err()
}

// lintExercises checks the files of the chapter's exercises, and runs vet and perhaps staticcheck on
// them as given and as solved.
func (s *Suite) lintExercises(ctx context.Context, chapter chapters.Chapter) error {
	all, err := s.given(ctx, chapter)
	if err != nil || len(all) == 0 {
		return err
	}
	var packages []string
	for _, e := range all {
		err = errors.Join(err, checkExercise(e))
		packages = append(packages, "./"+exercises.Folder+"/"+e.Folder)
	}
	rules := map[string]string{
		exercises.TagCheck:    "inherit,-U1000", // as given, an exercise doesn't use everything yet
		exercises.TagSolution: "inherit",
	}
	for _, tag := range slices.Sorted(maps.Keys(rules)) {
		vet := append([]string{"go", "vet", "-tags=" + tag}, packages...)
		_, vetErr := s.run(ctx, all[0].Chapter.Dir, noWorkspace, vet...)
		err = errors.Join(err, vetErr)
		if s.Full {
			check := append([]string{s.staticcheck(), "-tags=" + tag, "-checks=" + rules[tag]}, packages...)
			_, checkErr := s.run(ctx, all[0].Chapter.Dir, noWorkspace, check...)
			err = errors.Join(err, checkErr)
		}
	}
	return err
}

// checkExercise checks everything that needs no test run.
func checkExercise(e exercises.Exercise) error {
	var all []error
	fail := func(file, format string, args ...any) {
		all = append(all, fmt.Errorf("%s: %s", e.Path(file), fmt.Sprintf(format, args...)))
	}
	for file, constraint := range map[string]string{
		exercises.ExerciseFile: "!solution",
		exercises.SolutionFile: "solution",
		exercises.TestFile:     "check || solution",
	} {
		content, err := os.ReadFile(e.File(file))
		switch line := "//go:build " + constraint; {
		case err != nil:
			fail(file, "it is missing")
		case !strings.HasPrefix(string(content), line+"\n"):
			fail(file, "its first line isn't %q", line)
		case file == exercises.ExerciseFile && strings.Contains(string(content), exercises.WorkMark) == e.IsTicket():
			fail(file, "a place must be marked %q, except in tickets", exercises.WorkMark)
		}
	}
	if readme, err := e.ReadReadme(); err != nil || readme.Title == "" || readme.Minutes == 0 {
		fail(exercises.ReadmeFile, `it needs the lines "# %d: Title" and "Minutes: N"`, e.Number)
	}
	answer, answerErr := e.ReadAnswer()
	if answerErr == nil && !strings.HasPrefix(answer, "What you now know: ") {
		fail(exercises.AnswerFile, `it needs a heading, and then "**What you now know:** …"`)
	}
	_, causeErr := e.Cause()
	_, hintsErr := exercises.Hints(e)
	_, mistakesErr := readMistakes(e)
	_, expectedErr := readExpected(e)
	return errors.Join(append(all, answerErr, causeErr, hintsErr, mistakesErr, expectedErr)...)
}

// prove runs the tests of the chapter's exercises as given, as solved, and with wrong answers.
func (s *Suite) prove(ctx context.Context, step *ui.Step, c *cluster.Cluster, chapter chapters.Chapter) (string, error) {
	all, err := s.given(ctx, chapter)
	if err != nil || len(all) == 0 {
		return "none", err
	}
	run := verdict.Run{
		Args:     []string{"-vet=off"},
		Env:      s.testEnvironment(c, chapter),
		Limit:    proofLimit,
		Progress: func(test string) { step.Update("%s", test) },
	}
	run.Tag = exercises.TagCheck
	given, err := run.Test(ctx, all...)
	if err != nil {
		return "", err
	}
	run.Tag = exercises.TagSolution
	solved, err := run.Test(ctx, all...)
	if err != nil {
		return "", err
	}
	var sound []exercises.Exercise
	for i, e := range all {
		wrong := errors.Join(failsAsGiven(given[i]), passesAsSolved(solved[i]))
		if wrong == nil {
			sound = append(sound, e)
		}
		err = errors.Join(err, wrong)
	}
	s.passed += len(all)
	err = errors.Join(err, proveMistakes(ctx, run, sound))
	return fmt.Sprintf("%d fail as given, pass as solved, and reject each wrong answer", len(all)), err
}

// expected is a test that should fail as given, and a part of its message.
type expected struct{ name, message string }

var failsSays = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*\n//\s*says: *(.+?)\s*$`)

func readExpected(e exercises.Exercise) ([]expected, error) {
	content, err := os.ReadFile(e.File(exercises.TestFile))
	if err != nil {
		return nil, err
	}
	var all []expected
	for _, match := range failsSays.FindAllStringSubmatch(string(content), -1) {
		all = append(all, expected{verdict.TestName(match[1]), match[2]})
	}
	if len(all) == 0 {
		const want = `it doesn't say what fails as given, in pairs of lines "// fails: Test/sentence" and "// says: words"`
		return nil, fmt.Errorf("%s: %s", e.Path(exercises.TestFile), want)
	}
	return all, nil
}

// didRun returns an error if the tests couldn't run.
func didRun(name string, v verdict.Verdict) error {
	switch v.Outcome {
	case verdict.NotCompiled:
		return fmt.Errorf("%s%s:\n%s", name, v.Summary(), v.Compiler)
	case verdict.NoTest:
		return fmt.Errorf("%sno test was run", name)
	}
	return nil
}

func failsAsGiven(v verdict.Verdict) error {
	name := v.Exercise.Path("") + ": as given, "
	if err := didRun(name, v); err != nil {
		return err
	}
	all, err := readExpected(v.Exercise)
	if err != nil {
		return err
	}
	var found []error
	fail := func(format string, args ...any) { found = append(found, fmt.Errorf(name+format, args...)) }
	for _, t := range v.Tests {
		i := slices.IndexFunc(all, func(x expected) bool { return x.name == t.Name })
		switch failed := t.State == gotest.Failed; {
		case failed && i < 0:
			fail("%s fails, which %s doesn't announce:\n%s", t.Name, exercises.TestFile, t.Message)
		case failed && !strings.Contains(t.Message, all[i].message):
			fail("%s fails for another reason than %q:\n%s", t.Name, all[i].message, t.Message)
		case !failed && i >= 0:
			fail("%s should fail, and doesn't", t.Name)
		}
	}
	for _, x := range all {
		if !slices.ContainsFunc(v.Tests, func(t verdict.Test) bool { return t.Name == x.name }) {
			fail("there is no test %s", x.name)
		}
	}
	return errors.Join(found...)
}

func passesAsSolved(v verdict.Verdict) error {
	name := v.Exercise.Path(exercises.SolutionFile) + ": "
	err := didRun(name, v)
	for _, t := range v.Tests {
		if t.State != gotest.Passed { // a skipped test proves nothing
			err = errors.Join(err, fmt.Errorf("%s%s doesn't pass:\n%s", name, t.Name, t.Message))
		}
	}
	return err
}
