package gotest

// What go test -json prints (`go doc test2json`), sorted by package and test.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

func parse(lines io.Reader, progress func(test string)) (Results, error) {
	var results Results
	packages := map[string]*Package{}
	builds := map[string]*clip{} // the compiler's output, by import path
	decoder := json.NewDecoder(lines)
	for {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return results, fmt.Errorf("read what go test prints: %w", err)
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
		p := packages[e.Package]
		if p == nil {
			p = &Package{Path: e.Package}
			packages[e.Package] = p
			results = append(results, p)
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
			p.Failed = true
			if output := builds[e.FailedBuild]; output != nil {
				p.Build = output.String()
			}
		}
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
		t.output.add(e.Output)
	}
	if state, ended := endings[e.Action]; ended {
		t.State = state
	}
}

// clipped is how much is kept of an output's beginning and of its end. A loop may print gigabytes.
const clipped = 64 << 10

type clip struct{ text []byte }

func (c *clip) add(s string) {
	c.text = append(c.text, s...)
	if len(c.text) > 4*clipped {
		c.text = slices.Concat(c.text[:clipped], []byte("\n… (much more)\n"), c.text[len(c.text)-clipped:])
	}
}

func (c *clip) String() string { return string(c.text) }

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
