package watch

// Opening the place to work on in the learner's editor.

import (
	"context"
	"fmt"
	"strings"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// edit runs the editor's command in the background. If it fails, the main loop prints the error.
func (s *session) edit(ctx context.Context) {
	if s.EditCommand == "" {
		s.printf("\nTo open your editor with e, start watch with its command: --edit-cmd 'code -g {file}:{line}'")
		s.printFooter()
		return
	}
	v := s.verdict
	v.Exercise = s.current
	command, err := exercises.EditCommand(s.EditCommand, s.Checker.Root, v.EditPlace())
	if err != nil {
		s.printError(err)
		return
	}
	go func() {
		output, err := command.CombinedOutput()
		if err == nil {
			return
		}
		failed := problem.New("%s failed", strings.Join(command.Args, " ")).
			ToDo("try it in a terminal: --edit-cmd needs an editor with a window of its own").
			Because(fmt.Errorf("%w\n%s", err, output))
		select {
		case s.edited <- failed:
		case <-ctx.Done():
		}
	}()
}
