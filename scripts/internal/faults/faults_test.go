package faults

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// What the matrix is about can be tried, and nothing else; each fault here is one of the matrix's.
func TestTheFaultsAreTheMatrixs(t *testing.T) {
	tried := map[string]bool{}
	for _, fault := range All() {
		named, err := contract.Find(fault.Name)
		if err != nil || len(named) != 1 {
			t.Errorf("%s is %v in the matrix, error %v", fault.Name, named, err)
			continue
		}
		tried[named[0].Name] = true
	}
	for _, fault := range contract.Faults() {
		if !tried[fault.Name] {
			t.Errorf("%s %s can't be tried", fault.Name, fault.What)
		}
		delete(tried, fault.Name)
	}
	if len(tried) > 0 {
		t.Errorf("these are no faults of the matrix: %v", tried)
	}
}

func TestFind(t *testing.T) {
	if fault, err := Find("f6A"); err != nil || fault.Name != "F6a" {
		t.Errorf("found %q, error %v", fault.Name, err)
	}
	for name, want := range map[string]struct{ what, mend string }{
		"F9": {`there is no fault "F9"`, "F3, F4a, F4b, F4c, F5"},
		"F":  {`there is no fault "F"`, "F1, F2a"},
		"":   {`there is no fault ""`, "F1, F2a"},
		"F2": {"F2 is several faults", "take one of F2a, F2b"},
		"f4": {"f4 is several faults", "take one of F4a, F4b, F4c"},
		"F6": {"F6 is several faults", "take one of F6a, F6b"},
	} {
		_, err := Find(name)
		if err == nil || err.Error() != want.what || !strings.Contains(problem.Format(err), want.mend) {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestRequestsAreTold(t *testing.T) {
	var page output.Buffer
	told := teller{out: &page, colours: ui.NewPalette(false)}
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
		told.request(aRequest, r)
	}
	told.request(aRequest+" 2", audit.Request{Verb: "get", Code: 200})
	told.tell(theFault, "hit %d", 1)
	told.heading("%s", "over")
	want := `request   list foos: 200
request   watch foos: 410
request   2 reads
request   get deployments a/x: 404
request   update foos/status a/x: 200
request   1 read
request   get /version: 403
request 2 1 read
fault     hit 1

== over
`
	if page.String() != want {
		t.Errorf("it tells\n%s\nwant\n%s", page.String(), want)
	}
}

func TestALineOfTheLogIsToldWithoutItsStamp(t *testing.T) {
	for line, want := range map[string]string{
		`I1121 06:43:59.620038   25626 main.go:69] "Starting" a="b"`: `I main.go:69] "Starting" a="b"`,
		`E1121 06:43:59.620038 1 queue.go:7] "No"`:                   `E queue.go:7] "No"`,
		`panic: oh`: `panic: oh`,
	} {
		if got := withoutStamp(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}
