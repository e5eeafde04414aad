package watch

// What watch mode prints.

import (
	"fmt"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// taskLines limits how much of a task is shown, because the result of the check comes below it.
const taskLines = 8

func (s *session) printf(format string, args ...any) {
	fmt.Fprintf(s.Terminal.Out, format+"\n", args...)
}

func (s *session) printError(err error) { s.printf("\n%s", ui.Wrap(problem.Format(err))) }

func (s *session) clear() {
	if s.Terminal.Clear {
		fmt.Fprint(s.Terminal.Out, "\033[2J\033[H")
	}
}

// printCompiling says how far a slow check is, on one line, which the next call replaces.
func (s *session) printCompiling(packages int) {
	if s.Terminal.Clear {
		fmt.Fprintf(s.Terminal.Out, "\r\033[K%s", verdict.Left(packages))
	}
}

// printTask prints an exercise's task and its question.
func (s *session) printTask() {
	e := s.current
	s.printf("%s\n", s.Terminal.Colours.Bold.Sprintf("%s %s", e.Name(), e.Title))
	if e.Task != "" {
		s.printf("%s\n", exercises.FirstLines(e.Task, taskLines, e.Path(exercises.ReadmeFile)))
	}
	if e.Predict != "" {
		s.printf("%s\n", ui.Wrap("Predict: "+e.Predict))
	}
}

// printResult prints the verdict, and what to do next.
func (s *session) printResult(r result) {
	if r.verdict.Exercise == s.current { // it was checked, even if that can't be recorded
		s.printf("\n%s", r.verdict.Text(s.Terminal.Colours, false))
	}
	advice, err := "", r.err
	if err == nil {
		advice, err = r.verdict.Advice(s.Checker.Root, s.Exercises)
	}
	s.reply(advice, err)
}

func (s *session) list() (string, error) {
	progress, err := exercises.ReadProgress(s.Checker.Root)
	return exercises.Table(s.Exercises, progress, s.Terminal.Colours), err
}

// reply prints a text or an error, the progress, and the keys.
func (s *session) reply(text string, err error) {
	if err != nil {
		text = problem.Format(err)
	}
	s.printf("\n%s", text)
	s.printFooter()
}

// printFooter prints the progress and the keys.
func (s *session) printFooter() {
	if progress, err := exercises.ReadProgress(s.Checker.Root); err == nil {
		s.printf("\n%s", exercises.Tally(s.Exercises, progress))
	}
	switch {
	case s.Terminal.Keys == nil:
		s.printf("Waiting for the next save. Press Ctrl-C to stop.")
	case s.asksForCause():
		s.printf("1 to %d your answer   h hint   l list   n next   q quit", len(s.verdict.Cause.Answers))
	default:
		s.printf("h hint   l list   n next   c check again   q quit")
	}
}
