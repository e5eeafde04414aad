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
	State    state
	Message  string // its own sentences, or how it panicked
	// Place is where to look in the learner's file, if that can be told, as path:line, and Why says why there.
	Place, Why string
	// Asked is the place in the test file that says what is expected.
	Asked string
}

// explain makes a verdict of the run of an exercise's package.
func explain(e Exercise, run *packageRun, took time.Duration) Verdict {
	v := Verdict{Exercise: e, Took: took}
	if run.build != "" {
		v.Outcome, v.Compiler, v.Vetted = NotCompiled, compilerSays(e, run.build), strings.Contains(run.build, "\n# [")
		return v
	}
	source := readSource(e)
	crashes := settleCrashes(run)
	for _, t := range run.tests {
		test := newTest(e, source, t, crashes[t])
		group := slices.ContainsFunc(run.tests, func(other *testRun) bool { return strings.HasPrefix(other.name, t.name+"/") })
		if !group || t.state == stateFailed && test.Message != "" {
			v.Tests = append(v.Tests, test)
		}
	}
	source.sort(v.Tests)
	if run.failed && !slices.ContainsFunc(v.Tests, func(t Test) bool { return t.State == stateFailed }) {
		outside := &testRun{name: "outside the tests", state: stateFailed, output: run.output}
		test := newTest(e, source, outside, findCrash(run.output.String()))
		v.Outside = &test
	}
	switch {
	case run.failed:
		v.Outcome = Failed
	case slices.ContainsFunc(v.Tests, func(t Test) bool { return t.State == statePassed }):
		v.Outcome = Passed
	default:
		v.Outcome = NoTest
	}
	return v
}

// settleCrashes finds the test that ended the whole run, if one did. go test reports a subtest's panic as its parent's
// output: it belongs to the subtest that ran last.
func settleCrashes(run *packageRun) map[*testRun]*crash {
	crashes := map[*testRun]*crash{}
	var last *testRun // that wasn't finished
	for _, t := range run.tests {
		if t.state == stateUnfinished {
			last = t
		}
		c := findCrash(t.output.String())
		if c == nil {
			continue
		}
		culprit := t
		for _, other := range run.tests {
			if strings.HasPrefix(other.name, t.name+"/") && (other.state == stateFailed || other.state == stateUnfinished) {
				culprit = other
			}
		}
		culprit.state = stateFailed
		crashes[culprit] = c
	}
	if run.failed && last != nil && len(crashes) == 0 {
		last.state = stateFailed
		crashes[last] = &crash{exited: true}
	}
	return crashes
}

func newTest(e Exercise, source source, run *testRun, c *crash) Test {
	test := Test{Name: run.name, Sentence: source.sentence(run.name), State: run.state}
	said, asked, mentioned := ownWords(run.output.String())
	test.Message = said
	if line := source.asked(run.name); line > 0 {
		test.Asked = fmt.Sprintf("%s:%d", e.Path(testFile), line)
	} else if asked != "" {
		test.Asked = e.Path(asked)
	}
	if run.state != stateFailed {
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
		line, test.Why = source.called(run.name)
	}
	if line > 0 {
		test.Place = fmt.Sprintf("%s:%d", e.Path(exerciseFile), line)
	}
	return test
}

var (
	// frame are go test's own lines.
	frame = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|PASS$|FAIL($|\t)|ok  \t|exit status )`)
	// located is the first line of what t.Error or t.Log prints.
	located = regexp.MustCompile(`^    (\S+\.go):(\d+): ?(.*)$`)
	mention = regexp.MustCompile(`\b` + regexp.QuoteMeta(exerciseFile) + `:(\d+)\b`)
)

// ownWords is what a test said, without go test's words; where in a test file it last said something, as file:line; and the
// line of exercise.go that it mentioned, if it did. What was printed and not said by the test is marked.
func ownWords(output string) (said, asked string, mentioned int) {
	var lines []string
	saying := false
	for line := range strings.Lines(beforeCrash(output)) {
		line = strings.TrimRight(line, "\n")
		switch match := located.FindStringSubmatch(line); {
		case frame.MatchString(line):
			saying = false
		case match != nil:
			saying = true
			lines = append(lines, match[3])
			if match[1] == exerciseFile {
				mentioned, _ = strconv.Atoi(match[2])
			} else {
				asked = match[1] + ":" + match[2]
			}
		case saying && (strings.HasPrefix(line, "        ") || line == ""):
			lines = append(lines, strings.TrimPrefix(line, "        "))
		case line != "":
			saying = false
			lines = append(lines, "printed: "+line)
		}
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
