package verdict

// Formatting a verdict for the learner.

import (
	"fmt"
	"strings"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

const (
	inFull   = 3  // failed tests are shown in full; the others may well fail for the same reason
	maxLines = 20 // of one message
)

type page struct {
	strings.Builder
	ui.Palette
	all    bool // of each failed test
	failed int  // failed tests so far
	short  int  // of these, how many aren't shown in full
	place  string
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Text formats the verdict for the learner: everything, or a screenful.
func (v Verdict) Text(colours ui.Palette, all bool) string {
	p := &page{Palette: colours, all: all}
	mark := p.Red.Sprint("✗")
	if v.Outcome == Passed {
		mark = p.Green.Sprint("✓")
	}
	e := v.Exercise
	p.printf("%s %s: %s (%.1fs)\n", mark, p.Bold.Sprintf("%s %s", e.Name(), e.Title), v.Summary(), v.Took.Seconds())
	switch v.Outcome {
	case NotCompiled:
		p.lines("  ", v.Compiler)
		if strings.Contains(v.Compiler, e.Path(exercises.TestFile)+":") {
			p.printf("\n  The test uses the names and types that the original %s declares, so keep them.", exercises.ExerciseFile)
		}
	case NoTest:
		p.printf("  Nothing was checked. Is %s still the original?", e.Path(exercises.TestFile))
	}
	for _, t := range v.Tests {
		p.test(t)
	}
	if p.short > 0 {
		p.printf("\n  Shown in short: %s. In full: ./scripts/workshop check %s --all", ui.Plural(p.short, "failing test"), e.Name())
	}
	return p.String()
}

func (p *page) test(t Test) {
	switch t.State {
	case gotest.Passed:
		p.printf("  %s %s", p.Green.Sprint("✓"), t.Sentence)
	case gotest.Failed:
		p.printf("  %s %s", p.Red.Sprint("✗"), t.Sentence)
		p.reason(t)
	case gotest.Skipped:
		p.printf("  - %s: not checked", t.Sentence)
		p.lines("      ", t.Message)
	default:
		p.printf("  - %s: the run ended before it", t.Sentence)
	}
}

func (p *page) reason(t Test) {
	p.failed++
	if p.failed > inFull && !p.all {
		first, _, _ := strings.Cut(t.Message, "\n")
		p.lines("      ", first)
		p.short++
		return
	}
	p.lines("      ", t.Message)
	if t.Place != "" && t.Place != p.place {
		p.printf("      %s", p.Grey.Sprintf("look at: %s (%s)", t.Place, t.Why))
		p.place = t.Place // isn't repeated
	}
	if t.Row != "" {
		p.printf("      %s", p.Grey.Sprintf("the test: %s", t.Row))
	}
}

// lines prints the first lines of a text, or all.
func (p *page) lines(indent, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if text == "" {
		return
	}
	for i, line := range lines {
		if i == maxLines && !p.all {
			p.printf("%s… (%d more lines)", indent, len(lines)-i)
			return
		}
		p.printf("%s", strings.TrimRight(indent+line, " "))
	}
}

// Advice tells the learner what to do next.
func (v Verdict) Advice(root string, all []exercises.Exercise) (string, error) {
	e := v.Exercise
	if v.Outcome != Passed {
		return fmt.Sprintf("The task: %s\nA hint: ./scripts/workshop hint %s", e.Path(exercises.ReadmeFile), e.Name()), nil
	}
	progress, err := exercises.ReadProgress(root)
	if err != nil {
		return "", err
	}
	advice := fmt.Sprintf("Well done. To compare: ./scripts/workshop solution %s", e.Name())
	if next, found := exercises.NextOpen(all, e, progress); found {
		return advice + fmt.Sprintf("\nThe next: %s %s, %s", next.Name(), next.Title, next.Path(exercises.ReadmeFile)), nil
	}
	return advice + "\nNo other exercise is left to do.", nil
}
