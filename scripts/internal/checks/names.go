package checks

// A chapter's table of what stands for what: the names in it are in the code.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

var (
	// tableOfNames is such a table: | chapter 04 | here | …, and its rows.
	tableOfNames = regexp.MustCompile(`(?m)^\| chapter ([0-9]{2}) \| here \|.*\n((?:\|.*\n)*)`)
	inBackticks  = regexp.MustCompile("`([^`]+)`")
)

// names: what stands between backticks in the first column is in the code of the chapter that the column's head names, and what
// does in the second in that of the text's own.
func names(_ context.Context, r *repository) error {
	for _, chapter := range r.chapters {
		text, err := r.read(chapter.Name, "README.md") // the texts' check reports a missing one
		if err != nil {
			return err
		}
		for _, table := range tableOfNames.FindAllStringSubmatch(text, -1) {
			former, err := chapters.Find(r.root, table[1])
			if err != nil {
				return err
			}
			for column, in := range []chapters.Chapter{former[0], chapter} {
				code, err := sourceOf(in.Dir)
				if err != nil {
					return err
				}
				for row := range strings.Lines(table[2]) {
					cells := strings.Split(row, "|")
					for _, name := range inBackticks.FindAllStringSubmatch(cells[min(column+1, len(cells)-1)], -1) {
						if !strings.Contains(code, name[1]) {
							r.say("%s/README.md: the table names %s, which isn't in the code of %s", chapter.Name, name[0], in.Name)
						}
					}
				}
			}
		}
	}
	return nil
}

// sourceOf returns a chapter's program, its tests and exercises aside.
func sourceOf(dir string) (string, error) {
	files, err := chapters.Files(dir, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "exercises/")
	})
	var source strings.Builder
	for _, file := range files {
		content, readErr := os.ReadFile(filepath.Join(dir, file))
		source.Write(content)
		err = errors.Join(err, readErr)
	}
	return source.String(), err
}
