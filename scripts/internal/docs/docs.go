// Package docs checks the repository's Markdown: code and tables come from the source, links lead
// somewhere, and commands have the output in the text.
package docs

import (
	"errors"
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

// Files lists the Markdown files that are checked, relative to root and with slashes.
func Files(root string) ([]string, error) {
	return chapters.Files(root, responsible.MatchString)
}

// CheckText runs all checks of these files that need no command. Each problem in a text names its
// file and line.
func CheckText(root string, files ...string) (err error) {
	repository := os.DirFS(root)
	for _, file := range files {
		doc, readErr := readDocument(repository, file)
		if readErr != nil {
			return readErr
		}
		_, consoleErr := consoleBlocks(doc)
		err = errors.Join(err, checkBlocks(root, doc), checkLinks(repository, doc), checkHeadings(doc), consoleErr)
	}
	return err
}

// chapterHeadings are the second-level headings of every chapter's README.
var chapterHeadings = []string{
	"The problem", "The idea", "Run it", "How it works", "The diff", "What breaks", "Exercises", "You now know",
}

func checkHeadings(doc *document) error {
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
	return fmt.Errorf("%s: the second-level headings are %q, but a chapter has %q", doc.file, have, chapterHeadings)
}
