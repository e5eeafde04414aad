package carry

import (
	"strings"
	"testing"
)

const program = `//go:build solution

// Command x is a program.
package main

import (
	"fmt"
	"time"

	v1 "example.com/api/v1"
	"example.com/log/v2"
)

// none is no window.
const none = -1 // a window's index

// at returns the window.
func at(spec v1.Spec) int {
	if len(spec.Windows) == 0 {
		return none
	}
	return first(spec)
}

// A comment between two declarations.

// first returns the first window.
func first(v1.Spec) int { return 0 }

type program struct{ next time.Time }

// run runs.
func (p *program) run() {
	log.Print(fmt.Sprint(at(v1.Spec{})))
	p.stop()
}

func (p *program) stop() {}
`

func TestSplit(t *testing.T) {
	for sentence, test := range map[string]struct {
		names, elsewhere []string
		take, rest       string // what they declare, in order
		imports          string // of take
	}{
		"a function comes with what it uses": {
			names: []string{"at"},
			take:  "none at first", rest: "program run stop", imports: "example.com/api/v1",
		},
		"what is declared elsewhere stays": {
			names: []string{"at"}, elsewhere: []string{"first"},
			take: "none at", rest: "first program run stop", imports: "example.com/api/v1",
		},
		"a method comes with its type, and with other methods that it calls": {
			names: []string{"run"}, elsewhere: []string{"at"},
			take: "program run stop", rest: "none at first", imports: "fmt time example.com/api/v1 example.com/log/v2",
		},
		"nothing may be left": {
			names: []string{"run", "at"},
			take:  "none at first program run stop", imports: "fmt time example.com/api/v1 example.com/log/v2",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			source, err := Parse("x.go", program)
			if err != nil {
				t.Fatal(err)
			}
			take, rest, err := source.Split(test.names, test.elsewhere)
			if err != nil {
				t.Fatal(err)
			}
			declares(t, "take", take, test.take)
			declares(t, "rest", rest, test.rest)
			var imports []string
			taken, _ := Parse("take.go", take)
			for _, spec := range taken.file.Imports {
				imports = append(imports, strings.Trim(spec.Path.Value, `"`))
			}
			if got := strings.Join(imports, " "); got != test.imports {
				t.Errorf("take imports %q, want %q", got, test.imports)
			}
		})
	}
}

func declares(t *testing.T, what, text, want string) {
	t.Helper()
	source, err := Parse(what+".go", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if got := strings.Join(source.Names(), " "); got != want {
		t.Errorf("%s declares %q, want %q", what, got, want)
	}
}

func TestSplitKeepsComments(t *testing.T) {
	source, err := Parse("x.go", program)
	if err != nil {
		t.Fatal(err)
	}
	take, _, err := source.Split([]string{"at"}, []string{"first"})
	if err != nil {
		t.Fatal(err)
	}
	want := `package main

import (
	v1 "example.com/api/v1"
)

// none is no window.
const none = -1 // a window's index

// at returns the window.
func at(spec v1.Spec) int {
	if len(spec.Windows) == 0 {
		return none
	}
	return first(spec)
}
`
	if take != want {
		t.Errorf("got\n%s\nwant\n%s", take, want)
	}
}

func TestSplitWithoutTheFunction(t *testing.T) {
	source, err := Parse("x.go", program)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := source.Split([]string{"scheduleAt"}, nil); err == nil || err.Error() != "x.go declares no scheduleAt" {
		t.Errorf("got the error %v", err)
	}
}

func TestHead(t *testing.T) {
	for text, want := range map[string]string{
		program:                         "//go:build solution\n\n// Command x is a program.\n",
		"package main\n":                "",
		"// A comment.\n\npackage main": "// A comment.\n\n",
	} {
		if got := Head(text); got != want {
			t.Errorf("the head of %.30q… is %q, want %q", text, got, want)
		}
	}
}
