package exercises

// What a run of go test means to the learner: each test as a sentence, its message without go test's own words, and the
// place in their own file.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/operators/scripts/internal/gotest"
)

// Outcome is what a check came to.
type Outcome int

const (
	Failed      Outcome = iota
	Passed              // at least one test ran, and none failed
	NotCompiled         // the tests couldn't be built
	NoTest              // nothing ran
)

// Verdict is what a check found out.
type Verdict struct {
	Exercise Exercise
	Outcome  Outcome
	Tests    []Test // in the order in which they stand in the test file
	// Compiler holds what the compiler says, with paths as seen from the repository's root, or what vet says, if Vetted: it
	// compiles, and has a mistake that is one all the same. Only if NotCompiled.
	Compiler string
	Vetted   bool
	// Outside is a failure that belongs to no test, such as a panic in an init function.
	Outside *Test
	Took    time.Duration
}

// Test is one test that stands for itself: one with subtests is there only if it says something of its own.
type Test struct {
	Name     string // as go test has it
	Sentence string
	State    gotest.State
	Message  string // its own sentences, or how it panicked
	// Place is where to look in the learner's file, if that can be told, as path:line, and Why says why there.
	Place, Why string
	// Asked is the place in the test file that says what is expected.
	Asked string
}

// explain makes a verdict of the run of an exercise's package.
func explain(e Exercise, run *gotest.Package, took time.Duration) Verdict {
	v := Verdict{Exercise: e, Took: took}
	if run.Build != "" {
		v.Outcome, v.Compiler, v.Vetted = NotCompiled, compilerSays(e, run.Build), strings.Contains(run.Build, "\n# [")
		return v
	}
	source := readSource(e)
	crashes := settleCrashes(run)
	for _, t := range run.Tests {
		test := newTest(e, source, t.Name, t.State, t.Output(), crashes[t])
		group := slices.ContainsFunc(run.Tests, func(other *gotest.Test) bool { return strings.HasPrefix(other.Name, t.Name+"/") })
		if !group || t.State == gotest.Failed && test.Message != "" {
			v.Tests = append(v.Tests, test)
		}
	}
	source.sort(v.Tests)
	if run.Failed && !slices.ContainsFunc(v.Tests, func(t Test) bool { return t.State == gotest.Failed }) {
		test := newTest(e, source, "outside the tests", gotest.Failed, run.Output(), findCrash(run.Output()))
		v.Outside = &test
	}
	switch {
	case run.Failed:
		v.Outcome = Failed
	case slices.ContainsFunc(v.Tests, func(t Test) bool { return t.State == gotest.Passed }):
		v.Outcome = Passed
	default:
		v.Outcome = NoTest
	}
	return v
}

// settleCrashes finds the test that ended the whole run, if one did. go test reports a subtest's panic as its parent's
// output: it belongs to the subtest that ran last.
func settleCrashes(run *gotest.Package) map[*gotest.Test]*crash {
	crashes := map[*gotest.Test]*crash{}
	var last *gotest.Test // that wasn't finished
	for _, t := range run.Tests {
		if t.State == gotest.Unfinished {
			last = t
		}
		c := findCrash(t.Output())
		if c == nil {
			continue
		}
		culprit := t
		for _, other := range run.Tests {
			if strings.HasPrefix(other.Name, t.Name+"/") && (other.State == gotest.Failed || other.State == gotest.Unfinished) {
				culprit = other
			}
		}
		culprit.State = gotest.Failed
		crashes[culprit] = c
	}
	if run.Failed && last != nil && len(crashes) == 0 {
		last.State = gotest.Failed
		crashes[last] = &crash{exited: true}
	}
	return crashes
}

func newTest(e Exercise, source source, name string, state gotest.State, output string, c *crash) Test {
	test := Test{Name: name, Sentence: source.sentence(name), State: state}
	said, asked, mentioned := ownWords(output)
	test.Message = said
	if line := source.asked(name); line > 0 {
		test.Asked = fmt.Sprintf("%s:%d", e.Path(testFile), line)
	} else if asked != "" {
		test.Asked = e.Path(asked)
	}
	if state != gotest.Failed {
		return test
	}
	var line int
	if c != nil {
		test.Message = strings.TrimPrefix(said+"\n"+c.message(), "\n")
		line, test.Why = c.place(e)
	}
	if line == 0 && mentioned > 0 {
		line, test.Why = mentioned, "the test names"
	}
	if line == 0 {
		line, test.Why = source.called(name)
	}
	if line > 0 {
		test.Place = fmt.Sprintf("%s:%d", e.Path(exerciseFile), line)
	}
	return test
}

var mention = regexp.MustCompile(`\b` + regexp.QuoteMeta(exerciseFile) + `:(\d+)\b`)

// ownWords is what a test said; where in a test file it last said something, as file:line; and the line of exercise.go that
// it mentioned, if it did. What was printed and not said by the test is marked.
func ownWords(output string) (said, asked string, mentioned int) {
	var lines []string
	for _, words := range gotest.Words(beforeCrash(output)) {
		switch words.File {
		case "":
			words.Text = "printed: " + words.Text
		case exerciseFile:
			mentioned = words.Line
		default:
			asked = fmt.Sprintf("%s:%d", words.File, words.Line)
		}
		lines = append(lines, words.Text)
	}
	said = strings.TrimSpace(strings.Join(lines, "\n"))
	if match := mention.FindStringSubmatch(said); match != nil {
		mentioned, _ = strconv.Atoi(match[1])
	}
	return said, asked, mentioned
}

// compilerSays is the compiler's output without its headings, with paths from the repository's root.
func compilerSays(e Exercise, output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		line = strings.ReplaceAll(line, e.Chapter.Dir+"/", "")
		if strings.HasPrefix(line, folder+"/") {
			line = e.Chapter.Name + "/" + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
