package faults

// The catalogue, and what is printed.

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

// Each fault is complete, and its name is unique.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, fault := range All() {
		explained := fault.Unsurvived || fault.Why != "" && fault.Lesson != ""
		if fault.Label == "" || fault.Title == "" || fault.Does == "" || !explained ||
			fault.LeaderDies != (fault.Hit == "") || fault.LeaderDies != (fault.Begin == nil) {
			t.Errorf("%s lacks something: %+v", fault.Name, fault)
		}
		if seen[strings.ToLower(fault.Name)] {
			t.Errorf("there are two faults %s", fault.Name)
		}
		seen[strings.ToLower(fault.Name)] = true
	}
}

func TestFind(t *testing.T) {
	if fault, err := Find("f6A"); err != nil || fault.Name != "F6a" {
		t.Errorf("found %q, error %v", fault.Name, err)
	}
	if _, err := Find("F4"); err == nil || !strings.Contains(problem.Format(err), "F3, F4a, F4b, F4c, F5") {
		t.Errorf("F4: error %v", err)
	}
}

func TestPrintedRequests(t *testing.T) {
	var page process.Buffer
	told := printer{out: &page, colours: ui.NewPalette(false)}
	for _, r := range []audit.Request{
		{Verb: "list", Resource: "foos", URI: "/foos", Code: 200},
		{Verb: "watch", Resource: "foos", URI: "/foos?watch=true", Code: 410},
		{Verb: "get", Resource: "foos", Namespace: "a", Name: "x", Code: 200},
		{Verb: "update", Resource: "leases", Namespace: "a", Name: "x", Code: 200},
		{Verb: "list", Resource: "deployments", Namespace: "a", Code: 200},
		{Verb: "get", Resource: "deployments", Namespace: "a", Name: "x", Code: 404},
		{Verb: "update", Resource: "foos/status", Namespace: "a", Name: "x", Code: 200},
		{Verb: "get", URI: "/version?pretty", Code: 200},
		{Verb: "get", URI: "/version?pretty", Code: 403},
	} {
		told.request(r)
	}
	told.request(audit.Request{Verb: "get", Code: 200})
	told.print(theFault, "writes refused so far: %d", 1)
	told.heading("%s", "over")
	want := `request   list foos: 200
request   watch foos: 410
request   2 reads
request   get deployments a/x: 404
request   update foos/status a/x: 200
request   1 read
request   get /version: 403
request   1 read
fault     writes refused so far: 1

== over
`
	if page.String() != want {
		t.Errorf("got\n%s\nwant\n%s", page.String(), want)
	}
}

func TestLogLinesArePrintedWithoutTheirTime(t *testing.T) {
	for line, want := range map[string]string{
		`I1121 06:43:59.620038   25626 main.go:69] "Starting" a="b"`: `I main.go:69] "Starting" a="b"`,
		`E1121 06:43:59.620038 1 queue.go:7] "No"`:                   `E queue.go:7] "No"`,
		"2026-11-22T18:29:40Z\tINFO\tStarting\t{\"a\": \"b\"}":       "I Starting\t{\"a\": \"b\"}",
		`panic: oh`: `panic: oh`,
	} {
		if got := withoutStamp(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}
