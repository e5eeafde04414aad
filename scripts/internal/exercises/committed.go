package exercises

// The exercises as they were given: what git has of them, whatever a learner has made of it since.

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

var (
	// errNoGit: there is no git command, or root isn't in a git repository.
	errNoGit = errors.New("this folder isn't under git, or there is no git here")
	// errNotCommitted: git doesn't know this file or folder.
	errNotCommitted = errors.New("git doesn't have it")
)

// committedFile returns a file as committed last. Its path is relative to root.
func committedFile(ctx context.Context, root, path string) ([]byte, error) {
	return git(ctx, root, "show", "HEAD:./"+path)
}

// exportCommitted writes a folder as committed last to the folder to, which must not exist.
func exportCommitted(ctx context.Context, root, folder, to string) error {
	archive, err := git(ctx, root, "archive", "--format=tar", "HEAD", "--", folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read git's archive of %s: %w", folder, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue // folders are made with their files
		}
		name, err := filepath.Rel(folder, header.Name)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return fmt.Errorf("read git's archive of %s: %w", folder, err)
		}
		if err := target.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := target.WriteFile(name, content, os.FileMode(header.Mode).Perm()); err != nil {
			return err
		}
	}
}

// git runs git in root, be that the top of its repository or a folder in it, and returns what it printed.
func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	// A hook's variables would point git to the hook's repository. Messages are read below: in English, please.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	command.Env = append(command.Env, "LC_ALL=C")
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	said := strings.TrimSpace(stderr.String())
	switch {
	case err == nil:
		return output, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound), strings.Contains(said, "not a git repository"):
		return nil, errNoGit
	}
	for _, unknown := range []string{"does not exist", "exists on disk, but not in", "did not match any files", "invalid object name", "not a valid object name", "Not a valid object name", "unknown revision"} {
		if strings.Contains(said, unknown) {
			return nil, errNotCommitted
		}
	}
	return nil, &problem.Problem{
		What: "git can't tell how it was given",
		Mend: "see what git says",
		Err:  fmt.Errorf("git %s: %s", args[0], said),
	}
}
