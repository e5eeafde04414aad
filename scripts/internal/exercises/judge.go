package exercises

// What is demanded of one exercise.
//
// Why an exercise should fail as given stands in its exercise_test.go, two lines of a comment for each test:
//
//	// fails: TestFollow/a bookmark is a point to go on from, and no change
//	// says: it reported [ADDED a BOOKMARK ]
//
// Just these tests have to fail, and each must say that, among other things.

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/gotest"
)

// files judges what can be seen without running anything.
func (p *Proof) files(e Exercise) {
	for name, constraint := range map[string]string{exerciseFile: "!solution", solutionFile: "solution", testFile: "check || solution"} {
		content, err := os.ReadFile(e.File(name))
		switch line := "//go:build " + constraint; {
		case err != nil:
			p.fail("%s: it is missing", e.Path(name))
		case !strings.HasPrefix(string(content), line+"\n"):
			p.fail("%s: its first line isn't %q", e.Path(name), line)
		case name == exerciseFile && !strings.Contains(string(content), workMark):
			p.fail("%s: no place is marked %q", e.Path(name), workMark)
		}
	}
	sources, _ := filepath.Glob(e.File("*.go")) // its pattern is a good one
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if formatted, formatErr := format.Source(content); err == nil && formatErr == nil && !bytes.Equal(formatted, content) {
			p.fail("%s: gofmt would change it", e.Path(filepath.Base(file)))
		}
	}
	if _, err := readAbout(e); err != nil {
		p.fail("%v", err)
	}
	if _, err := Hints(e); err != nil {
		p.fail("%v", err)
	}
}

// expected is a test that should fail as given, and what it should say.
type expected struct{ name, says string }

var (
	failsLine = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*$`)
	failsSays = regexp.MustCompile(`(?m)^//\s*fails: *(.+?)\s*\n//\s*says: *(.+?)\s*$`)
)

func readExpected(e Exercise) ([]expected, error) {
	content, err := os.ReadFile(e.File(testFile))
	if err != nil {
		return nil, err
	}
	var all []expected
	for _, match := range failsSays.FindAllStringSubmatch(string(content), -1) {
		all = append(all, expected{asTestName(match[1]), match[2]})
	}
	if len(all) == 0 || len(all) != len(failsLine.FindAllString(string(content), -1)) {
		return nil, fmt.Errorf(`%s: it doesn't say what fails as given, in pairs of lines "// fails: TestName/sentence" and "// says: words"`, e.Path(testFile))
	}
	return all, nil
}

// asGiven judges the run of an exercise as a learner gets it.
func (p *Proof) asGiven(e Exercise, v Verdict) {
	before := p.Failed
	name := e.Path("")
	switch v.Outcome {
	case NotCompiled:
		p.fail("%s: as given, %s:\n%s", name, v.summary(), v.Compiler)
		return
	case NoTest:
		p.fail("%s: as given, no test was run", name)
		return
	case Passed:
		p.fail("%s: it passes as given: there is nothing to do", name)
		return
	}
	if v.Outside != nil {
		p.fail("%s: as given, it fails outside its tests:\n%s", name, v.Outside.Message)
	}
	all, err := readExpected(e)
	if err != nil {
		p.fail("%v", err)
		return
	}
	for _, t := range v.Tests {
		i := slices.IndexFunc(all, func(x expected) bool { return x.name == t.Name })
		switch {
		case t.State != gotest.Failed:
		case i < 0:
			p.fail("%s: as given, %s fails, of which %s says nothing:\n%s", name, t.Name, testFile, t.Message)
		case !strings.Contains(t.Message, all[i].says):
			p.fail("%s: as given, %s fails for another reason than %q:\n%s", name, t.Name, all[i].says, t.Message)
		}
	}
	for _, x := range all {
		if !slices.ContainsFunc(v.Tests, func(t Test) bool { return t.Name == x.name && t.State == gotest.Failed }) {
			p.fail("%s: as given, %s should fail, and doesn't", name, x.name)
		}
	}
	if p.Failed == before {
		p.Passed++
	}
}

// solved judges the run of the solution.
func (p *Proof) solved(e Exercise, v Verdict) {
	name := e.Path(solutionFile)
	switch v.Outcome {
	case NotCompiled:
		p.fail("%s: %s:\n%s", name, v.summary(), v.Compiler)
	case NoTest:
		p.fail("%s: no test was run", name)
	}
	if v.Outside != nil {
		p.fail("%s: it fails outside its tests:\n%s", name, v.Outside.Message)
	}
	for _, t := range v.Tests {
		switch t.State {
		case gotest.Passed:
			p.Passed++
		case gotest.Skipped:
			p.Skipped++
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %s was skipped:\n%s", name, t.Name, t.Message))
		case gotest.Failed:
			p.fail("%s: %s fails:\n%s", name, t.Name, t.Message)
		}
	}
}
