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
	builds := map[string]*clip{} // what the compiler said, by import path
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
			if said := builds[e.FailedBuild]; said != nil {
				p.Build = said.String()
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

// ends are the actions that end a test.
var ends = map[string]State{"pass": Passed, "fail": Failed, "skip": Skipped}

func (t *Test) take(e event) {
	if e.Action == "output" {
		t.output.add(e.Output)
	}
	if state, ended := ends[e.Action]; ended {
		t.State = state
	}
}

// clipped is how much is kept of the beginning and of the end of an output: a loop that prints may print gigabytes.
const clipped = 64 << 10

// clip is an output whose middle may have been lost.
type clip struct{ text []byte }

func (c *clip) add(s string) {
	c.text = append(c.text, s...)
	if len(c.text) > 4*clipped {
		c.text = slices.Concat(c.text[:clipped], []byte("\n… (much more)\n"), c.text[len(c.text)-clipped:])
	}
}

func (c *clip) String() string { return string(c.text) }

// Said is what a test said by t.Error, t.Log and the like, in one go; or a line that was printed past it.
type Said struct {
	File string // where it said so, such as sum_test.go; "" if it was printed
	Line int
	Text string // may have several lines
}

var (
	// frame are go test's own lines.
	frame = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|PASS$|FAIL($|\t)|ok  \t|exit status )`)
	// located is the first line of what t.Error or t.Log prints.
	located = regexp.MustCompile(`^    (\S+\.go):(\d+): ?(.*)$`)
)

func Words(output string) []Said {
	var all []Said
	saying := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		switch match := located.FindStringSubmatch(line); {
		case frame.MatchString(line):
			saying = false
		case match != nil:
			saying = true
			number, _ := strconv.Atoi(match[2])
			all = append(all, Said{match[1], number, match[3]})
		case saying && (strings.HasPrefix(line, "        ") || line == ""):
			all[len(all)-1].Text += "\n" + strings.TrimPrefix(line, "        ")
		case line != "":
			saying = false
			all = append(all, Said{Text: line})
		}
	}
	for i := range all {
		all[i].Text = strings.TrimRight(all[i].Text, "\n")
	}
	return all
}
