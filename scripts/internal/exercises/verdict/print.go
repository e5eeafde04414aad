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
	atOnce   = 3  // failed tests are shown; the others may well fail for the same reason
	maxLines = 20 // of one message

	answerLines = 16 // of an answer, so that the verdict stays on the screen
)

type page struct {
	strings.Builder
	ui.Palette
	all    bool // of each failed test
	failed int  // failed tests so far
	place  string
	group  string
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
	title := ui.Item("  ", fmt.Sprintf("%s %s: %s (%.1fs)", e.Name(), e.Title, v.Summary(), v.Took.Seconds()))
	p.printf("%s %s\n", mark, p.Bold.Sprint(strings.TrimSpace(title)))
	switch v.Outcome {
	case NotCompiled:
		p.lines("  ", v.Compiler)
		if strings.Contains(v.Compiler, e.Path(exercises.TestFile)+":") {
			p.printf("\n  The test uses the names and types that the original %s declares, so keep them.",
				exercises.ExerciseFile)
		}
	case Unnamed:
		p.question(v.Cause)
	case NoTest:
		p.printf("  Nothing was checked. Is %s still the original?", e.Path(exercises.TestFile))
	}
	for _, t := range v.Tests {
		p.test(t)
	}
	if v.Crashed {
		p.printf("\n  The run ended there. The tests after it are missing here.")
	}
	if later := p.failed - atOnce; later > 0 && !all {
		p.printf("\n  Begin with these. Not shown: %s. All at once:\n    ./scripts/workshop check %s --all",
			ui.Plural(later, "failing test"), e.Name())
	}
	return p.String()
}

// question prints a ticket's question with its answers.
func (p *page) question(cause *exercises.Cause) {
	p.printf("  %s", cause.Question)
	for i, answer := range cause.Answers {
		p.printf("%s", ui.Item(fmt.Sprintf("    %d. ", i+1), answer.Text))
	}
}

// test prints a test, with the heading of its group above the first one. If many fail, it prints the
// first few, so that the learner can take one step at a time.
func (p *page) test(t Test) {
	if t.State == gotest.Failed {
		if p.failed++; p.failed > atOnce && !p.all {
			return
		}
	}
	if t.Group != "" && t.Group != p.group {
		p.printf("  %s:", t.Group)
	}
	p.group = t.Group
	indent := "  "
	if t.Group != "" {
		indent += "  "
	}
	switch t.State {
	case gotest.Passed:
		p.sentence(indent, p.Green.Sprint("✓"), t.Sentence)
	case gotest.Failed:
		p.sentence(indent, p.Red.Sprint("✗"), t.Sentence)
		p.reason(t, indent+"    ")
	case gotest.Skipped:
		p.sentence(indent, "-", t.Sentence+": not checked")
		p.lines(indent+"    ", t.Message)
	default:
		p.sentence(indent, "-", t.Sentence+": the run ended before it")
	}
}

// sentence prints a sentence after a mark, which may have a color.
func (p *page) sentence(indent, mark, text string) {
	p.printf("%s%s %s", indent, mark, strings.TrimLeft(ui.Item(indent+"  ", text), " "))
}

func (p *page) reason(t Test, indent string) {
	p.lines(indent, t.Message)
	if t.Place != "" && t.Place != p.place {
		p.printf("%s", p.Grey.Sprint(ui.Item(indent, fmt.Sprintf("look at: %s (%s)", t.Place, t.Why))))
		p.place = t.Place // isn't repeated
	}
	if t.Row != "" {
		p.printf("%s%s", indent, p.Grey.Sprintf("the test: %s", t.Row))
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
		p.printf("%s", strings.TrimRight(ui.Item(indent, line), " "))
	}
}

// Advice tells the learner what to do next.
func (v Verdict) Advice(root string, all []exercises.Exercise) (string, error) {
	e := v.Exercise
	readme := e.Path(exercises.ReadmeFile)
	switch v.Outcome {
	case Unnamed:
		const text = "The evidence: %s\nYour answer: ./scripts/workshop check %s --cause 1 (or 2, and so on)"
		return fmt.Sprintf(text, readme, e.Name()), nil
	case Passed:
		return passedAdvice(root, e, all)
	}
	return fmt.Sprintf("The task: %s\nA hint: ./scripts/workshop hint %s", readme, e.Name()), nil
}

// passedAdvice shows the answer, and says what comes next.
func passedAdvice(root string, e exercises.Exercise, all []exercises.Exercise) (string, error) {
	answer, err := e.ReadAnswer()
	if err != nil {
		return "", err
	}
	progress, err := exercises.ReadProgress(root)
	if err != nil {
		return "", err
	}
	advice := exercises.FirstLines(answer, answerLines, e.Path(exercises.AnswerFile)) + "\n\n"
	if e.IsCapstone() && !progress.Of(e).Judged {
		const text = "The tests pass. Now hold your program to the course's promises: ./scripts/workshop judge "
		return advice + text + e.Name(), nil
	}
	advice += "Well done. To compare: ./scripts/workshop solution " + e.Name()
	next, err := exercises.Next(root, all, e)
	return advice + "\n" + next, err
}
