package docs

// This file keeps marked blocks in Markdown up to date: code (source.go) and tables (tables.go). A
// marker is a comment directly before a block of code, or around a table:
//
//	<!-- code: main.go#run -->
//	<!-- table: faults -->
//	| … |
//	<!-- end -->

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
)

// markedBlock is lines[from:to] of the Markdown after a marker.
type markedBlock struct {
	from, to int
	want     string // the text of these lines
}

// Write updates the marked blocks of a file, and reports whether that changed it. The error has the
// markers that it couldn't use.
func Write(root, file string) (changed bool, err error) {
	doc, err := readDocument(os.DirFS(root), file)
	if err != nil {
		return false, err
	}
	updated, err := update(root, doc)
	if updated == string(doc.source) {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(updated), 0o644); err != nil {
		return false, fmt.Errorf("writing into Markdown: %w", err)
	}
	return true, err
}

func checkBlocks(root string, doc *document) error {
	updated, err := update(root, doc)
	if err == nil && updated != string(doc.source) {
		err = fmt.Errorf("%s: `workshop docs --write` updates what comes from a source (- the text, + the source):\n%s",
			doc.file, gocmp.Diff(string(doc.source), updated))
	}
	return err
}

// update returns the text with the current content of its marked blocks.
func update(root string, doc *document) (text string, err error) {
	lines := splitLines(doc.source)
	var blocks []markedBlock
	doc.each(func(n markdownast.Node) {
		var block markedBlock
		var problem error
		html := doc.html(n)
		switch {
		case strings.Contains(html, codeMarkerStart):
			block, problem = markedCode(os.DirFS(root), doc, n, html)
		case tableMarker.MatchString(html):
			block, problem = markedTable(root, doc, lines, n, html)
		case isUnmarked(doc, n):
			problem = errUnmarked
		default:
			return
		}
		if problem != nil {
			err = errors.Join(err, doc.problem(doc.line(n), "%s%w", strings.TrimPrefix(html+": ", ": "), problem))
			return
		}
		blocks = append(blocks, block)
	})
	for _, block := range slices.Backward(blocks) { // from the end, so that line numbers stay true
		lines = slices.Replace(lines, block.from, block.to, block.want)
	}
	return strings.Join(lines, "\n"), err
}

var tableMarker = regexp.MustCompile(`^<!-- table: (\S+) -->$`)

const endMarker = "<!-- end -->"

func markedTable(root string, doc *document, lines []string, n markdownast.Node, html string) (markedBlock, error) {
	name := tableMarker.FindStringSubmatch(html)[1]
	write, known := tables[name]
	if !known {
		return markedBlock{}, fmt.Errorf("there is no table %q", name)
	}
	from := doc.line(n) // the index of the line after the marker's
	length := slices.Index(lines[from:], endMarker)
	if length < 0 {
		return markedBlock{}, fmt.Errorf("no %s follows this marker", endMarker)
	}
	want, err := write(root)
	return markedBlock{from: from, to: from + length, want: strings.TrimRight(want, "\n")}, err
}
