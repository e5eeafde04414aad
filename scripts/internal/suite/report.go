package suite

// The report of which promises held, with a line for each.

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
	// Test…/CHAPTER/PROMISE. Under a fault, there are promises below it.
	promiseDepth = 2
	// maxLines is how many lines of a failed test's message are shown.
	maxLines = 10
)

type report struct {
	out          io.Writer
	colours      ui.Palette
	held, failed int // promises
}

// add shows the tests of a run, in the order of the source. A failure above the promises, such as an
// unreachable cluster, is only shown if no promise failed.
func (r *report) add(results gotest.Results) {
	before := r.failed
	for _, p := range results {
		for _, t := range p.Tests {
			if strings.Count(t.Name, "/") == promiseDepth {
				r.show(p, t, "")
			}
		}
	}
	if problems := results.Problems(); len(problems) > 0 && r.failed == before {
		r.fail("the tests", problems[len(problems)-1], "") // the innermost
	}
}

// show shows a test and those below it. Only the innermost test that failed has a message, and is
// counted.
func (r *report) show(p *gotest.Package, t *gotest.Test, indent string) {
	inner := below(p, t)
	switch {
	case passed(t):
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Green.Sprint("✓"), sentence(t.Name))
		if len(inner) == 0 {
			r.held++
		}
	case slices.ContainsFunc(inner, func(t *gotest.Test) bool { return !passed(t) }):
		fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), sentence(t.Name))
	default:
		r.fail(sentence(t.Name), firstMessage(t), indent)
	}
	for _, t := range inner {
		r.show(p, t, indent+"  ")
	}
}

func (r *report) fail(what, message, indent string) {
	r.failed++
	fmt.Fprintf(r.out, "%s%s %s\n", indent, r.colours.Red.Sprint("✗"), what)
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	for _, line := range lines {
		fmt.Fprintf(r.out, "%s    %s\n", indent, line)
	}
}

func passed(t *gotest.Test) bool { return t.State == gotest.Passed }

// below returns the subtests of a test, without theirs.
func below(p *gotest.Package, t *gotest.Test) (inner []*gotest.Test) {
	for _, other := range p.Tests {
		if rest, ok := strings.CutPrefix(other.Name, t.Name+"/"); ok && !strings.Contains(rest, "/") {
			inner = append(inner, other)
		}
	}
	return inner
}

func sentence(name string) string {
	return strings.ReplaceAll(name[strings.LastIndex(name, "/")+1:], "_", " ")
}

// firstMessage is a failed test's first message. Later ones are about the circumstances.
func firstMessage(t *gotest.Test) string {
	messages := gotest.Messages(string(t.Output))
	i := slices.IndexFunc(messages, func(s gotest.Message) bool { return s.File != "" })
	switch {
	case i >= 0:
		return messages[i].Text
	case len(messages) > 0:
		return messages[0].Text // a panic
	}
	return "it exited without a message"
}
