package ui

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"
)

// columns is the width of sentences, which fits into any terminal.
const columns = 78

// lineStart matches a line's indentation and the mark of a quotation, a list's item, or a result.
var lineStart = regexp.MustCompile(`^ {0,3}(> |=> |- |\d+\. |[✓!✗] )?`)

// Wrap breaks the lines of a text that don't fit into a terminal, between words. Rows of tables, and
// lines that are indented by four spaces, such as code and commands to copy, stay as they are.
func Wrap(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "|") {
			start := lineStart.FindString(line)
			lines[i] = Item(start, line[len(start):])
		}
	}
	return strings.Join(lines, "\n")
}

// Relative makes the paths in a text relative to the repository's root, where users run commands.
func Relative(root, text string) string {
	return strings.ReplaceAll(text, root+string(filepath.Separator), "")
}

// Item wraps a text after its start. The next lines are indented as far, or are quoted as well.
func Item(start, text string) string {
	width := utf8.RuneCountInString(start)
	next := start
	if start != "> " {
		next = strings.Repeat(" ", width)
	}
	return start + strings.ReplaceAll(wordwrap.WrapString(text, uint(columns-width)), "\n", "\n"+next)
}
