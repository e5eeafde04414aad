package suite

// The texts: static checks, and the commands in them, which change files and clusters. So they run
// in a copy of the repository, on its own cluster.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/ui"
)

// Texts checks only the texts, and returns an error if any is wrong.
func (s *Suite) Texts(ctx context.Context) error {
	return s.run(ctx, func() {
		s.testStep(ctx, "code, links and headings in the texts", "scripts", withoutWorkspace,
			"-count=1", "-run=^TestTexts$", "./internal/checks")
		s.readAsReader(ctx)
	})
}

// textFiles are the texts of the chapters and, with Everything, those that belong to no chapter.
func (s *Suite) textFiles() ([]string, error) {
	all, err := docs.Files(s.Root)
	return slices.DeleteFunc(all, func(file string) bool {
		folder, _, _ := strings.Cut(file, "/")
		if !ofChapter.MatchString(folder) {
			return !s.Everything
		}
		return !slices.Contains(chapters.Names(s.Chapters), folder)
	}), err
}

var ofChapter = regexp.MustCompile(`^\d\d-`)

// readAsReader runs the commands in the texts in a new copy of the repository, which stays if one of
// them fails. The next run replaces it.
func (s *Suite) readAsReader(ctx context.Context) {
	reader := &Suite{Root: readersCopy(s.Root), UI: s.UI}
	files, err := s.textFiles()
	reader.step(ctx, "a copy for the commands in the texts", func(*ui.Step) (string, error) {
		return "made", errors.Join(err, copyRepository(s.Root, reader.Root))
	})
	if len(reader.failed) == 0 {
		reader.commands(ctx, files)
	}
	s.failed = append(s.failed, reader.failed...)
	if len(reader.failed) == 0 {
		_ = os.RemoveAll(reader.Root)
	}
}

// commands runs the commands in these files in order on one cluster, like a reader who goes from
// chapter to chapter. Each must leave the cluster as it was, or the next one fails.
func (s *Suite) commands(ctx context.Context, files []string) {
	c := cluster.New(s.Root, readersCluster)
	defer s.removeCluster(ctx, c) // even after an interrupt
	up := false
	for _, file := range files {
		if !docs.HasCommands(s.Root, file) {
			continue
		}
		if !up && !s.freshCluster(ctx, c) {
			return
		}
		up = s.step(ctx, "the commands in "+file, func(step *ui.Step) (string, error) {
			runner := docs.Runner{
				Root: s.Root, Env: s.readersEnvironment(c), Starting: func(command string) { step.Update("%s", command) },
			}
			commands, err := runner.Run(ctx, file)
			return fmt.Sprintf("%d commands", commands), err
		})
		s.removeCluster(ctx, s.Cluster()) // the text may have brought it up, by `workshop test --only`
	}
}

// readersEnvironment is this process's environment with the cluster c, and the workshop's kubectl
// first in PATH.
func (s *Suite) readersEnvironment(c *cluster.Cluster) []string {
	return slices.Concat(os.Environ(), s.kubectl(c).Environment(), []string{
		"WORKSHOP_CLUSTER=" + c.Name(),
		"WORKSHOP_ON=", // the user's choice doesn't apply to the reader
		"NO_COLOR=1",
	})
}

func readersCopy(root string) string { return filepath.Join(stateOf(root), "reader") }

// copyRepository copies a repository's sources, and links its control plane.
func copyRepository(root, copied string) error {
	if err := errors.Join(os.RemoveAll(copied), os.CopyFS(copied, onlySources{os.DirFS(root)})); err != nil {
		return err
	}
	err := os.MkdirAll(binOf(copied), 0o700)
	for _, name := range gobuild.ControlPlaneFiles() {
		err = errors.Join(err, os.Symlink(filepath.Join(binOf(root), name), filepath.Join(binOf(copied), name)))
	}
	return err
}

type onlySources struct{ fs.FS }

func (o onlySources) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	return slices.DeleteFunc(entries, func(entry fs.DirEntry) bool {
		return name == "." && slices.Contains([]string{".git", ".workshop"}, entry.Name())
	}), err
}
