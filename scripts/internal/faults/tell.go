package faults

// What is told, a line for each thing that happens: who it is about, and what.

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/ui"
)

// Whom lines are about.
const (
	theFault   = "fault"
	theProgram = "program"
	aRequest   = "request"
)

// teller writes lines, which come from many sides at once.
type teller struct {
	out     io.Writer
	colours ui.Palette

	mutex  sync.Mutex
	reads  int // that were counted and not told yet
	reader string
}

// tell tells something about somebody: the program, a request of it, the fault.
func (t *teller) tell(who, format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.tellReads()
	t.line(who, format, args...)
}

// request tells a request. Reads of one object, or in one namespace, are only counted: there are many, and little is learned.
// Leases, which are renewed all the time, are left out.
func (t *teller) request(who string, r audit.Request) {
	if r.Resource == "leases" {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	read := r.Code < 300 && (r.Verb == "get" || r.Verb == "list" && r.Namespace != "")
	if !read || who != t.reader {
		t.tellReads()
	}
	if read {
		t.reads++
		t.reader = who
		return
	}
	t.line(who, "%s", inWords(r))
}

func (t *teller) heading(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.tellReads()
	fmt.Fprintf(t.out, "\n%s\n", t.colours.Bold.Sprintf("== "+format, args...))
}

// note tells the reader something, a line or more, below a heading.
func (t *teller) note(text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	fmt.Fprintf(t.out, "   %s\n", strings.ReplaceAll(text, "\n", "\n   "))
}

func (t *teller) tellReads() {
	if t.reads > 0 {
		t.line(t.reader, "%s", ui.Plural(t.reads, "read"))
	}
	t.reads = 0
}

func (t *teller) line(who, format string, args ...any) {
	colour := t.colours.Cyan
	switch {
	case who == theFault:
		colour = t.colours.Red
	case strings.HasPrefix(who, theProgram):
		colour = t.colours.Grey
	}
	fmt.Fprintf(t.out, "%s %s\n", colour.Sprintf("%-9s", who), fmt.Sprintf(format, args...))
}

// inWords is what a request is about, and its answer.
func inWords(r audit.Request) string {
	object := strings.Trim(r.Namespace+"/"+r.Name, "/")
	if r.Resource == "" {
		object, _, _ = strings.Cut(r.URI, "?")
	}
	return fmt.Sprintf("%s: %d", strings.Join(strings.Fields(r.Verb+" "+r.Resource+" "+object), " "), r.Code)
}

// stamp is the time at the beginning of klog's lines, after the severity, and of zap's.
var stamp = regexp.MustCompile(`^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ |^\d{4}-\d\d-\d\dT\S+\t([DIWEF])[A-Z]*\t`)

// withoutStamp returns a line of the program's log that begins with the severity, a letter.
func withoutStamp(line string) string { return stamp.ReplaceAllString(line, "$1$2 ") }
