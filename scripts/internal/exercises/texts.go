package exercises

// What an exercise's files say of themselves: the title and the time at the top of the README, and the solution.

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// about is what the top of a README says.
type about struct {
	title   string
	minutes int
}

var (
	titleLine   = regexp.MustCompile(`^# (\d+): (\S.*)\n`)
	minutesLine = regexp.MustCompile(`(?m)^Minutes: (\d+)$`)
)

func readAbout(e Exercise) (about, error) {
	source, err := os.ReadFile(e.File(readmeFile))
	if err != nil {
		return about{}, err
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	title := titleLine.FindSubmatch(source)
	if title == nil || string(title[1]) != strconv.Itoa(e.Number) {
		return about{}, fmt.Errorf("%s: its first line isn't \"# %d: Title\"", e.Path(readmeFile), e.Number)
	}
	line := minutesLine.FindSubmatch(source)
	if line == nil {
		return about{}, fmt.Errorf("%s: it has no line \"Minutes: N\"", e.Path(readmeFile))
	}
	minutes, err := strconv.Atoi(string(line[1]))
	if err != nil || minutes < 1 {
		return about{}, fmt.Errorf("%s: %q is no time to expect", e.Path(readmeFile), line[0])
	}
	return about{title: string(title[2]), minutes: minutes}, nil
}

// Solution is the solution, without the line that keeps it from being built.
func Solution(e Exercise) (string, error) {
	content, err := os.ReadFile(e.File(solutionFile))
	if err != nil {
		return "", fmt.Errorf("read the solution of %s: %w", e.Name(), err)
	}
	return strings.TrimLeft(strings.TrimPrefix(string(content), "//go:build "+tagSolution), "\r\n"), nil
}
