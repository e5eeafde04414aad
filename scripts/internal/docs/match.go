package docs

// This file compares output with the text. Spaces at a line's end and blank lines at the end don't
// count, and several spaces are like one, because kubectl's columns vary. `…` in a line matches any
// text that isn't empty, and a line with only `…` matches any number of lines, even none. Lines in
// which go reports a download are ignored, because only a first run has them.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const ellipsis = "…"

var blanks = regexp.MustCompile(`[ \t]+`)

// pattern has one entry for each expected line; nil matches any number of lines.
type pattern []*regexp.Regexp

func compile(shown []string) pattern {
	p := make(pattern, len(shown))
	for i, line := range shown {
		if strings.TrimSpace(line) == ellipsis {
			continue
		}
		parts := strings.Split(normal(line), ellipsis)
		for j := range parts {
			parts[j] = regexp.QuoteMeta(parts[j])
		}
		p[i] = regexp.MustCompile(`^` + strings.Join(parts, `.+`) + `$`)
	}
	return p
}

// match says how far lines of output match a pattern.
type match struct {
	whole bool // all lines match the whole pattern
	used  int  // so many lines match the whole pattern; -1: none do
	stuck bool // more lines can't help
	line  int  // the index of the first line that doesn't match, or the number of lines
	shown int  // the index in the pattern of the first line that has no match
}

// match keeps all places in the pattern that the lines can lead to, because an any-lines entry can
// end anywhere.
func (p pattern) match(lines []string) match {
	m := match{used: -1}
	places := p.skip(nil, 0)
	for {
		m.shown = slices.Max(places)
		m.whole = m.shown == len(p)
		if m.whole && m.used < 0 {
			m.used = m.line
		}
		if m.line == len(lines) {
			return m
		}
		if strings.HasPrefix(lines[m.line], "go: downloading ") {
			m.line++
			continue
		}
		var next []int
		for _, i := range places {
			switch {
			case i < len(p) && p[i] == nil:
				next = p.skip(next, i)
			case i < len(p) && p[i].MatchString(normal(lines[m.line])):
				next = p.skip(next, i+1)
			}
		}
		if next == nil {
			m.whole, m.stuck = false, true
			return m
		}
		places = next
		m.line++
	}
}

// skip adds place i, and the next ones if any-lines entries match no line.
func (p pattern) skip(places []int, i int) []int {
	for ; !slices.Contains(places, i); i++ {
		places = append(places, i)
		if i == len(p) || p[i] != nil {
			break
		}
	}
	return places
}

// why explains where the output differs from the text, if it does.
func (m match) why(shown, lines []string) string {
	switch {
	case m.whole:
		return ""
	case m.shown == len(shown):
		return fmt.Sprintf("line %d of the output is too much: %q", m.line+1, lines[m.line])
	case !m.stuck:
		return fmt.Sprintf("the output has no line %q where it is expected", shown[m.shown])
	default:
		return fmt.Sprintf("line %d of the output is %q, expected %q", m.line+1, lines[m.line], shown[m.shown])
	}
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
