package verdict

// A verdict has a sentence for each test, its message without go test's additions, and the place in
// the learner's file.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

type Outcome int

const (
	Failed      Outcome = iota
	Passed              // at least one test ran, and none failed
	NotCompiled         // the tests couldn't be built
	NoTest              // nothing ran
	Unnamed             // a ticket whose cause the learner hasn't named: nothing ran
)

type Verdict struct {
	Exercise exercises.Exercise
	Outcome  Outcome
	Cause    *exercises.Cause // the question, if the outcome is Unnamed
	Tests    []Test           // in the order of the source, after a failure outside of them, as in init
	Compiler string           // the compiler's or vet's output, with paths from the repository's root
	Vetted   bool             // the code compiles, but vet finds a mistake; then Outcome is NotCompiled, too
	Crashed  bool             // the run ended too early, so tests may be missing
	Took     time.Duration
}

// Test is one test. One with subtests only counts if it has a message of its own.
type Test struct {
	Name       string // go test's
	Sentence   string
	Group      string // the heading of the subtests of the same test, if several tests have subtests
	State      gotest.State
	Message    string // the test's output, or how it panicked
	Place, Why string // where to look in the learner's file, as path:line, and why; "": unknown
	Row        string // the place in the test file with the expected result
}

func explain(e exercises.Exercise, run *gotest.Package) Verdict {
	v := Verdict{Exercise: e}
	if run.Build != "" {
		v.Outcome, v.Compiler, v.Vetted = NotCompiled, compilerOutput(e, run.Build), strings.Contains(run.Build, "\n# [")
		return v
	}
	source := readSource(e)
	crashes := assignCrashes(run)
	for _, t := range run.Tests {
		test := source.test(t.Name, t.State, string(t.Output), crashes[t])
		group := slices.ContainsFunc(run.Tests, func(other *gotest.Test) bool {
			return strings.HasPrefix(other.Name, t.Name+"/")
		})
		if !group || t.State == gotest.Failed && test.Message != "" {
			v.Tests = append(v.Tests, test)
		}
	}
	v.Crashed = len(crashes) > 0
	source.sort(v.Tests)
	source.group(v.Tests)
	if run.Failed && v.count(gotest.Failed) == 0 {
		_, crash := findCrash(string(run.Output))
		v.Tests = slices.Insert(v.Tests, 0, source.test("outside the tests", gotest.Failed, string(run.Output), crash))
	}
	switch {
	case run.Failed:
		v.Outcome = Failed
	case v.count(gotest.Passed) > 0:
		v.Outcome = Passed
	default:
		v.Outcome = NoTest
	}
	return v
}

func (v Verdict) count(state gotest.State) int {
	n := 0
	for _, t := range v.Tests {
		if t.State == state {
			n++
		}
	}
	return n
}

func (v Verdict) Summary() string {
	switch {
	case v.Outcome == Passed:
		return "passed"
	case v.Vetted:
		return "go vet finds a mistake"
	case v.Outcome == NotCompiled:
		return "it doesn't compile"
	case v.Outcome == Unnamed:
		return "first name the cause"
	case v.Outcome == NoTest:
		return "no test was run"
	}
	passed := v.count(gotest.Passed)
	run := passed + v.count(gotest.Failed) + v.count(gotest.Unfinished)
	return fmt.Sprintf("%d of %s passed", passed, ui.Plural(run, "test"))
}

func (s *source) test(name string, state gotest.State, output string, c *crash) Test {
	message, row, mentioned := splitOutput(output)
	test := Test{Name: name, Sentence: s.sentence(name), State: state, Message: message, Row: s.row(name)}
	if test.Row == "" && row != "" {
		test.Row = s.exercise.Path(row)
	}
	if state != gotest.Failed {
		return test
	}
	line := 0
	if c != nil {
		test.Message = strings.TrimPrefix(message+"\n"+c.message(), "\n")
		line, test.Why = c.place(s.exercise)
	}
	if line == 0 && mentioned > 0 {
		line, test.Why = mentioned, "the test names it"
	}
	if line > 0 {
		test.Place = fmt.Sprintf("%s:%d", s.exercise.Path(exercises.ExerciseFile), line)
		return test
	}
	if s.exercise.IsTicket() {
		return test // to find the place is the task
	}
	at, why := s.work(name)
	test.Place, test.Why = s.place(at), why
	return test
}

var mention = regexp.MustCompile(`\b` + regexp.QuoteMeta(exercises.ExerciseFile) + `:(\d+)\b`)

// splitOutput returns a test's message; the last place in a test file that printed one, as
// file:line; and the line of exercise.go that it mentions, or 0. Lines from outside the test are
// marked.
func splitOutput(output string) (message, row string, mentioned int) {
	output, _ = findCrash(output)
	var lines []string
	for _, message := range gotest.Messages(output) {
		switch message.File {
		case "":
			message.Text = "printed: " + message.Text
		case exercises.ExerciseFile:
			mentioned = message.Line
		default:
			row = fmt.Sprintf("%s:%d", message.File, message.Line)
		}
		lines = append(lines, message.Text)
	}
	message = strings.TrimSpace(strings.Join(lines, "\n"))
	own, _, _ := strings.Cut(message, "\nthe operator's log") // whose lines also have places
	if match := mention.FindStringSubmatch(own); match != nil {
		mentioned, _ = strconv.Atoi(match[1])
	}
	return message, row, mentioned
}

// compilerOutput removes the headings, and makes paths relative to the repository's root.
func compilerOutput(e exercises.Exercise, output string) string {
	output = strings.ReplaceAll(heading.ReplaceAllString(output, ""), e.Chapter.Dir+"/", "")
	return strings.TrimSuffix(fromChapter.ReplaceAllString(output, e.Chapter.Name+"/$0"), "\n")
}

var (
	heading     = regexp.MustCompile(`(?m)^# .*\n?`)
	fromChapter = regexp.MustCompile(`(?m)^` + exercises.Folder + `/`)
)
