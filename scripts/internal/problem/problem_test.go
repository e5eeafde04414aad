package problem

import (
	"errors"
	"fmt"
	"testing"
)

func TestFormat(t *testing.T) {
	for want, err := range map[string]error{
		"no": errors.New("no"),
		"up: port 1 is taken: x\n  what to do: end it\n  log: /x.log": fmt.Errorf("up: %w",
			New("port %d is taken", 1).ToDo("end it").SeeLog("/x.log").Because(errors.New("x"))),
	} {
		if got := Format(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCause(t *testing.T) {
	for output, want := range map[string]string{
		"link: mapping output file failed: no space left on device":               "the disk is full",
		`go: k8s.io/api@v0.36.3: Get "https://modules.example.com": no such host`: "the Go modules couldn't be downloaded",
		"go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)": "this Go is too old",
		"k8s.io/kubernetes/pkg/generated/openapi: compile: signal: killed":        "the machine ran out of memory",
		"open /home/me/.cache/go-build/00/x: permission denied":                   "a file can't be read or written",
		"write: no space left on device; dial tcp 1.2.3.4: connection refused":    "the disk is full", // it causes others

		"go: sigs.k8s.io/kwok: module lookup disabled": "the Go modules couldn't be downloaded",
		"./x.go:1:1: syntax error":                     "",
	} {
		p := New("it failed")
		known := p.Explain(OfGo(), output)
		if known != (want != "") || known != (p.Fix != "") || known && p.What != "it failed, since "+want {
			t.Errorf("%q: got %q (fix %q), want %q", output, p.What, p.Fix, want)
		}
	}
}
