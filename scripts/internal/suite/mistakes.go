package suite

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
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
)

const (
	mistakesFile  = "mistakes.yaml"
	leastMistakes = 3
)

type mistake struct {
	Mistake string `json:"mistake"` // what is wrong, in a sentence
	Replace string `json:"replace"` // text that occurs once in solution.go
	With    string `json:"with"`
	Fails   string `json:"fails"` // a test that must fail, or of which a subtest must
	answer  []byte // the solution with the mistake
}

func readMistakes(e exercises.Exercise) ([]mistake, error) {
	name := e.Path(mistakesFile)
	content, err := os.ReadFile(e.File(mistakesFile))
	if err != nil {
		return nil, fmt.Errorf("%s: it is missing", name)
	}
	var all []mistake
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) < leastMistakes {
		return nil, fmt.Errorf("%s: it has %d mistakes, want at least %d", name, len(all), leastMistakes)
	}
	solution, err := os.ReadFile(e.File(exercises.SolutionFile))
	if err != nil {
		return nil, err
	}
	for i, m := range all {
		if m.Mistake == "" || m.Replace == "" || m.Fails == "" {
			return nil, fmt.Errorf("%s: mistake %d needs the fields mistake, replace and fails", name, i+1)
		}
		if n := bytes.Count(solution, []byte(m.Replace)); n != 1 {
			const text = "%s: %q: solution.go has the text %q %d times, want once"
			return nil, fmt.Errorf(text, name, m.Mistake, m.Replace, n)
		}
		all[i].answer = bytes.Replace(solution, []byte(m.Replace), []byte(m.With), 1)
	}
	return all, nil
}

// proveMistakes checks that the tests reject each exercise's mistakes. The first run of go test has
// all first mistakes, the second run has all second ones, and so on. It replaces solution.go, because
// some tests read it.
func proveMistakes(ctx context.Context, run verdict.Run, list []exercises.Exercise) error {
	all := map[exercises.Exercise][]mistake{}
	var failed error
	for _, e := range list {
		var err error
		all[e], err = readMistakes(e)
		failed = errors.Join(failed, err)
	}
	for round := 0; ; round++ {
		list = slices.DeleteFunc(list, func(e exercises.Exercise) bool { return len(all[e]) <= round })
		if len(list) == 0 {
			return failed
		}
		var tests []string
		for _, e := range list {
			m := all[e][round]
			if err := os.WriteFile(e.File(exercises.SolutionFile), m.answer, 0o600); err != nil {
				return err
			}
			test, _, _ := strings.Cut(m.Fails, "/")
			tests = append(tests, test)
		}
		// Only the tests that must fail are run. Some of them wait for what the mistake prevents, so more
		// packages run at once than there are cores.
		run.Args = []string{"-vet=off", "-p=4", "-run=^(" + strings.Join(tests, "|") + ")$"}
		verdicts, err := run.Test(ctx, list...)
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, v := range verdicts {
			failed = errors.Join(failed, isRejected(v, all[v.Exercise][round]))
		}
	}
}

// isRejected returns an error unless the test that must fail does.
func isRejected(v verdict.Verdict, m mistake) error {
	name := fmt.Sprintf("%s: %q: ", v.Exercise.Path(mistakesFile), m.Mistake)
	if err := didRun(name, v); err != nil {
		return err
	}
	want := verdict.TestName(m.Fails)
	var failed []string
	for _, t := range v.Tests {
		switch {
		case t.State != gotest.Failed:
		case t.Name == want || strings.HasPrefix(t.Name, want+"/"):
			return nil
		default:
			failed = append(failed, t.Name)
		}
	}
	if len(failed) == 0 {
		return fmt.Errorf("%sthe tests accept it", name)
	}
	return fmt.Errorf("%s%s doesn't fail. These do:\n%s", name, want, strings.Join(failed, "\n"))
}
