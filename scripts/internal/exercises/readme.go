package exercises

// What an exercise's README says, as plain text for a terminal.

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// Readme has the parts of a README that the commands show. A part that the README lacks is "".
type Readme struct {
	Task    string // everything before "Read first", the question, or the first section
	Predict string // the first question to think about before working
	Answer  string // to that question
	Learned string // the idea, in one sentence
}

var (
	answerPart  = regexp.MustCompile(`(?s)<details><summary>Answer</summary>\n(.*?)</details>`)
	learnedLine = regexp.MustCompile(`(?m)^<!-- Learned: (\S.*?) -->\r?$`)
	blankLines  = regexp.MustCompile(`\r?\n(\s*\n)+`)
)

// ReadReadme reads those parts. For the title and the time, see ReadHead.
func (e Exercise) ReadReadme() (Readme, error) {
	content, err := os.ReadFile(e.File(ReadmeFile))
	if err != nil {
		return Readme{}, fmt.Errorf("read the task of %s: %w", e.Name(), err)
	}
	var readme Readme
	if match := learnedLine.FindSubmatch(content); match != nil {
		readme.Learned = string(match[1])
	}
	if match := answerPart.FindSubmatch(content); match != nil {
		readme.Answer = plainText(string(match[1]))
	}
	var task []string
	inTask := true
	for _, block := range blankLines.Split(string(content), -1) {
		inTask = inTask && !strings.HasPrefix(block, "**Read first") && !strings.HasPrefix(block, "**Predict") && !strings.HasPrefix(block, "## ")
		question, isQuestion := strings.CutPrefix(block, "**Predict:** ")
		switch {
		case isQuestion && readme.Predict == "":
			readme.Predict = plainText(question)
		case inTask && !headBlock.MatchString(block):
			task = append(task, block)
		}
	}
	readme.Task = plainText(strings.Join(task, "\n\n"))
	return readme, nil
}

// headBlock matches the title, the time, and comments.
var headBlock = regexp.MustCompile(`^(# |Minutes: |<!--)`)

// textColumns is the width of plain text, which fits into any terminal.
const textColumns = 78

var (
	markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// ownLine matches lines that can't be joined with the one before: code, rows of a table, items
	// of a list, and quotations.
	ownLine = regexp.MustCompile(`^(    |\||- |> |\d+\. )`)
)

// plainText replaces Markdown's links by their text, and makes each paragraph a single line. See
// Wrap.
func plainText(markdown string) string {
	var text strings.Builder
	before, inCode := "", false
	for line := range strings.Lines(strings.TrimSpace(markdownLink.ReplaceAllString(markdown, "$1"))) {
		line = strings.TrimRight(line, " \r\n")
		isFence := strings.HasPrefix(line, "```")
		inCode = inCode != isFence
		switch {
		case text.Len() == 0:
		case inCode || isFence || line == "" || before == "" || ownLine.MatchString(line):
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

// Wrap breaks lines that don't fit into a terminal.
func Wrap(text string) string { return wordwrap.WrapString(text, textColumns) }

// FirstLines wraps a text. If it has more lines than the limit, a note says that the rest is in the
// README.
func FirstLines(text string, limit int, e Exercise) string {
	lines := strings.Split(Wrap(text), "\n")
	if len(lines) <= limit {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n… (the rest: %s)", strings.TrimSpace(strings.Join(lines[:limit], "\n")), e.Path(ReadmeFile))
}
