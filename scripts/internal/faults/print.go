package faults

// A session's output: a line for each event, with its source.

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/ui"
)

// The sources of lines.
const (
	theFault   = "fault"
	theProgram = "program"
	aRequest   = "request"
)

type printer struct {
	out     io.Writer
	colours ui.Palette

	mutex sync.Mutex
	reads int // counted, but not printed yet
}

// print prints a line about its source: the program, a request, or the fault.
func (t *printer) print(who, format string, args ...any) {
	t.write(t.line(who, format, args...))
}

// request prints a request. Reads of one object or namespace are only counted, because there are
// many. Requests for Leases are left out, because leaders renew them all the time.
func (t *printer) request(r audit.Request) {
	switch {
	case r.IsElection():
	case r.Code < 300 && (r.Verb == "get" || r.Verb == "list" && r.Namespace != ""):
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.reads++
	default:
		t.print(aRequest, "%s", describe(r))
	}
}

func (t *printer) heading(format string, args ...any) {
	t.write("\n" + t.colours.Bold.Sprint(ui.Item("== ", fmt.Sprintf(format, args...))))
}

// note prints a text for the learner.
func (t *printer) note(text string) { t.write(ui.Wrap("   " + text)) }

// write prints a text, after the number of the reads before it.
func (t *printer) write(text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.reads > 0 {
		fmt.Fprintln(t.out, t.line(aRequest, "%s", ui.Plural(t.reads, "read")))
	}
	t.reads = 0
	fmt.Fprintln(t.out, text)
}

func (t *printer) line(who, format string, args ...any) string {
	colour := t.colours.Cyan
	switch who {
	case theFault:
		colour = t.colours.Red
	case theProgram:
		colour = t.colours.Grey
	}
	return fmt.Sprintf("%s %s", colour.Sprintf("%-9s", who), fmt.Sprintf(format, args...))
}

func describe(r audit.Request) string {
	object := strings.Trim(r.Namespace+"/"+r.Name, "/")
	if r.Resource == "" {
		object, _, _ = strings.Cut(r.URI, "?")
	}
	return fmt.Sprintf("%s: %d", strings.Join(strings.Fields(r.Verb+" "+r.Resource+" "+object), " "), r.Code)
}

// stamp matches the time at the beginning of klog's lines, after the severity, and of zap's.
var stamp = regexp.MustCompile(`^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ |^\d{4}-\d\d-\d\dT\S+\t([DIWEF])[A-Z]*\t`)

// withoutStamp returns a log line without its time, beginning with the letter of its severity.
func withoutStamp(line string) string { return stamp.ReplaceAllString(line, "$1$2 ") }
