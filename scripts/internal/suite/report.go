package suite

// The report of which promises held, with a line for each, in the same order each time.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

const (
	// promiseDepth is the number of slashes in the names of a promise's or fault's tests:
	// Test…/CHAPTER/PROMISE.
	promiseDepth = 2
	// maxLines is how many lines of a failed test's message are shown.
	maxLines = 10
)

type report struct {
	out     io.Writer
	colours ui.Palette
	tests   []*gotest.Test
	counts  gotest.Counts
	shown   []string // messages
}

// add shows the tests of one run. It counts those that have no subtests, or fail outside them. A
// failure above the promises, such as an unreachable cluster, is shown and counted once.
func (r *report) add(results gotest.Results) {
	before := r.counts
	for _, p := range results {
		r.tests = p.Tests
		for _, t := range p.Tests {
			switch depth := strings.Count(t.Name, "/"); {
			case depth == promiseDepth:
				r.show(t, "")
			case depth < promiseDepth && r.failedItself(t) && !slices.Contains(r.shown, firstMessage(t)):
				r.show(t, "")
			}
		}
		if p.Failed && r.counts.Failed == before.Failed {
			r.fail("the tests", "", p.Build+p.Output())
		}
	}
}

func (r *report) show(t *gotest.Test, indent string) {
	sentence := sentence(t.Name)
	below := r.below(t)
	switch {
	case r.failedItself(t):
		r.fail(sentence, indent, firstMessage(t))
	case t.State == gotest.Passed:
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Green.Sprint("✓"), sentence)
		if len(below) == 0 {
			r.counts.Passed++
		}
	default:
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), sentence)
	}
	if strings.Count(t.Name, "/") < promiseDepth {
		return
	}
	for _, promise := range below {
		r.show(promise, indent+"  ")
	}
}

func (r *report) fail(what, indent, message string) {
	r.counts.Failed++
	r.shown = append(r.shown, message)
	fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), what)
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for _, line := range lines[:min(maxLines, len(lines))] {
		fmt.Fprintf(r.out, "%s    %s\n", indent, line)
	}
	if len(lines) > maxLines {
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

// failedItself reports whether t failed, was skipped or didn't finish, and no subtest is the cause.
func (r *report) failedItself(t *gotest.Test) bool {
	return t.State != gotest.Passed && !slices.ContainsFunc(r.below(t), func(b *gotest.Test) bool { return b.State != gotest.Passed })
}

func sentence(name string) string {
	return strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
}

// firstMessage is a failed test's first message. Later ones are about the circumstances.
func firstMessage(t *gotest.Test) string {
	messages := gotest.Messages(t.Output())
	i := slices.IndexFunc(messages, func(s gotest.Message) bool { return s.File != "" })
	switch {
	case i >= 0:
		return messages[i].Text
	case len(messages) > 0:
		return messages[0].Text // a panic
	}
	return "it exited without a message"
}
