package watch

// What watch mode prints.

import (
	"fmt"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// taskLines limits how much of a task is shown, because the result of the check comes below it.
const taskLines = 8

func (s *session) printf(format string, args ...any) {
	fmt.Fprintf(s.Terminal.Out, format+"\n", args...)
}

func (s *session) printError(err error) { s.printf("\n%s", problem.Format(err)) }

func (s *session) clear() {
	if s.Terminal.Clear {
		fmt.Fprint(s.Terminal.Out, "\033[2J\033[H")
	}
}

// printTask prints an exercise's task and its question, when the exercise is opened.
func (s *session) printTask() {
	e := s.current
	readme, err := e.ReadReadme()
	if err != nil {
		s.printError(err)
		return
	}
	s.printf("%s\n", s.Terminal.Colours.Bold.Sprintf("%s %s", e.Name(), e.Title))
	if readme.Task != "" {
		s.printf("%s\n", exercises.FirstLines(readme.Task, taskLines, e))
	}
	if readme.Predict != "" {
		s.printf("%s\n", exercises.Wrap("Predict: "+readme.Predict))
	}
}

// printFooter prints the progress, and the keys or what the user is typing.
func (s *session) printFooter() {
	progress, err := exercises.ReadProgress(s.Checker.Root)
	if err == nil {
		s.printf("\n%s", exercises.Bar(s.Exercises, progress))
	}
	switch {
	case s.Terminal.Keys == nil:
		s.printf("Waiting for the next save. Press Ctrl-C to stop.")
	case s.guess != nil:
		s.printGuess()
	default:
		s.printf("%s", strings.Join(s.keys(), "   "))
	}
}

func (s *session) keys() []string {
	if s.isNaming() {
		return []string{fmt.Sprintf("1 to %d your answer", len(s.verdict.Cause.Answers)), "h hint", "l list", "n next", "q quit"}
	}
	keys := []string{"h hint", "p your guess", "l list", "n next", "c check again", "q quit"}
	if s.EditCommand != "" {
		keys = append([]string{"e edit"}, keys...)
	}
	return keys
}

// redraw prints the list or, once that is closed, the screen as it was before.
func (s *session) redraw() {
	s.clear()
	if s.list != nil {
		fmt.Fprint(s.Terminal.Out, s.list.draw(s, s.Terminal.Rows()))
		return
	}
	if s.cancel != nil {
		s.printChecking()
	} else {
		s.printf("%s", s.page)
	}
	s.printFooter()
}

func (s *session) printChecking() {
	s.printf("Checking %s …", s.current.Path(exercises.ExerciseFile))
}

func (s *session) reportLongCheck() {
	if took := time.Since(s.begun).Round(time.Second); s.cancel != nil && s.list == nil && took >= reportPeriod {
		s.printf("still checking (%s); the first time, Go compiles the libraries too", took)
	}
}
