package docs

// This file compares output with what a text shows of it. Blanks at a line's end don't count, a run
// of blanks is one blank (kubectl's columns vary), and so are blank lines at the end. `…` within a
// line stands for any text but none, a line that is only `…` for any number of lines, none
// included. All else is literal. Lines in which go reports a download count nowhere, because only
// the first run of a command has them.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const ellipsis = "…"

var blanks = regexp.MustCompile(`[ \t]+`)

// pattern has one entry for each line shown; nil stands for any number of lines.
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

// match is how far lines of output agree with a pattern.
type match struct {
	whole bool // all lines are what the pattern says
	used  int  // the first so many lines are already all that the pattern says; -1: no beginning is
	stuck bool // no further line can fix it
	line  int  // the line, from 0, at which it got stuck, or else the number of lines
	shown int  // the pattern's line, from 0, that nothing was found for
}

// match follows the lines with the set of all places in the pattern that they can have led to,
// since an any-lines entry can end anywhere.
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

// skip adds place i, and those that any-lines entries lead to without a line.
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
