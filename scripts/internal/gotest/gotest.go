// Package gotest runs `go test` and says what became of each test. It is there so that a skipped test, and a package whose
// tests never ran, can't pass for green, and so that nothing goes on in the background when a run is broken off.
//
// This file says what a run's results are; run.go runs, and parse.go reads what `go test -json` prints.
package gotest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Counts are numbers of tests, subtests included. A package that fails by itself, or doesn't build, counts as a failed test.
type Counts struct {
	Passed, Failed, Skipped int
}

// Plus adds.
func (c Counts) Plus(other Counts) Counts {
	return Counts{c.Passed + other.Passed, c.Failed + other.Failed, c.Skipped + other.Skipped}
}

// State is what became of a test.
type State int

const (
	Unfinished State = iota // another one ended the run
	Passed
	Failed
	Skipped
)

// Test is one test or subtest.
type Test struct {
	Name   string // as go test has it: a subtest's after a slash, blanks as underscores
	State  State
	Took   time.Duration // with the subtests that ran one after the other; those that ran in parallel are counted by themselves
	output clip
}

// Output is all that the test printed, or its beginning and its end.
func (t *Test) Output() string { return t.output.String() }

// Package is one package.
type Package struct {
	Path   string  // import path
	Tests  []*Test // in the order in which they began
	Failed bool
	Build  string // what the compiler or vet said, if that is why it failed
	output clip
}

// Output is what was printed outside the tests, or its beginning and its end.
func (p *Package) Output() string { return p.output.String() }

// Results are the packages of one run, in the order in which go test came to them.
type Results []*Package

// Failed tells whether any package did.
func (r Results) Failed() bool {
	return slices.ContainsFunc(r, func(p *Package) bool { return p.Failed })
}

// Counts counts the tests.
func (r Results) Counts() Counts {
	tests := map[State]int{}
	for _, p := range r {
		for _, t := range p.Tests {
			tests[t.State]++
		}
		if p.failedByItself() {
			tests[Failed]++
		}
	}
	return Counts{Passed: tests[Passed], Failed: tests[Failed], Skipped: tests[Skipped]}
}

// Timed is how long a test took.
type Timed struct {
	Package, Test string
	Took          time.Duration
}

// Slowest are the n tests without subtests that took longest.
func (r Results) Slowest(n int) []Timed {
	var all []Timed
	for _, p := range r {
		for i, t := range p.Tests {
			// A test's subtests begin after it.
			if !slices.ContainsFunc(p.Tests[i+1:], func(other *Test) bool { return strings.HasPrefix(other.Name, t.Name+"/") }) {
				all = append(all, Timed{p.Path, t.Name, t.Took})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Timed) int { return cmp.Compare(b.Took, a.Took) })
	return all[:min(n, len(all))]
}

// Problems holds, for each test that failed or was skipped, and each package that failed by itself, its name and all that
// it printed.
func (r Results) Problems() []string {
	var problems []string
	for _, p := range r {
		for _, t := range p.Tests {
			if what := map[State]string{Failed: "failed", Skipped: "was skipped"}[t.State]; what != "" {
				problems = append(problems, fmt.Sprintf("%s %s: %s\n%s", p.Path, t.Name, what, t.Output()))
			}
		}
		switch {
		case p.Build != "":
			problems = append(problems, fmt.Sprintf("%s: doesn't build\n%s", p.Path, p.Build))
		case p.failedByItself():
			problems = append(problems, fmt.Sprintf("%s: failed\n%s", p.Path, p.said()))
		}
	}
	return problems
}

// failedByItself tells whether the package failed and no test did: in TestMain, by an exit, a leak, a race, or since it
// doesn't build.
func (p *Package) failedByItself() bool {
	return p.Failed && !slices.ContainsFunc(p.Tests, func(t *Test) bool { return t.State == Failed })
}

// said is what the package printed, and the tests that didn't come to their end.
func (p *Package) said() string {
	var said strings.Builder
	for _, t := range p.Tests {
		if t.State == Unfinished {
			said.WriteString(t.Output())
		}
	}
	return said.String() + p.Output()
}
