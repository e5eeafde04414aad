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
	// tableOfNames is the head of such a table: | chapter 04 | here | …
	tableOfNames = regexp.MustCompile(`^\| chapter ([0-9]{2}) \| here \|`)
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
		text, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the check of the texts says so
		}
		if err != nil {
			return nil, err
		}
		var code [2]string // by column; none outside of a table
		var in [2]string
		for line := range strings.Lines(string(text)) {
			if head := tableOfNames.FindStringSubmatch(line); head != nil {
				former, err := chapters.Find(root, head[1])
				if err != nil {
					return nil, err
				}
				for i, c := range []chapters.Chapter{former[0], chapter} {
					in[i] = c.Name
					if code[i], err = sourceOf(c.Dir); err != nil {
						return nil, err
					}
				}
				continue
			}
			cells := strings.Split(line, "|")
			if !strings.HasPrefix(line, "|") || len(cells) < 4 {
				code = [2]string{}
			}
			for i := range code {
				if code[i] == "" {
					continue
				}
				for _, name := range inBackticks.FindAllStringSubmatch(cells[i+1], -1) {
					if !strings.Contains(code[i], name[1]) {
						problems = append(problems, fmt.Sprintf("%s/README.md: the table names %s, which isn't in the code of %s", chapter.Name, name[0], in[i]))
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
