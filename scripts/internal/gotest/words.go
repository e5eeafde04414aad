package gotest

// What a test says in its own words, without go test's.

import (
	"regexp"
	"strconv"
	"strings"
)

// Said is what a test said by t.Error, t.Log and the like, in one go; or a line that was printed past it.
type Said struct {
	File string // where it said so, such as sum_test.go; "" if it was printed
	Line int
	Text string // may have several lines
}

var (
	// frame are go test's own lines.
	frame = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|PASS$|FAIL($|\t)|ok  \t|exit status )`)
	// located is the first line of what t.Error or t.Log prints.
	located = regexp.MustCompile(`^    (\S+\.go):(\d+): ?(.*)$`)
)

// Words takes a test's output apart.
func Words(output string) []Said {
	var all []Said
	saying := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		switch match := located.FindStringSubmatch(line); {
		case frame.MatchString(line):
			saying = false
		case match != nil:
			saying = true
			number, _ := strconv.Atoi(match[2])
			all = append(all, Said{match[1], number, match[3]})
		case saying && (strings.HasPrefix(line, "        ") || line == ""):
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(line, "        ")
		case line != "":
			saying = false
			all = append(all, Said{Text: line})
		}
	}
	for i := range all {
		all[i].Text = strings.TrimRight(all[i].Text, "\n")
	}
	return all
}
