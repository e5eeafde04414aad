package checks

// A chapter's table of what stands for what: the names in it are in the code.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
func names(_ context.Context, root string) ([]string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, chapter := range all {
		text, err := read(chapter, "README.md")
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the check of the texts says so
			return nil, err
		}
		for _, table := range tableOfNames.FindAllStringSubmatch(text, -1) {
			former, err := chapters.Find(root, table[1])
			if err != nil {
				return nil, err
			}
			for column, in := range []chapters.Chapter{former[0], chapter} {
				code, err := sourceOf(in.Dir)
				if err != nil {
					return nil, err
				}
				for row := range strings.Lines(table[2]) {
					cells := strings.Split(row, "|")
					for _, name := range inBackticks.FindAllStringSubmatch(cells[min(column+1, len(cells)-1)], -1) {
						if !strings.Contains(code, name[1]) {
							problems = append(problems, fmt.Sprintf("%s/README.md: the table names %s, which isn't in the code of %s", chapter.Name, name[0], in.Name))
						}
					}
				}
			}
		}
	}
	return problems, nil
}

// sourceOf returns a chapter's program, its tests and exercises aside.
func sourceOf(dir string) (string, error) {
	var source strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "exercises":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		source.Write(content)
		return err
	})
	return source.String(), err
}
