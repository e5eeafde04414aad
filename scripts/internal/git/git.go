// Package git runs git. Callers check its exit status, not its output, which depends on its version
// and language.
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

var ErrNone = errors.New("there is no git command here")

// Run runs git in dir, a repository or a folder in one, and returns its output. If git fails, the
// error wraps an *exec.ExitError and quotes git's message.
func Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	// In a hook, these variables point git to the hook's repository. GIT_CEILING_DIRECTORIES, which
	// limits the search for a repository, stays.
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
