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
	line     int // the marker's
	marker   string
	from, to int
	want     []string // what these lines should be
}

// Write updates the marked blocks of these files, and returns the files that it changed. The error
// has the markers that it couldn't use.
func Write(root string, files ...string) (changed []string, err error) {
	var unfixed []error
	for _, file := range files {
		doc, err := readDocument(os.DirFS(root), file)
		if err != nil {
			return changed, err
		}
		lines := splitLines(doc.source)
		blocks, problems := findBlocks(root, doc, lines)
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
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(fixed), 0o644); err != nil {
			return changed, fmt.Errorf("writing into Markdown: %w", err)
		}
		changed = append(changed, file)
	}
	return changed, errors.Join(unfixed...)
}

func checkBlocks(root string, doc *document) []Problem {
	lines := splitLines(doc.source)
	blocks, problems := findBlocks(root, doc, lines)
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

// findBlocks finds the marked blocks and their desired lines.
func findBlocks(root string, doc *document, lines []string) (blocks []markedBlock, problems []Problem) {
	doc.each(func(n markdownast.Node) {
		var found markedBlock
		var err error
		html := doc.html(n)
		switch {
		case strings.Contains(html, codeMarkerStart):
			found, err = markedCode(os.DirFS(root), doc, n, html)
		case tableMarker.MatchString(html):
			found, err = markedTable(root, doc, lines, n, html)
		case isUnmarked(doc, n):
			err = errUnmarked
		default:
			return
		}
		if err != nil {
			problems = append(problems, doc.problem(doc.line(n), "%s%v", strings.TrimPrefix(html+": ", ": "), err))
			return
		}
		found.line, found.marker = doc.line(n), html
		blocks = append(blocks, found)
	})
	return blocks, problems
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
	return markedBlock{from: from, to: from + length, want: splitLines([]byte(strings.TrimRight(want, "\n")))}, err
}
