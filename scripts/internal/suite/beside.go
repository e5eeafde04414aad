package suite

// The commands in the texts run beside the tests: much of both is waiting. A reader changes files and clusters, so it is a copy of the
// repository that they run in.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
)

// startCommands begins to run the commands in these files. join waits until all have run, and shows what came of them.
func (s *Suite) startCommands(ctx context.Context, files []string) (join func()) {
	var said output.Buffer
	doing := make(chan string, 1)
	follow := func(text string) {
		select { // the latest counts
		case <-doing:
		default:
		}
		doing <- text
	}
	reader := &Suite{Bin: s.Bin, this: s.this, UI: s.UI.Beside(&said, follow)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		reader.runAsReader(ctx, s.Root, files)
	}()
	return func() {
		step := s.UI.Start("the commands in the texts, which began with the tests")
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			case text := <-doing:
				step.Update("%s", text)
			}
		}
		step.Drop()
		s.UI.Say("%s", strings.TrimSuffix(said.String(), "\n"))
		s.counts = s.counts.Plus(reader.counts)
	}
}

// readAlone runs the commands in these files, and nothing beside them.
func (s *Suite) readAlone(ctx context.Context, files []string) {
	reader := &Suite{Bin: s.Bin, this: s.this, UI: s.UI}
	reader.runAsReader(ctx, s.Root, files)
	s.counts = s.counts.Plus(reader.counts)
}

// runAsReader runs the commands in a copy of the repository at root.
func (s *Suite) runAsReader(ctx context.Context, root string, files []string) {
	s.Root = readersCopy(root)
	err := copyRepository(root, s.Root, s.Bin)
	if err != nil {
		s.counts.Failed++
		s.UI.Say("%s", problem.Format(err))
		return
	}
	s.commands(ctx, files)
	if s.counts.Failed > 0 {
		s.this.Keep(readersRoot)
	}
}

// readersCopy is where a copy of the repository at root is kept for the time that a reader needs it.
func readersCopy(root string) string { return filepath.Join(root, ".workshop", readersRoot) }

// copyRepository copies the repository at root to copied, and links the control plane's programs in bin. What git and the workshop keep there
// isn't copied.
func copyRepository(root, copied, bin string) error {
	if err := os.RemoveAll(copied); err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if slices.Contains([]string{".git", ".workshop"}, entry.Name()) {
			continue
		}
		if err := copyEntry(root, copied, entry); err != nil {
			return err
		}
	}
	to := filepath.Join(copied, ".workshop", "bin")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, component := range controlplane.Components() {
		for _, name := range []string{component.Name, "." + component.Name + ".stamp"} {
			err = errors.Join(err, os.Symlink(filepath.Join(bin, name), filepath.Join(to, name)))
		}
	}
	return err
}

// copyEntry copies a folder or a file.
func copyEntry(from, to string, entry fs.DirEntry) error {
	if entry.IsDir() {
		return os.CopyFS(filepath.Join(to, entry.Name()), os.DirFS(filepath.Join(from, entry.Name())))
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(from, entry.Name()))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, entry.Name()), content, info.Mode().Perm())
}
