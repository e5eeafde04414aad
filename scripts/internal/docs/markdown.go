package docs

// This file parses Markdown, and finds line numbers, headings and raw HTML in it.

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// markdown parses GitHub Flavored Markdown.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

type document struct {
	file   string
	source []byte
	root   ast.Node
}

func readDocument(fsys fs.FS, file string) (*document, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("reading Markdown: %w", err)
	}
	return &document{file: file, source: source, root: markdown.Parse(text.NewReader(source))}, nil
}

// line returns the line on which a node begins. The first line is 1.
func (d *document) line(n ast.Node) int {
	return 1 + bytes.Count(d.source[:max(0, n.Pos())], []byte("\n"))
}

// problem is an error that begins with its place, as an editor finds it.
func (d *document) problem(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, slices.Concat([]any{d.file, line}, args)...)
}

// each calls f for every node, in the order of the text.
func (d *document) each(f func(ast.Node)) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// all returns the nodes of one type in n and below it, in the order of the text.
func all[T ast.Node](n ast.Node) (found []T) {
	(&document{root: n}).each(func(n ast.Node) {
		if one, ok := n.(T); ok {
			found = append(found, one)
		}
	})
	return found
}

// html returns the text of a node with raw HTML, such as a comment, and "" for others and nil.
func (d *document) html(n ast.Node) string {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		text := string(n.Lines().Value(d.source))
		if n.HasClosure() {
			text += string(n.ClosureLine.Value(d.source))
		}
		return strings.TrimSpace(text)
	case *ast.RawHTML:
		return string(n.Segments.Value(d.source))
	}
	return ""
}

type heading struct {
	level, line int
	text        string // without markup
}

func (d *document) headings() (headings []heading) {
	for _, h := range all[*ast.Heading](d.root) {
		headings = append(headings, heading{h.Level, d.line(h), d.plain(h)})
	}
	return headings
}

// plain returns a node's text without emphasis, links or code marks.
func (d *document) plain(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		return string(n.Value(d.source))
	case *ast.String:
		return string(n.Value)
	}
	var text strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		text.WriteString(d.plain(child))
	}
	return text.String()
}

// section returns the section with this anchor and its subsections, or the whole document for no
// anchor, as one line without marks for bold and code.
func (d *document) section(anchored string) (text string, found bool) {
	if anchored == "" {
		return oneLine(string(d.source)), true
	}
	lines, headings := splitLines(d.source), d.headings()
	i := slices.IndexFunc(headings, func(h heading) bool { return anchor(h.text) == anchored })
	if i < 0 {
		return "", false
	}
	end := len(lines)
	after := headings[i+1:]
	if next := slices.IndexFunc(after, func(h heading) bool { return h.level <= headings[i].level }); next >= 0 {
		end = after[next].line - 1
	}
	return oneLine(strings.Join(lines[headings[i].line-1:end], "\n")), true
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}
