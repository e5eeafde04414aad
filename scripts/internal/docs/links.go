package docs

// This file checks that links lead somewhere. A link's title must quote the target section, and a
// label such as TestX must be a test in the target file. Links out of the repository aren't fetched,
// because a check that needs the network isn't reliable.

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// unslugged matches the characters that GitHub leaves out of a heading's anchor.
var unslugged = regexp.MustCompile(`[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]`)

func checkLinks(fsys fs.FS, doc *document) (problems error) {
	doc.each(func(n ast.Node) {
		var target, title string
		switch n := n.(type) {
		case *ast.Link:
			target, title = string(n.Destination), string(n.Title)
		case *ast.Image:
			target = string(n.Destination)
		default:
			return
		}
		file, text, err := resolve(fsys, doc, target)
		switch label := doc.plain(n); {
		case err != nil:
		case file != "" && !strings.Contains(text, oneLine(title)):
			err = fmt.Errorf("the text it leads to doesn't say %q, the link's title", title)
		case strings.HasSuffix(file, "_test.go") && strings.HasPrefix(label, "Test"):
			err = hasTest(fsys, file, label)
		}
		if err != nil {
			problems = errors.Join(problems, doc.problem(doc.line(n), "link %q: %w", target, err))
		}
	})
	return problems
}

// resolve returns a link's file and, in Markdown, its section on one line, or "" for other sites.
func resolve(fsys fs.FS, doc *document, target string) (file, text string, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", "", err
	}
	if u.Path == "" && u.Fragment == "" {
		return "", "", errors.New("it leads nowhere")
	}
	file = doc.file
	if u.Path != "" {
		if file, err = inRepository(fsys, doc.file, u.Path); err != nil {
			return "", "", err
		}
	}
	if path.Ext(file) != ".md" {
		return file, "", nil // #L10 is a line of a source file: GitHub's own anchors
	}
	to, err := readDocument(fsys, file)
	if err != nil {
		return "", "", err
	}
	text, found := to.section(u.Fragment)
	if !found {
		return "", "", fmt.Errorf("%s has no heading with the anchor #%s", file, u.Fragment)
	}
	return file, text, nil
}

// hasTest checks that a file has a test such as TestSync/no label yet: a function, and a string for
// each subtest.
func hasTest(fsys fs.FS, file, name string) error {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	function, subtests, _ := strings.Cut(name, "/")
	if !strings.Contains(string(source), "\nfunc "+function+"(") {
		return fmt.Errorf("%s has no test %s", file, function)
	}
	for subtest := range strings.SplitSeq(subtests, "/") {
		if !strings.Contains(string(source), subtest) {
			return fmt.Errorf("%s has no subtest %q", file, subtest)
		}
	}
	return nil
}

// inRepository resolves a path in a text, and checks that it exists.
func inRepository(fsys fs.FS, from, target string) (string, error) {
	name := path.Join(path.Dir(from), target)
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%s is outside the repository", target)
	}
	if _, err := fs.Stat(fsys, name); err != nil {
		return "", fmt.Errorf("there is no %s", name)
	}
	return name, nil
}

// anchor returns GitHub's anchor of a heading, as html-pipeline's TableOfContentsFilter does.
func anchor(heading string) string {
	kept := unslugged.ReplaceAllString(strings.ToLower(html.UnescapeString(heading)), "")
	return strings.ReplaceAll(kept, " ", "-")
}
