package docs

// This file keeps tables in Markdown equal to what is counted. A marker directly before a table names it:
//
//	<!-- table: chapters -->

import (
	"fmt"
	"regexp"
	"strings"

	markdownast "github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// Tables count what tables say, by their names: each returns the table of the repository at root, as Markdown.
type Tables map[string]func(root string) (string, error)

const tableMarkerStart = "<!-- table:"

var tableMarker = regexp.MustCompile(`^<!-- table: (\S+) -->$`)

// markedTable finds the table that follows a marker, and says what should stand there.
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
