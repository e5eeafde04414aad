package proof

// The proof of one exercise.
//
// A comment in exercise_test.go says why the exercise fails as given, in two lines for each test:
//
//	// fails: TestFollow/a bookmark moves the point forward, but isn't reported
//	// says: it reported [ADDED a BOOKMARK ]
//
// Exactly these tests have to fail, and each message must contain those words.

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
)

// files checks everything that needs no test run.
func (p *Proof) files(e exercises.Exercise) {
	constraints := map[string]string{
		exercises.ExerciseFile: "!solution",
		exercises.SolutionFile: "solution",
		exercises.TestFile:     "check || solution",
	}
	for name, constraint := range constraints {
		content, err := os.ReadFile(e.File(name))
		switch line := "//go:build " + constraint; {
		case err != nil:
			p.fail("%s: it is missing", e.Path(name))
		case !strings.HasPrefix(string(content), line+"\n"):
			p.fail("%s: its first line isn't %q", e.Path(name), line)
		case name == exercises.ExerciseFile && strings.Contains(string(content), exercises.WorkMark) == e.IsTicket():
			p.fail("%s: a place must be marked %q, except in tickets", e.Path(name), exercises.WorkMark)
		}
	}
	sources, _ := filepath.Glob(e.File("*.go")) // the pattern is valid
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if formatted, formatErr := format.Source(content); err == nil && formatErr == nil && !bytes.Equal(formatted, content) {
			p.fail("%s: gofmt would change it", e.Path(filepath.Base(file)))
		}
	}
	if _, _, err := e.ReadHead(); err != nil {
		p.fail("%v", err)
	}
	if readme, err := e.ReadReadme(); err == nil && readme.Learned == "" { // ReadHead reports a missing file
		p.fail("%s: it has no line \"<!-- Learned: … -->\"", e.Path(exercises.ReadmeFile))
	}
	if _, err := e.Cause(); err != nil {
		p.fail("%v", err)
	}
	if _, err := exercises.Hints(e); err != nil {
		p.fail("%v", err)
	}
	if _, err := readMistakes(e); err != nil {
		p.fail("%v", err)
	}
	if _, err := readExpected(e); err != nil {
		p.fail("%v", err)
	}
}

// expected is a test that should fail as given, and a part of its message.
type expected struct{ name, message string }

var (
	failsLine = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*$`)
	failsSays = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*\n//\s*says: *(.+?)\s*$`)
)

func readExpected(e exercises.Exercise) ([]expected, error) {
	content, err := os.ReadFile(e.File(exercises.TestFile))
	if err != nil {
		return nil, err
	}
	var all []expected
	for _, match := range failsSays.FindAllStringSubmatch(string(content), -1) {
		all = append(all, expected{verdict.TestName(match[1]), match[2]})
	}
	if len(all) == 0 || len(all) != len(failsLine.FindAllString(string(content), -1)) {
		return nil, fmt.Errorf(`%s: it doesn't say what fails as given, in pairs of lines "// fails: TestName/sentence" and "// says: words"`, e.Path(exercises.TestFile))
	}
	return all, nil
}

// runs reports whether the tests could run.
func (p *Proof) runs(name string, v verdict.Verdict) bool {
	switch v.Outcome {
	case verdict.NotCompiled:
		p.fail("%s%s:\n%s", name, v.Summary(), v.Compiler)
		return false
	case verdict.NoTest:
		p.fail("%sno test was run", name)
		return false
	}
	return true
}

func (p *Proof) asGiven(v verdict.Verdict) {
	before := p.Failed
	name := v.Exercise.Path("") + ": as given, "
	if !p.runs(name, v) {
		return
	}
	if v.Outcome == verdict.Passed {
		p.fail("%s: it passes as given: there is nothing to do", v.Exercise.Path(""))
		return
	}
	all, err := readExpected(v.Exercise)
	if err != nil {
		p.fail("%v", err)
		return
	}
	for _, t := range v.Tests {
		i := slices.IndexFunc(all, func(x expected) bool { return x.name == t.Name })
		switch {
		case t.State != gotest.Failed:
		case i < 0:
			p.fail("%s%s fails, which %s doesn't announce:\n%s", name, t.Name, exercises.TestFile, t.Message)
		case !strings.Contains(t.Message, all[i].message):
			p.fail("%s%s fails for another reason than %q:\n%s", name, t.Name, all[i].message, t.Message)
		}
	}
	for _, x := range all {
		if !slices.ContainsFunc(v.Tests, func(t verdict.Test) bool { return t.Name == x.name && t.State == gotest.Failed }) {
			p.fail("%s%s should fail, and doesn't", name, x.name)
		}
	}
	if p.Failed == before {
		p.Passed++
	}
}

func (p *Proof) solved(v verdict.Verdict) {
	name := v.Exercise.Path(exercises.SolutionFile) + ": "
	if !p.runs(name, v) {
		return
	}
	for _, t := range v.Tests {
		switch t.State {
		case gotest.Passed:
			p.Passed++
		case gotest.Skipped:
			p.Skipped++
			p.Problems = append(p.Problems, fmt.Sprintf("%s%s was skipped:\n%s", name, t.Name, t.Message))
		case gotest.Failed:
			p.fail("%s%s fails:\n%s", name, t.Name, t.Message)
		}
	}
}
