// Package gotest runs `go test` and returns the result of each test. A skipped test, or a package
// whose tests never ran, doesn't count as passed, and nothing keeps running after an interrupt.
//
// parse.go reads what `go test -json` prints.
package gotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

type State int

const (
	Unfinished State = iota // something else ended the run
	Passed
	Failed
	Skipped
)

type Test struct {
	Name   string // go test's: slashes before subtests, underscores for spaces
	State  State
	Output []byte // all that the test printed, possibly without its middle
}

type Package struct {
	Path   string  // import path
	Tests  []*Test // in the order in which they began
	Failed bool
	Build  string // the compiler's or vet's errors, if it failed because of them
	Output []byte // what was printed outside the tests, possibly without its middle
}

// Results are the packages of one run, in go test's order.
type Results []*Package

// Passed is the number of tests that passed, including subtests.
func (r Results) Passed() int {
	passed := 0
	for _, p := range r {
		for _, t := range p.Tests {
			if t.State == Passed {
				passed++
			}
		}
	}
	return passed
}

// Problems returns the name and output of each test and package that failed or was skipped.
func (r Results) Problems() []string {
	var problems []string
	for _, p := range r {
		failed := false // a test has
		for _, t := range p.Tests {
			failed = failed || t.State == Failed
			if what := map[State]string{Failed: "failed", Skipped: "was skipped"}[t.State]; what != "" {
				problems = append(problems, fmt.Sprintf("%s %s: %s\n%s", p.Path, t.Name, what, t.Output))
			}
		}
		switch {
		case p.Build != "":
			problems = append(problems, fmt.Sprintf("%s: doesn't build\n%s", p.Path, p.Build))
		case p.Failed && !failed: // in TestMain, by an exit, or because of a leak or a race
			problems = append(problems, fmt.Sprintf("%s: failed\n%s", p.Path, p.printed()))
		}
	}
	return problems
}

// printed is the output of the package and of its unfinished tests.
func (p *Package) printed() (output []byte) {
	for _, t := range p.Tests {
		if t.State == Unfinished {
			output = append(output, t.Output...)
		}
	}
	return append(output, p.Output...)
}

// grace is how long go test has to end after an interrupt.
const grace = 3 * time.Second

type Request struct {
	Dir  string   // of the module
	Env  []string // beyond this process's environment
	Args []string // go test's: flags, then packages
	// Progress is called with each test's name as it starts. It may be nil.
	Progress func(test string)
}

// Run runs `go test -json`. Failed tests are in the results, and an error means that it couldn't
// run.
func Run(ctx context.Context, r Request) (Results, error) {
	command := process.NewCommand(ctx, grace, "go", append([]string{"test", "-json"}, r.Args...)...)
	command.Dir = r.Dir
	command.Env = slices.Concat(os.Environ(), r.Env)
	reading := reader{packages: map[string]*Package{}, builds: map[string][]byte{}, progress: r.Progress}
	var stderr strings.Builder
	command.Stdout, command.Stderr = &process.Lines{Do: reading.take}, &stderr
	err := command.Run()
	switch results := reading.results; {
	case ctx.Err() != nil:
		return results, ctx.Err()
	case err != nil && !slices.ContainsFunc(results, func(p *Package) bool { return p.Failed }):
		return results, refused(err, stderr.String())
	default:
		return results, nil
	}
}

// refused explains why go test failed although no test and no package did: a broken go.mod, or
// wrong GOFLAGS.
func refused(err error, stderr string) error {
	p := problem.New("go test can't run").ToDo("correct what go says")
	reason := strings.TrimSpace(stderr + "\n" + err.Error())
	if p.Explain(problem.OfGo(), stderr) {
		reason, _, _ = strings.Cut(reason, "\n") // what is known needs no list of modules
	}
	return p.Because(errors.New(reason))
}
