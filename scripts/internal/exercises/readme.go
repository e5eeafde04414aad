package exercises

// What an exercise's README says, as plain text for a terminal.

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// Readme has the parts of a README that the commands show. A part that the README lacks is empty.
type Readme struct {
	Title   string // without the exercise's number
	Minutes int    // that the exercise should take
	Learned string // the idea, in one sentence
	Task    string // everything before "Read first", the question, or the first section
	Predict string // the first question to think about before working
}

var (
	minutesLine = regexp.MustCompile(`(?m)^Minutes: ([1-9]\d{0,3})$`)
	learnedLine = regexp.MustCompile(`(?m)^<!-- Learned: (\S.*?) -->$`)
	blankLines  = regexp.MustCompile(`\n(\s*\n)+`)
	// headBlock matches the title, the time, and comments.
	headBlock = regexp.MustCompile(`^(# |Minutes: |<!--)`)
	// afterTask matches what ends the task.
	afterTask = regexp.MustCompile(`^(\*\*Read first|\*\*Predict|## )`)
)

func (e Exercise) ReadReadme() (Readme, error) {
	content, err := os.ReadFile(e.File(ReadmeFile))
	if err != nil {
		return Readme{}, fmt.Errorf("read the task of %s: %w", e.Name(), err)
	}
	var readme Readme
	if title, ok := strings.CutPrefix(string(content), fmt.Sprintf("# %d: ", e.Number)); ok {
		title, _, _ = strings.Cut(title, "\n")
		readme.Title = strings.TrimSpace(title)
	}
	if match := minutesLine.FindSubmatch(content); match != nil {
		readme.Minutes, _ = strconv.Atoi(string(match[1])) // only digits
	}
	if match := learnedLine.FindSubmatch(content); match != nil {
		readme.Learned = string(match[1])
	}
	var task []string
	inTask := true
	for _, block := range blankLines.Split(string(content), -1) {
		inTask = inTask && !afterTask.MatchString(block)
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
