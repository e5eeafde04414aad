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
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

// proofLimit is for a chapter's exercises on a slow machine. Learners wait at most
// verdict.DefaultLimit.
const proofLimit = 10 * time.Minute

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
	copied.Dir = filepath.Join(runFolder(s.Root), "chapters", chapter.Name)
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

// lintExercises checks the files of the chapter's exercises, and runs vet and staticcheck, unless that
// is "", on them as given and as solved.
func (s *Suite) lintExercises(ctx context.Context, chapter chapters.Chapter, staticcheck string) error {
	all, err := s.given(ctx, chapter)
	if err != nil || len(all) == 0 {
		return err
	}
	var packages []string
	for _, e := range all {
		err = errors.Join(err, checkExercise(e))
		packages = append(packages, "./"+exercises.Folder+"/"+e.Folder)
	}
	for _, rules := range []struct{ tag, checks string }{
		{exercises.TagCheck, "inherit,-U1000"}, // as given, an exercise doesn't use everything yet
		{exercises.TagSolution, "inherit"},
	} {
		commands := [][]string{{"go", "vet", "-tags=" + rules.tag}}
		if staticcheck != "" {
			commands = append(commands, []string{staticcheck, "-tags=" + rules.tag, "-checks=" + rules.checks})
		}
		for _, command := range commands {
			_, found := runCommand(ctx, all[0].Chapter.Dir, withoutWorkspace, append(command, packages...)...)
			err = errors.Join(err, found)
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
	content, err := os.ReadFile(e.File(exercises.ExerciseFile))
	if err != nil || strings.Contains(string(content), exercises.WorkMark) == e.IsTicket() {
		fail(exercises.ExerciseFile, "a place must be marked %q, except in tickets", exercises.WorkMark)
	}
	if e.Title == e.Folder || e.Minutes == 0 {
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

func (s *Suite) proveChapter(ctx context.Context, chapter chapters.Chapter) {
	s.step(ctx, chapter.Name+": its exercises", func(step *ui.Step) (string, error) {
		return s.prove(ctx, step, chapter)
	})
}

// prove runs the tests of the chapter's exercises as given, as solved, and with wrong answers.
func (s *Suite) prove(ctx context.Context, step *ui.Step, chapter chapters.Chapter) (string, error) {
	all, err := s.given(ctx, chapter)
	if err != nil || len(all) == 0 {
		return "none", err
	}
	run := verdict.Run{
		Args:     []string{"-vet=off"},
		Env:      s.testEnvironment(s.Cluster(), chapter),
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

var failsSays = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*\n//\s*says: *(.+?)\s*$`)

// readExpected returns a part of the message of each test that should fail as given, by its name.
func readExpected(e exercises.Exercise) (map[string]string, error) {
	content, err := os.ReadFile(e.File(exercises.TestFile))
	if err != nil {
		return nil, err
	}
	messages := map[string]string{}
	for _, match := range failsSays.FindAllStringSubmatch(string(content), -1) {
		messages[verdict.TestName(match[1])] = match[2]
	}
	if len(messages) == 0 {
		const want = `it doesn't say what fails as given, in pairs of lines "// fails: Test/sentence" and "// says: words"`
		return nil, fmt.Errorf("%s: %s", e.Path(exercises.TestFile), want)
	}
	return messages, nil
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
	expected, err := readExpected(v.Exercise)
	if err != nil {
		return err
	}
	fail := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(name+format, args...)) }
	for _, t := range v.Tests {
		message, announced := expected[t.Name]
		delete(expected, t.Name)
		switch failed := t.State == gotest.Failed; {
		case failed && !announced:
			fail("%s fails, which %s doesn't announce:\n%s", t.Name, exercises.TestFile, t.Message)
		case failed && !strings.Contains(t.Message, message):
			fail("%s fails for another reason than %q:\n%s", t.Name, message, t.Message)
		case !failed && announced:
			fail("%s should fail, and doesn't", t.Name)
		}
	}
	for missing := range expected {
		fail("there is no test %s", missing)
	}
	return err
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
