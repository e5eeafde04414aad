package process

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

// Git runs git in dir, a repository or a folder in one, and returns its output. If git fails, the
// error quotes git's message.
func Git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	// In a hook, these variables point git to the hook's repository.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "GIT_")
	})
	output, err := command.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s (git: %w)", bytes.TrimSpace(exit.Stderr), err)
	}
	return output, err
}
