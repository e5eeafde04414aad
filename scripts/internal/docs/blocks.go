package docs

// This file keeps marked blocks in Markdown up to date: code (source.go), and generated tables. A
// marker directly before a table names it:
//
//	<!-- table: chapters -->

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	markdownast "github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// markedBlock is lines[from:to] of the Markdown after a marker: a table, or a fence and its code.
type markedBlock struct {
	line     int // the marker's
	marker   string
	from, to int
	want     []string // what these lines should be
}

// Write updates the marked blocks of these files, and returns the files that it changed. The error
// has the markers that it couldn't use.
func (r Repository) Write(files ...string) (changed []string, err error) {
	var unfixed []error
	for _, file := range files {
		doc, err := readDocument(os.DirFS(r.Root), file)
		if err != nil {
			return changed, err
		}
		lines := splitLines(doc.source)
		blocks, problems := r.blocks(doc, lines)
		for _, problem := range problems {
			unfixed = append(unfixed, problem)
		}
		for _, block := range slices.Backward(blocks) { // from the end, so that line numbers stay true
			lines = slices.Replace(lines, block.from, block.to, block.want...)
		}
		fixed := strings.Join(lines, "\n")
		if fixed == string(doc.source) {
			continue
		}
		if err := os.WriteFile(filepath.Join(r.Root, filepath.FromSlash(file)), []byte(fixed), 0o644); err != nil {
			return changed, fmt.Errorf("writing into Markdown: %w", err)
		}
		changed = append(changed, file)
	}
	return changed, errors.Join(unfixed...)
}

func (r Repository) checkBlocks(doc *document) []Problem {
	lines := splitLines(doc.source)
	blocks, problems := r.blocks(doc, lines)
	for _, block := range blocks {
		have, want := strings.Join(lines[block.from:block.to], "\n"), strings.Join(block.want, "\n")
		if have != want {
			problems = append(problems, doc.problem(block.line,
				"the text differs from its source, %s; `workshop docs --write` fixes it (- the text, + the source):\n%s",
				block.marker, gocmp.Diff(have, want)))
		}
	}
	return problems
}

// blocks finds the marked blocks and their desired lines.
func (r Repository) blocks(doc *document, lines []string) (blocks []markedBlock, problems []Problem) {
	fsys := os.DirFS(r.Root)
	doc.each(func(n markdownast.Node) {
		var found markedBlock
		var err error
		html := doc.html(n)
		switch {
		case strings.Contains(html, codeMarkerStart):
			found, err = markedCode(fsys, doc, lines, n, html)
		case strings.Contains(html, tableMarkerStart):
			found, err = r.markedTable(doc, lines, n, html)
		case isUnmarked(doc, n):
			err = errUnmarked
		default:
			return
		}
		if err != nil {
			problems = append(problems, doc.problem(doc.line(n), "%s%v", strings.TrimPrefix(html+": ", ": "), err))
			return
		}
		blocks = append(blocks, found)
	})
	return blocks, problems
}

// Tables are functions by the names of tables. Each returns the repository's table as Markdown.
type Tables map[string]func(root string) (string, error)

const tableMarkerStart = "<!-- table:"

var tableMarker = regexp.MustCompile(`^<!-- table: (\S+) -->$`)

func (r Repository) markedTable(doc *document, lines []string, n markdownast.Node, html string) (markedBlock, error) {
	parts := tableMarker.FindStringSubmatch(html)
	if parts == nil {
		return markedBlock{}, fmt.Errorf("a marker is `<!-- table: NAME -->`, alone on its line")
	}
	count, known := r.Tables[parts[1]]
	if !known {
		return markedBlock{}, fmt.Errorf("nobody counts that table")
	}
	if _, ok := n.NextSibling().(*extension.Table); !ok {
		return markedBlock{}, fmt.Errorf("no table follows this marker")
	}
	want, err := count(r.Root)
	if err != nil {
		return markedBlock{}, err
	}
	from := doc.line(n) // the line after the marker's
	for !strings.HasPrefix(lines[from], "|") {
		from++
	}
	to := from
	for to < len(lines) && strings.HasPrefix(lines[to], "|") {
		to++
	}
	return markedBlock{line: doc.line(n), marker: html, from: from, to: to, want: splitLines([]byte(strings.TrimRight(want, "\n")))}, nil
}
