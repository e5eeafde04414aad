package exercises

// Opening a place in the learner's editor.

import (
	"os/exec"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// EditCommand returns the command that opens a place in an editor. The template is a command with
// {file} and {line}, such as "code -g {file}:{line}". No shell reads it, so a file's name may
// contain spaces. place is relative to root, such as 01-raw-watch/exercises/1-resume/exercise.go:9.
func EditCommand(template, root, place string) (*exec.Cmd, error) {
	if !strings.Contains(template, "{file}") || strings.HasPrefix(strings.TrimSpace(template), "{") {
		return nil, problem.New("--edit-cmd %q isn't a command with {file} in it", template).
			ToDo("give your editor's command, such as --edit-cmd 'code -g {file}:{line}'")
	}
	colon := strings.LastIndex(place, ":")
	values := strings.NewReplacer("{file}", filepath.Join(root, place[:colon]), "{line}", place[colon+1:])
	var args []string
	for _, arg := range strings.Fields(template) {
		args = append(args, values.Replace(arg))
	}
	command := exec.Command(args[0], args[1:]...)
	command.Dir = root
	return command, nil
}
