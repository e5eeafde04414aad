package suite

// Static checks of the texts; reader.go runs the commands in them.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/overview"
	"example.com/operators/scripts/internal/ui"
)

// Texts checks the texts alone, and returns an error if any isn't true.
func (s *Suite) Texts(ctx context.Context) (err error) {
	end, err := s.begin(ctx, readersRoot)
	if err != nil {
		return err
	}
	defer end(&err)
	s.readAsReader(ctx, s.checkTexts(ctx))
	if s.counts.Failed > 0 {
		return errors.New("not all texts are true: the reasons stand above")
	}
	return ctx.Err()
}

// checkTexts reads the texts, and returns their files.
func (s *Suite) checkTexts(ctx context.Context) []string {
	files, err := s.textFiles()
	if err != nil {
		s.counts.Failed++
		s.UI.Say("%v", err)
		return nil
	}
	s.step(ctx, "code, links and headings in the texts", func(ctx context.Context, _ *ui.Step) (string, error) {
		problems, err := (docs.Repository{Root: s.Root, Tables: overview.Tables()}).CheckText(files...)
		return fmt.Sprintf("%d files", len(files)), errors.Join(err, join(problems))
	})
	return files
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
