// Package docs checks the repository's Markdown: code and tables come from the source, links lead
// somewhere, and commands have the output in the text.
package docs

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"

	"example.com/operators/scripts/internal/chapters"
)

var (
	responsible   = regexp.MustCompile(`^(README|(\d\d-[^/]+|scripts|\.github)/.+)\.md$`)
	chapterREADME = regexp.MustCompile(`^\d\d-[^/]+/README\.md$`)
)

// Problem is one thing to fix in a text.
type Problem struct {
	File    string // relative to the repository's root, with slashes
	Line    int    // from 1
	Message string // may have several lines
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Files lists the Markdown files that are checked, relative to root and with slashes.
func Files(root string) ([]string, error) {
	return chapters.Files(root, responsible.MatchString)
}

// CheckText runs all checks of these files that need no command. The error is that of reading a
// file.
func CheckText(root string, files ...string) ([]Problem, error) {
	texts := library{fsys: os.DirFS(root), read: map[string]*document{}}
	var all []Problem
	for _, file := range files {
		doc, err := texts.document(file)
		if err != nil {
			return nil, err
		}
		problems := slices.Concat(checkBlocks(root, doc), checkLinks(texts, doc), checkHeadings(doc), checkConsole(doc))
		slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		all = append(all, problems...)
	}
	return all, nil
}

// chapterHeadings are the second-level headings of every chapter's README.
var chapterHeadings = []string{
	"The problem", "The idea", "Run it", "How it works", "The diff", "What breaks", "Exercises", "You now know",
}

func checkHeadings(doc *document) []Problem {
	if !chapterREADME.MatchString(doc.file) {
		return nil
	}
	var have []string
	for _, h := range doc.headings() {
		if h.level == 2 {
			have = append(have, h.text)
		}
	}
	if slices.Equal(have, chapterHeadings) {
		return nil
	}
	return []Problem{doc.problem(1, "the second-level headings are %q, but a chapter has %q", have, chapterHeadings)}
}
