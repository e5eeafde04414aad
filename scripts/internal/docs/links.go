package docs

// This file checks that links lead somewhere and that chapters have the same headings. What is outside the repository
// is not fetched: a check that needs the network fails for reasons of its own.

import (
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// chapterHeadings are the second-level headings of a chapter's README: who has read one finds their way in all.
var chapterHeadings = []string{
	"What you'll build", "Run it", "How it works", "What changed", "What breaks", "Exercises", "For production",
	"Where to read on",
}

var (
	htmlLink   = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	htmlAnchor = regexp.MustCompile(`\s(?:id|name)="([^"]*)"`)
	// unslugged is what GitHub leaves out of a heading's anchor.
	unslugged = regexp.MustCompile(`[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]`)
)

func checkHeadings(doc *document) []Problem {
	if !chapterREADME.MatchString(doc.file) {
		return nil
	}
	seen := 0
	for _, h := range doc.headings() {
		if h.level != 2 {
			continue
		}
		if seen == len(chapterHeadings) {
			return []Problem{doc.problem(h.line, "a chapter has no heading %q after %q", h.text, chapterHeadings[seen-1])}
		}
		if h.text != chapterHeadings[seen] {
			return []Problem{doc.problem(h.line, "a chapter's second-level heading %d is %q, not %q",
				seen+1, chapterHeadings[seen], h.text)}
		}
		seen++
	}
	if seen < len(chapterHeadings) {
		last := strings.Count(string(doc.source), "\n")
		return []Problem{doc.problem(max(1, last), "the chapter's second-level heading %q is missing", chapterHeadings[seen])}
	}
	return nil
}

func checkLinks(texts library, doc *document) []Problem {
	var problems []Problem
	check := func(n ast.Node, target string) {
		if err := resolve(texts, doc, target); err != nil {
			problems = append(problems, doc.problem(doc.line(n), "link %q: %v", target, err))
		}
	}
	doc.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			check(n, string(n.Destination))
		case *ast.Image:
			check(n, string(n.Destination))
		}
		for _, match := range htmlLink.FindAllStringSubmatch(doc.html(n), -1) {
			check(n, html.UnescapeString(match[1]))
		}
	})
	return problems
}

// resolve goes where a link leads to, as far as that is in the repository.
func resolve(texts library, doc *document, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	if u.Scheme != "" || u.Host != "" {
		return nil
	}
	if u.Path == "" && u.Fragment == "" {
		return fmt.Errorf("it leads nowhere")
	}
	file := doc.file
	if u.Path != "" {
		if file, err = inRepository(texts.fsys, doc.file, u.Path); err != nil {
			return err
		}
	}
	if u.Fragment == "" {
		return nil
	}
	if info, err := fs.Stat(texts.fsys, file); err == nil && info.IsDir() {
		file = path.Join(file, "README.md") // what GitHub shows of a directory
	}
	if path.Ext(file) != ".md" {
		return nil // lines of a source file: GitHub's own anchors
	}
	to, err := texts.document(file)
	if err != nil {
		return err
	}
	if !to.anchors()[u.Fragment] {
		return fmt.Errorf("%s has no heading with the anchor #%s", file, u.Fragment)
	}
	return nil
}

// inRepository resolves a path as written in a file (a leading slash is the repository's root, as on GitHub) to one
// that exists.
func inRepository(fsys fs.FS, from, target string) (string, error) {
	name := path.Join(path.Dir(from), target)
	if strings.HasPrefix(target, "/") {
		name = path.Join(".", target[1:])
	}
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%s is outside the repository", target)
	}
	if _, err := fs.Stat(fsys, name); err != nil {
		return "", fmt.Errorf("there is no %s", name)
	}
	return name, nil
}

// anchors are what a link into this document can name: GitHub's slug of each heading, numbered from its second
// appearance on, and the ids of HTML elements.
func (d *document) anchors() map[string]bool {
	anchors, times := map[string]bool{}, map[string]int{}
	for _, h := range d.headings() {
		slug := Anchor(h.text)
		if n := times[slug]; n > 0 {
			anchors[fmt.Sprintf("%s-%d", slug, n)] = true
		} else {
			anchors[slug] = true
		}
		times[slug]++
	}
	d.each(func(n ast.Node) {
		for _, match := range htmlAnchor.FindAllStringSubmatch(d.html(n), -1) {
			anchors[match[1]] = true
		}
	})
	return anchors
}

// Anchor is what a link to a heading ends in on GitHub: html-pipeline's TableOfContentsFilter.
func Anchor(heading string) string {
	kept := unslugged.ReplaceAllString(strings.ToLower(html.UnescapeString(heading)), "")
	return strings.ReplaceAll(kept, " ", "-")
}
