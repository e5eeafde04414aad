package docs

// This file checks the bug museum. Each exhibit is a third-level heading and a list of four items: the texts that show the bug, the
// tests that show it, the tests that show the fix, and the place upstream. That links lead to what they name is links.go's to check.

import (
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

const museum = "scripts/MUSEUM.md"

// exhibitItems are how the four items begin.
var exhibitItems = []string{"Shown in", "The bug:", "The fix:", "Upstream:"}

// pinned is an address that means the same forever, as far as a tag does.
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
	say := func(n ast.Node, format string, args ...any) {
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
			say(heading, "item %d of its list should begin with %q, and have a link", i+1, begin)
			return problems
		}
		for _, link := range all[*ast.Link](items[i]) {
			target, label := string(link.Destination), doc.plain(link)
			if begin == "Upstream:" && !pinned.MatchString(target) {
				say(link, "%s isn't the address of a file at a commit or a tag", target)
			}
			if begin == "The bug:" && path.Base(target) == "exercise_test.go" && !failsAsGiven(texts.fsys, path.Join(path.Dir(museum), target), label) {
				say(link, "%s doesn't say at its head that %s fails as given", target, label)
			}
		}
	}
	return problems
}

// failsAsGiven reports whether an exercise's tests declare that this one fails in the exercise as given, which the suite then proves.
func failsAsGiven(fsys fs.FS, file, test string) bool {
	source, err := fs.ReadFile(fsys, file)
	return err != nil || strings.Contains(string(source), "// fails: "+test+"\n") // checkLinks reports a missing file
}
