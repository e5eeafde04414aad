package docs

// This file compares output with the text. Spaces at a line's end and blank lines at the end don't
// count, and several spaces are like one, because kubectl's columns vary. `…` in a line matches any
// text that isn't empty, and a line with only `…` matches any number of lines, even none. Lines in
// which go reports a download are ignored, because only a first run has them.

import (
	"fmt"
	"regexp"
	"strings"
)

const ellipsis = "…"

var blanks = regexp.MustCompile(`[ \t]+`)

// match compares lines of output with lines that are shown in a text. used is how many lines of
// output match all that are shown, or -1. If there are too many lines, or some don't match, why says
// so, and line is the index of the first one.
func match(shown, lines []string) (used, line int, why string) {
	output := ""
	for _, line := range lines {
		output += normal(line) + "\n"
	}
	if used := matching(shown, output, ""); used >= 0 {
		if matching(shown, output, `\z`) < 0 {
			why = fmt.Sprintf("line %d of the output is too much: %q", used+1, lines[used])
		}
		return used, used, why
	}
	missing := len(shown) - 1
	for matching(shown[:missing], output, "") < 0 {
		missing--
	}
	line = matching(shown[:missing], output, "")
	return -1, line, fmt.Sprintf("the output has no line %q after its line %d", shown[missing], line)
}

// matching returns how many lines at the beginning of the output match all that are shown, or -1.
func matching(shown []string, output, end string) int {
	expression := `\A`
	for _, line := range shown {
		if strings.TrimSpace(line) == ellipsis {
			expression += `(.*\n)*?`
			continue
		}
		parts := strings.Split(normal(line), ellipsis)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		expression += strings.Join(parts, `.+`) + `\n`
	}
	found := regexp.MustCompile(expression + end).FindStringIndex(output)
	if found == nil {
		return -1
	}
	return strings.Count(output[:found[1]], "\n")
}

func normal(line string) string {
	return strings.TrimRight(blanks.ReplaceAllString(line, " "), " \r")
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func isDownload(line string) bool { return strings.HasPrefix(line, "go: downloading ") }
