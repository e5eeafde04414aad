// Package docs checks the repository's Markdown: code comes from the source, links and headings
// exist, and commands have the output in the text.
package docs

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

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

type Repository struct {
	Root   string
	Tables Tables // those that texts may ask for
}

// CheckText runs all checks of these files that need no command. The error is that of reading a
// file.
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
			checkChapter(doc),
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

// The bug museum: each exhibit is a third-level heading and a list of four items. links.go checks
// the links.
const museum = "scripts/MUSEUM.md"

// exhibitItems are the beginnings of the four items.
var exhibitItems = []string{"Shown in", "The bug:", "The fix:", "Upstream:"}

// pinned matches the address of a file at a commit or a tag.
var pinned = regexp.MustCompile(`^https://github\.com/[^/]+/[^/]+/blob/(v[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{40})/.+[^/]$`)

func checkMuseum(texts library, doc *document) (problems []Problem) {
	if doc.file != museum {
		return nil
	}
	for _, h := range all[*ast.Heading](doc.root) {
		if h.Level == 3 {
			problems = append(problems, checkExhibit(texts, doc, h)...)
		}
	}
	return problems
}

func checkExhibit(texts library, doc *document, heading *ast.Heading) (problems []Problem) {
	report := func(n ast.Node, format string, args ...any) {
		problems = append(problems, doc.problem(doc.line(n), "exhibit %q: "+format, append([]any{doc.plain(heading)}, args...)...))
	}
	items := []ast.Node{}
	if list, ok := heading.NextSibling().(*ast.List); ok {
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			items = append(items, item)
		}
	}
	for i, begin := range exhibitItems {
		if i >= len(items) || !strings.HasPrefix(doc.plain(items[i]), begin) || len(all[*ast.Link](items[i])) == 0 {
			report(heading, "item %d of its list should begin with %q, and have a link", i+1, begin)
			return problems
		}
		for _, link := range all[*ast.Link](items[i]) {
			target, label := string(link.Destination), doc.plain(link)
			if begin == "Upstream:" && !pinned.MatchString(target) {
				report(link, "%s isn't the address of a file at a commit or a tag", target)
			}
			if begin == "The bug:" && path.Base(target) == "exercise_test.go" && !failsAsGiven(texts.fsys, path.Join(path.Dir(museum), target), label) {
				report(link, "%s doesn't say at its head that %s fails as given", target, label)
			}
		}
	}
	return problems
}

// failsAsGiven reports whether a comment says that the test fails as given. The suite proves that.
func failsAsGiven(fsys fs.FS, file, test string) bool {
	source, err := fs.ReadFile(fsys, file)
	return err != nil || strings.Contains(string(source), "// fails: "+test+"\n") // checkLinks reports a missing file
}
