package exercises

// A verdict on the page: what holds, what doesn't, what was expected, and where to look.

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

const (
	// maxTold is how many failed tests are told about in full: the others may well fail for the same reason.
	maxTold = 3
	// maxLines is how many lines of one test's message are shown.
	maxLines = 20
)

// printer collects what is shown.
type printer struct {
	ui.Palette
	out bytes.Buffer
}

func newPrinter(colour bool) *printer { return &printer{Palette: ui.NewPalette(colour)} }

func (p *printer) say(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *printer) flush(w io.Writer) error {
	_, err := p.out.WriteTo(w)
	return err
}

// Print shows the verdict to a learner.
func (v Verdict) Print(w io.Writer, colour bool) error {
	p := newPrinter(colour)
	mark := p.Red.Sprint("✗")
	if v.Outcome == Passed {
		mark = p.Green.Sprint("✓")
	}
	p.say("%s %s: %s (%.1fs)", mark, p.Bold.Sprintf("%s %s", v.Exercise.Name(), v.Exercise.Title), v.summary(), v.Took.Seconds())
	switch v.Outcome {
	case NotCompiled:
		p.compiler(v)
	case NoTest:
		p.say("\n  Nothing was checked: is %s still as it was given?", v.Exercise.Path(testFile))
	default:
		p.tests(v)
	}
	return p.flush(w)
}

// Advice is what the learner may do next: one who has passed may compare, and go on to the next of all exercises that isn't
// passed yet.
func (v Verdict) Advice(root string, all []Exercise) (string, error) {
	e := v.Exercise
	if v.Outcome != Passed {
		return fmt.Sprintf("The task: %s\nA hint: ./scripts/workshop hint %s", e.Path(readmeFile), e.Name()), nil
	}
	advice := fmt.Sprintf("Well done. To compare: ./scripts/workshop solution %s", e.Name())
	progress, err := ReadProgress(root)
	if err != nil {
		return "", err
	}
	next, found := NextOpen(all, e, progress)
	if !found {
		return advice + "\nNo other exercise is left to do.", nil
	}
	return advice + fmt.Sprintf("\nThe next: %s %s, %s", next.Name(), next.Title, next.Path(readmeFile)), nil
}

func (v Verdict) summary() string {
	switch v.Outcome {
	case Passed:
		return "passed"
	case NotCompiled:
		if v.Vetted {
			return "go vet finds a mistake"
		}
		return "it doesn't compile"
	case NoTest:
		return "no test was run"
	}
	run := v.count(gotest.Passed) + v.count(gotest.Failed) + v.count(gotest.Unfinished)
	if run == 0 {
		return "it fails before its first test"
	}
	return fmt.Sprintf("%d of %s passed", v.count(gotest.Passed), ui.Plural(run, "test"))
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

func (p *printer) compiler(v Verdict) {
	p.say("")
	p.lines("  ", v.Compiler)
	if strings.Contains(v.Compiler, v.Exercise.Path(testFile)+":") {
		p.say("\n  The test uses what %s declared as it was given: keep those names and types.", exerciseFile)
	}
}

func (p *printer) tests(v Verdict) {
	p.say("")
	told, place := 0, ""
	tell := func(t Test) {
		told++
		if told > maxTold {
			return
		}
		p.lines("      ", t.Message)
		if t.Place != "" && t.Place != place {
			p.say("      %s", p.Grey.Sprintf("%s: %s", t.Why, t.Place))
			place = t.Place // the next ones needn't repeat it
		}
		if t.Asked != "" {
			p.say("      %s", p.Grey.Sprintf("what is asked: %s", t.Asked))
		}
	}
	if v.Outside != nil {
		p.say("  %s %s", p.Red.Sprint("✗"), v.Outside.Sentence)
		tell(*v.Outside)
	}
	for _, t := range v.Tests {
		switch t.State {
		case gotest.Passed:
			p.say("  %s %s", p.Green.Sprint("✓"), t.Sentence)
		case gotest.Failed:
			p.say("  %s %s", p.Red.Sprint("✗"), t.Sentence)
			tell(t)
		case gotest.Skipped:
			p.say("  - %s: not checked", t.Sentence)
			p.lines("      ", t.Message)
		default:
			p.say("  - %s: the run ended before it", t.Sentence)
		}
	}
}

// lines prints a text of several lines, or its beginning.
func (p *printer) lines(indent, text string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == maxLines {
			p.say("%s… (%d more lines)", indent, len(lines)-i)
			return
		}
		if line != "" || i < len(lines)-1 {
			p.say("%s", strings.TrimRight(indent+line, " "))
		}
	}
}
