package docs

// This file reads Markdown: goldmark's tree, plus what every check asks of it (line numbers, headings, raw HTML). It
// judges nothing.

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// markdown is what GitHub reads: CommonMark with tables and the like.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

type document struct {
	file   string
	source []byte
	root   ast.Node
}

// library parses each file once: anchors are asked for by every link to them.
type library struct {
	fsys fs.FS
	read map[string]*document
}

func (l library) document(file string) (*document, error) {
	if doc, ok := l.read[file]; ok {
		return doc, nil
	}
	doc, err := readDocument(l.fsys, file)
	if err == nil {
		l.read[file] = doc
	}
	return doc, err
}

func readDocument(fsys fs.FS, file string) (*document, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("reading Markdown: %w", err)
	}
	return &document{file: file, source: source, root: markdown.Parse(text.NewReader(source))}, nil
}

// line is the line, from 1, on which a node begins.
func (d *document) line(n ast.Node) int {
	return 1 + bytes.Count(d.source[:max(0, n.Pos())], []byte("\n"))
}

func (d *document) problem(line int, format string, args ...any) Problem {
	return Problem{File: d.file, Line: line, Message: fmt.Sprintf(format, args...)}
}

// each calls f for every node, in the order of the text.
func (d *document) each(f func(ast.Node)) {
	// The walker's error could only be f's, and f has none.
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// all are the nodes of one type in n and below it, in the order of the text.
func all[T ast.Node](n ast.Node) (found []T) {
	(&document{root: n}).each(func(n ast.Node) {
		if one, ok := n.(T); ok {
			found = append(found, one)
		}
	})
	return found
}

// html is the text of a node that is raw HTML (a comment, say), and "" of any other, nil included.
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

// plain is what a reader sees of a node: its text without emphasis, links or code marks.
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
