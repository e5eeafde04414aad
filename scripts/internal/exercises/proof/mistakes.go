package proof

// Wrong answers. A test that accepts a wrong answer teaches it, so each exercise has a
// mistakes.yaml with at least three of them. Each is the solution with one change, and the name of
// a test that has to fail:
//
//	- mistake: It treats a bookmark like a change.
//	  replace: if event.Type != watch.Bookmark {
//	  with: if true {
//	  fails: TestFollow/a bookmark moves the point forward, but isn't reported

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
)

// MistakesFile has the wrong answers of an exercise.
const MistakesFile = "mistakes.yaml"

const leastMistakes = 3

type mistake struct {
	Mistake string `json:"mistake"` // what is wrong, in a sentence
	Replace string `json:"replace"` // text that occurs once in solution.go
	With    string `json:"with"`
	Fails   string `json:"fails"` // a test that must fail, or of which a subtest must
	answer  []byte // the solution with the mistake
}

func readMistakes(e exercises.Exercise) ([]mistake, error) {
	content, err := os.ReadFile(e.File(MistakesFile))
	if err != nil {
		return nil, fmt.Errorf("%s: it is missing", e.Path(MistakesFile))
	}
	var all []mistake
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Path(MistakesFile), err)
	}
	if len(all) < leastMistakes {
		return nil, fmt.Errorf("%s: it has %d mistakes, want at least %d", e.Path(MistakesFile), len(all), leastMistakes)
	}
	solution, err := os.ReadFile(e.File(exercises.SolutionFile))
	if err != nil {
		return nil, err
	}
	for i, m := range all {
		if m.Mistake == "" || m.Replace == "" || m.Fails == "" {
			return nil, fmt.Errorf("%s: mistake %d needs the fields mistake, replace and fails", e.Path(MistakesFile), i+1)
		}
		if n := bytes.Count(solution, []byte(m.Replace)); n != 1 {
			return nil, fmt.Errorf("%s: %q: %s has the text %q %d times, want once", e.Path(MistakesFile), m.Mistake, exercises.SolutionFile, m.Replace, n)
		}
		all[i].answer = bytes.Replace(solution, []byte(m.Replace), []byte(m.With), 1)
	}
	return all, nil
}

// mistakes checks that the tests reject each exercise's mistakes. It works on a copy of the
// chapter, because some tests read solution.go, and not only the compiler does. The first run of go
// test has all first mistakes, the second run has all second ones, and so on.
func (p *Proof) mistakes(ctx context.Context, o Options, list []exercises.Exercise) error {
	if len(list) == 0 {
		return nil
	}
	chapter := list[0].Chapter
	folder := filepath.Join(o.Root, ".workshop", "mistakes", chapter.Name)
	defer os.RemoveAll(folder)
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(chapter.Dir))); err != nil {
		return fmt.Errorf("copy %s: %w", chapter.Name, err)
	}
	all := map[string][]mistake{}
	for i := range list {
		list[i].Chapter.Dir = folder
		var err error
		if all[list[i].Folder], err = readMistakes(list[i]); err != nil {
			p.fail("%v", err)
		}
	}
	for round := 0; ; round++ {
		list = slices.DeleteFunc(list, func(e exercises.Exercise) bool { return len(all[e.Folder]) <= round })
		if len(list) == 0 {
			return nil
		}
		if err := p.oneMistake(ctx, o, list, func(e exercises.Exercise) mistake { return all[e.Folder][round] }); err != nil {
			return err
		}
	}
}

// oneMistake tests each exercise with one mistake, and restores the solutions.
func (p *Proof) oneMistake(ctx context.Context, o Options, list []exercises.Exercise, of func(exercises.Exercise) mistake) error {
	var tests []string
	for _, e := range list {
		file := e.File(exercises.SolutionFile)
		solution, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, of(e).answer, 0o600); err != nil {
			return err
		}
		defer os.WriteFile(file, solution, 0o600)
		test, _, _ := strings.Cut(of(e).Fails, "/")
		tests = append(tests, test)
	}
	// Only the tests that must fail are run. Some of them wait for what the mistake prevents, so more
	// packages run at once than there are cores.
	args := []string{"-vet=off", "-p=4", "-run=^(" + strings.Join(tests, "|") + ")$"}
	run := verdict.Run{Tag: exercises.TagSolution, Args: args, Env: o.Env, Limit: limit, Progress: o.Progress}
	verdicts, err := run.Test(ctx, list...)
	if err != nil {
		return fmt.Errorf("test the mistakes of %s: %w", o.Chapter.Name, err)
	}
	for _, v := range verdicts {
		p.rejects(v, of(v.Exercise))
	}
	return nil
}

// rejects checks the verdict on a mistake.
func (p *Proof) rejects(v verdict.Verdict, m mistake) {
	name := fmt.Sprintf("%s: %q: ", v.Exercise.Path(MistakesFile), m.Mistake)
	if !p.runs(name, v) {
		return
	}
	want := verdict.TestName(m.Fails)
	var failed []string
	for _, t := range v.Tests {
		if t.State != gotest.Failed {
			continue
		}
		if t.Name == want || strings.HasPrefix(t.Name, want+"/") {
			p.Passed++
			return
		}
		failed = append(failed, t.Name)
	}
	if len(failed) == 0 {
		p.fail("%sthe tests accept it", name)
		return
	}
	p.fail("%s%s doesn't fail. These do:\n%s", name, want, strings.Join(failed, "\n"))
}
