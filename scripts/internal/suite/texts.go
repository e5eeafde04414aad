package suite

// The texts: what can be checked by reading them, and the commands in them, run on a cluster as a reader's would be.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/ui"
)

// docsClusterName is the cluster on which texts are run: a fresh one for each, as for a reader who begins there.
const docsClusterName = "docs"

// Texts checks the texts alone, and returns an error if any isn't true.
func (s *Suite) Texts(ctx context.Context) error {
	s.texts(ctx)
	if s.counts.Failed > 0 {
		return errors.New("not all texts are true: the reasons stand above")
	}
	return ctx.Err()
}

func (s *Suite) texts(ctx context.Context) {
	files, err := s.textFiles()
	if err != nil {
		s.counts.Failed++
		s.UI.Say("%v", err)
		return
	}
	s.step(ctx, "code, links and headings in the texts", func(ctx context.Context, _ *ui.Step) (string, error) {
		problems, err := docs.CheckText(s.Root, files...)
		return fmt.Sprintf("%d files", len(files)), errors.Join(err, join(problems))
	})
	for _, file := range files {
		commands, err := docs.Commands(s.Root, file)
		if err != nil || commands == 0 {
			continue // CheckText has said why
		}
		c := cluster.New(s.Root, s.Bin, docsClusterName)
		if !s.freshCluster(ctx, c) {
			return
		}
		s.step(ctx, "the commands in "+file, func(ctx context.Context, step *ui.Step) (string, error) {
			runner := docs.Runner{Root: s.Root, Env: s.readersEnvironment(c), Log: &output.Lines{Do: func(line string) { step.Update("%s", line) }}}
			problems, commands, err := runner.Run(ctx, file)
			return fmt.Sprintf("%d commands", commands), errors.Join(err, join(problems))
		})
		s.removeCluster(ctx, c)
		if !s.kept { // the text may have brought it up, by `workshop test --only`
			s.removeCluster(ctx, s.Cluster())
		}
	}
}

// textFiles are the texts of the chapters to test and, with Everything, all others.
func (s *Suite) textFiles() ([]string, error) {
	all, err := docs.Files(s.Root)
	if err != nil || s.Everything {
		return all, err
	}
	var files []string
	for _, file := range all {
		for _, chapter := range s.Chapters {
			if strings.HasPrefix(file, chapter.Name+"/") {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// readersEnvironment is this process's, pointed at the cluster c, with the workshop's kubectl before any other.
func (s *Suite) readersEnvironment(c *cluster.Cluster) []string {
	return append(os.Environ(),
		"PATH="+s.Bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"KUBECONFIG="+c.Kubeconfig(),
		"WORKSHOP_CLUSTER="+c.Name,
		"NO_COLOR=1",
	)
}

func join(problems []docs.Problem) error {
	var lines []string
	for _, problem := range problems {
		lines = append(lines, problem.String())
	}
	if lines == nil {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}
