// Package docs keeps the repository's Markdown true: the code in it is taken from the source, its links and headings
// hold, and the commands in it are run and give the output that is shown.
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
	// responsible are the files that this package looks after; everything else is somebody else's text.
	responsible = regexp.MustCompile(`^(README|(\d\d-[^/]+|scripts|\.github)/.+)\.md$`)
	// chapterREADME are the texts that a reader goes through, which have a fixed shape.
	chapterREADME = regexp.MustCompile(`^\d\d-[^/]+/README\.md$`)
)

// Problem is one thing to mend in a text.
type Problem struct {
	File    string // relative to the repository's root, with slashes
	Line    int    // from 1
	Message string // may have several lines
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Files lists the Markdown files that are checked, relative to root and with slashes: README.md, and all under the
// chapters, scripts and .github.
func Files(root string) ([]string, error) {
	return chapters.Files(root, responsible.MatchString)
}

// Repository is the repository whose texts are meant.
type Repository struct {
	Root   string
	Tables Tables // those that texts may ask for
}

// CheckText checks all that can be seen without running a command: code and tables against their source, links and anchors, a
// chapter's headings, how console blocks are written, what the top README gathers, and the museum's exhibits. Files are relative to root, as Files returns them. An error
// means that a file could not be read.
func (r Repository) CheckText(files ...string) ([]Problem, error) {
	texts := library{fsys: os.DirFS(r.Root), read: map[string]*document{}}
	var all []Problem
	for _, file := range files {
		doc, err := texts.document(file)
		if err != nil {
			return nil, err
		}
		problems := slices.Concat(
			r.checkBlocks(doc),
			checkLinks(texts, doc),
			checkHeadings(doc),
			checkConsole(doc),
			checkGlossary(texts, doc),
			r.checkMessages(texts, doc),
			checkMuseum(texts, doc),
		)
		slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		all = append(all, problems...)
	}
	return all, nil
}
