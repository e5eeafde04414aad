// Package git runs git. Callers go by its exit status: its words depend on its version and on the user's language.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ErrNone says that this machine has no git command.
var ErrNone = errors.New("there is no git command here")

// Run runs git in dir, which is the top of a repository or a folder in it, and returns what it printed. If git fails, the
// error wraps an *exec.ExitError and quotes what git said.
func Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	// A hook's variables would point git to the hook's repository. How far up git may look for one is another matter.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_") && !strings.HasPrefix(variable, "GIT_CEILING_DIRECTORIES=")
	})
	output, err := command.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return output, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNone
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s (git: %w)", bytes.TrimSpace(exit.Stderr), err)
	}
	return nil, err
}
