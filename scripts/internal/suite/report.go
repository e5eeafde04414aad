package suite

// Which promises held and which didn't, a line each: short, and the same each time.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

const (
	// ofPromise is the number of slashes in the name of a promise's or a fault's test: Test…/CHAPTER/PROMISE.
	ofPromise = 2
	// mostLines is how much of a failed test's message is shown.
	mostLines = 10
)

type report struct {
	out     io.Writer
	colours ui.Palette
	tests   []*gotest.Test
	counts  gotest.Counts
	told    []string // messages
}

// add shows the tests of one run, and counts those that have no others below them, or fail by themselves. What fails before
// it comes to a promise, such as a cluster that can't be reached, is shown and counted once.
func (r *report) add(results gotest.Results) {
	before := r.counts
	for _, p := range results {
		r.tests = p.Tests
		for _, t := range p.Tests {
			switch depth := strings.Count(t.Name, "/"); {
			case depth == ofPromise:
				r.show(t, "")
			case depth < ofPromise && r.failedItself(t) && !slices.Contains(r.told, firstWords(t)):
				r.show(t, "")
			}
		}
		if p.Failed && r.counts.Failed == before.Failed {
			r.fail("the tests", "", p.Build+p.Output())
		}
	}
}

// show shows a test and, if it is a fault's, the promises below it.
func (r *report) show(t *gotest.Test, indent string) {
	sentence := sentence(t.Name)
	below := r.below(t)
	switch {
	case r.failedItself(t):
		r.fail(sentence, indent, firstWords(t))
	case t.State == gotest.Passed:
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Green.Sprint("✓"), sentence)
		if len(below) == 0 {
			r.counts.Passed++
		}
	default:
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), sentence)
	}
	if strings.Count(t.Name, "/") < ofPromise {
		return
	}
	for _, promise := range below {
		r.show(promise, indent+"  ")
	}
}

func (r *report) fail(what, indent, message string) {
	r.counts.Failed++
	r.told = append(r.told, message)
	fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), what)
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for _, line := range lines[:min(mostLines, len(lines))] {
		fmt.Fprintf(r.out, "%s    %s\n", indent, line)
	}
	if len(lines) > mostLines {
		fmt.Fprintf(r.out, "%s    …\n", indent)
	}
}

func (r *report) below(t *gotest.Test) (below []*gotest.Test) {
	for _, other := range r.tests {
		if rest, ok := strings.CutPrefix(other.Name, t.Name+"/"); ok && !strings.Contains(rest, "/") {
			below = append(below, other)
		}
	}
	return below
}

// failedItself reports whether t didn't pass, skipped or unfinished included, and not due to a subtest.
func (r *report) failedItself(t *gotest.Test) bool {
	return t.State != gotest.Passed && !slices.ContainsFunc(r.below(t), func(b *gotest.Test) bool { return b.State != gotest.Passed })
}

// sentence is the last part of a test's name, with its blanks.
func sentence(name string) string {
	return strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
}

// firstWords is the first thing that a test said. What it said later is about the circumstances.
func firstWords(t *gotest.Test) string {
	words := gotest.Messages(t.Output())
	i := slices.IndexFunc(words, func(s gotest.Message) bool { return s.File != "" })
	switch {
	case i >= 0:
		return words[i].Text
	case len(words) > 0:
		return words[0].Text // a panic
	}
	return "it exited without a message"
}
