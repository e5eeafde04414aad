package exercises

// What go test -json prints (`go doc test2json`), sorted by package and test.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// state is what became of a test.
type state int

const (
	stateUnfinished state = iota // another one ended the run
	statePassed
	stateFailed
	stateSkipped
)

// testRun is one test or subtest.
type testRun struct {
	name   string
	state  state
	output clip
}

// packageRun is one package.
type packageRun struct {
	path   string     // import path
	tests  []*testRun // in the order in which they began
	failed bool
	build  string // what the compiler said, if that is why it failed
	output clip   // what was printed outside the tests
}

// results are the packages of one run, by import path.
type results map[string]*packageRun

func (r results) failed() bool {
	for _, p := range r {
		if p.failed {
			return true
		}
	}
	return false
}

// of returns the run of an exercise's package.
func (r results) of(e Exercise) *packageRun {
	for path, p := range r {
		if strings.HasSuffix(path, "/"+folder+"/"+e.Folder) {
			return p
		}
	}
	return &packageRun{}
}

// event is one line.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

func parse(lines io.Reader, progress func(test string)) (results, error) {
	found := results{}
	builds := map[string]*clip{} // what the compiler said, by import path
	decoder := json.NewDecoder(lines)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return found, fmt.Errorf("read what go test prints: %w", err)
		}
		if e.Action == "build-output" {
			if builds[e.ImportPath] == nil {
				builds[e.ImportPath] = &clip{}
			}
			builds[e.ImportPath].add(e.Output)
		}
		if e.Package == "" {
			continue
		}
		p := found[e.Package]
		if p == nil {
			p = &packageRun{path: e.Package}
			found[e.Package] = p
		}
		if e.Test != "" {
			if e.Action == "run" && progress != nil {
				progress(e.Test)
			}
			p.test(e.Test).take(e)
			continue
		}
		switch e.Action {
		case "output":
			p.output.add(e.Output)
		case "fail":
			p.failed = true
			if said := builds[e.FailedBuild]; said != nil {
				p.build = said.String()
			}
		}
	}
}

func (p *packageRun) test(name string) *testRun {
	for _, t := range p.tests {
		if t.name == name {
			return t
		}
	}
	t := &testRun{name: name}
	p.tests = append(p.tests, t)
	return t
}

func (t *testRun) take(e event) {
	switch e.Action {
	case "output":
		t.output.add(e.Output)
	case "pass":
		t.state = statePassed
	case "fail":
		t.state = stateFailed
	case "skip":
		t.state = stateSkipped
	}
}

// clipped is how much is kept of the beginning and of the end of an output: a loop that prints may print gigabytes.
const clipped = 64 << 10

// clip is an output whose middle may have been lost.
type clip struct {
	head, tail strings.Builder
	lost       bool
}

func (c *clip) add(s string) {
	if c.tail.Len() == 0 && c.head.Len()+len(s) <= clipped {
		c.head.WriteString(s)
		return
	}
	c.tail.WriteString(s)
	if end := c.tail.String(); len(end) > 4*clipped {
		c.tail.Reset()
		c.tail.WriteString(end[len(end)-clipped:])
		c.lost = true
	}
}

func (c *clip) String() string {
	if c.lost {
		return c.head.String() + "\n… (much more)\n" + c.tail.String()
	}
	return c.head.String() + c.tail.String()
}
