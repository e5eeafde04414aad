package gotest

// What go test -json prints (`go doc test2json`), sorted by package and test.

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	FailedBuild string
}

// reader reads what go test -json prints.
type reader struct {
	results  Results
	packages map[string]*Package
	builds   map[string][]byte // the compiler's output, by import path
	progress func(test string) // may be nil
}

// take reads one line.
func (r *reader) take(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil {
		return // all of go test's own lines are JSON
	}
	if e.Action == "build-output" {
		r.builds[e.ImportPath] = clip(r.builds[e.ImportPath], e.Output)
	}
	if e.Package == "" {
		return
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &Package{Path: e.Package}
		r.packages[e.Package] = p
		r.results = append(r.results, p)
	}
	switch {
	case e.Test != "":
		if e.Action == "run" && r.progress != nil {
			r.progress(e.Test)
		}
		p.test(e.Test).take(e)
	case e.Action == "output":
		p.Output = clip(p.Output, e.Output)
	case e.Action == "fail":
		p.Failed = true
		p.Build = string(r.builds[e.FailedBuild])
	}
}

func (p *Package) test(name string) *Test {
	for _, t := range p.Tests {
		if t.Name == name {
			return t
		}
	}
	t := &Test{Name: name}
	p.Tests = append(p.Tests, t)
	return t
}

// endings are the states of tests after the actions that end them.
var endings = map[string]State{"pass": Passed, "fail": Failed, "skip": Skipped}

func (t *Test) take(e event) {
	if e.Action == "output" {
		t.Output = clip(t.Output, e.Output)
	}
	if state, ended := endings[e.Action]; ended {
		t.State = state
	}
}

// clipped is how much is kept of an output's beginning and of its end. A loop may print gigabytes.
const clipped = 64 << 10

// clip appends to an output, and leaves out its middle if that gets long.
func clip(output []byte, more string) []byte {
	output = append(output, more...)
	if len(output) > 4*clipped {
		output = slices.Concat(output[:clipped], []byte("\n… (much more)\n"), output[len(output)-clipped:])
	}
	return output
}

// Message is one message of t.Error, t.Log and the like, or a line that was printed without them.
type Message struct {
	File string // such as sum_test.go; "" for a printed line
	Line int
	Text string // one line or more
}

var (
	// frame matches go test's own lines.
	frame = regexp.MustCompile(
		`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|PASS$|FAIL($|\t)|ok  \t|exit status )`)
	// located matches the first line of a message.
	located = regexp.MustCompile(`^    (\S+\.go):(\d+): ?(.*)$`)
)

func Messages(output string) []Message {
	var all []Message
	inMessage := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		switch match := located.FindStringSubmatch(line); {
		case frame.MatchString(line):
			inMessage = false
		case match != nil:
			inMessage = true
			number, _ := strconv.Atoi(match[2])
			all = append(all, Message{match[1], number, match[3]})
		case inMessage && (strings.HasPrefix(line, "        ") || line == ""):
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(line, "        ")
		case line != "":
			inMessage = false
			all = append(all, Message{Text: line})
		}
	}
	for i := range all {
		all[i].Text = strings.TrimRight(all[i].Text, "\n")
	}
	return all
}
