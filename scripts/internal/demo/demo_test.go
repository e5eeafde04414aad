package demo

import (
	"bytes"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/audit"
)

func TestRequestsAreCountedAndConflictsExplained(t *testing.T) {
	var out bytes.Buffer
	d := &Demo{Out: &out}
	read, write := audit.Request{Verb: "get", Code: 200}, audit.Request{Verb: "update", URI: "/foos/a/status", Code: 200}
	d.showRequests([]audit.Request{read, write, read, write})
	if got := out.String(); !strings.Contains(got, "/foos/a/status  200  (2 times)") ||
		!strings.Contains(got, "and to read: 2 get") || strings.Contains(got, "conflict") {
		t.Errorf("it says %s", got)
	}
	write.Code = 409
	d.showRequests([]audit.Request{write})
	if !strings.Contains(out.String(), "409 is a conflict") {
		t.Errorf("a conflict isn't explained: %s", out.String())
	}
}
