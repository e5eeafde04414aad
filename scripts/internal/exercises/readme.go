package exercises

// What the texts of an exercise say, as plain text for a terminal.

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/ui"
)

// Readme has the parts of a README that the commands show. A part that the README lacks is empty.
type Readme struct {
	Title   string // without the exercise's number
	Minutes int    // that the exercise should take; 0: unknown
	Core    bool   // it is on the core path, which takes about eight hours
}

var minutesLine = regexp.MustCompile(`(?m)^Minutes: ([1-9]\d{0,3})(, core path)?$`)

func parseReadme(number int, content string) (readme Readme) {
	if title, ok := strings.CutPrefix(content, fmt.Sprintf("# %d: ", number)); ok {
		title, _, _ = strings.Cut(title, "\n")
		readme.Title = strings.TrimSpace(title)
	}
	if match := minutesLine.FindStringSubmatch(content); match != nil {
		readme.Minutes, _ = strconv.Atoi(match[1]) // only digits
		readme.Core = match[2] != ""
	}
	return readme
}

// ReadAnswer returns what a learner knows after the exercise, and the answer to its question: a
// prediction, or a ticket's cause.
func (e Exercise) ReadAnswer() (string, error) {
	content, err := os.ReadFile(e.File(AnswerFile))
	if err != nil {
		return "", fmt.Errorf("read the answer of %s: %w", e.Name(), err)
	}
	_, answer, _ := strings.Cut(string(content), "\n") // without the heading
	return plainText(answer), nil
}

var (
	markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// ownLine matches lines that can't be joined with the one before: code, rows of a table, items
	// of a list, and quotations.
	ownLine = regexp.MustCompile(`^(    |\||- |> |\d+\. )`)
)

// plainText replaces Markdown's links by their text, removes the marks of bold text, indents code, and
// makes each paragraph a single line. See ui.Wrap.
func plainText(markdown string) string {
	var text strings.Builder
	before, inCode := "", false
	markdown = strings.ReplaceAll(markdownLink.ReplaceAllString(markdown, "$1"), "**", "")
	for line := range strings.Lines(strings.TrimSpace(markdown)) {
		line = strings.TrimRight(line, " \r\n")
		if strings.HasPrefix(line, "```") {
			before, inCode = "", !inCode
			continue
		}
		if inCode {
			line = strings.TrimRight("    "+line, " ")
		}
		switch {
		case text.Len() == 0:
		case line == "" || before == "" || ownLine.MatchString(line):
			text.WriteString("\n")
		default:
			text.WriteString(" ")
			line = strings.TrimSpace(line)
		}
		text.WriteString(line)
		before = line
	}
	return text.String()
}

// FirstLines wraps a text. If it has more lines than the limit, a note says which file has the rest.
func FirstLines(text string, limit int, file string) string {
	lines := strings.Split(ui.Wrap(text), "\n")
	if len(lines) <= limit {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n… (the rest: %s)", strings.TrimSpace(strings.Join(lines[:limit], "\n")), file)
}
