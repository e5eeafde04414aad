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
	// promiseDepth is the number of slashes before the name of a promise or fault:
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

// add shows the promises of a run, in the order of the source. Only the innermost tests count. A
// failure above them, such as an unreachable cluster, is only shown if no promise failed.
func (r *report) add(results gotest.Results) {
	before := r.failed
	for _, p := range results {
		for _, t := range p.Tests {
			path := strings.Split(strings.ReplaceAll(t.Name, "_", " "), "/")
			hasSubtests := slices.ContainsFunc(p.Tests, func(other *gotest.Test) bool {
				return strings.HasPrefix(other.Name, t.Name+"/")
			})
			switch promise := strings.Join(path[min(promiseDepth, len(path)):], ", "); {
			case promise == "" || hasSubtests:
			case t.State == gotest.Passed:
				r.held++
				fmt.Fprintf(r.out, "%s %s\n", r.colours.Green.Sprint("✓"), promise)
			default:
				r.fail(promise, firstMessage(t))
			}
		}
	}
	if problems := results.Problems(); len(problems) > 0 && r.failed == before {
		r.fail("the tests", problems[len(problems)-1]) // the innermost
	}
}

func (r *report) fail(what, message string) {
	r.failed++
	fmt.Fprintf(r.out, "%s %s\n", r.colours.Red.Sprint("✗"), what)
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	for _, line := range lines {
		fmt.Fprintf(r.out, "    %s\n", line)
	}
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
