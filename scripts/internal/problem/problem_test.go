package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

func TestFormat(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"a plain error is one line": {
			errors.New("no"), "no",
		},
		"a problem shows its fix and log, wrapped or not": {
			fmt.Errorf("up: %w", &Problem{What: "port 1 is taken", Fix: "end it", Log: "/x.log"}),
			"up: port 1 is taken\n  what to do: end it\n  log: /x.log",
		},
		"an error of the operating system has a fix": {
			&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS},
			"mkdir /x: read-only file system\n  what to do: copy the repository to a folder that you can write to",
		},
		"an error of the operating system isn't explained as go's": {
			&fs.PathError{Op: "open", Path: "/w/.workshop/proxy/x", Err: syscall.EACCES},
			"open /w/.workshop/proxy/x: permission denied\n  what to do: check who owns this folder and Go's caches (did you run this as root before?)",
		},
		"the cause is shown": {
			&Problem{What: "a", Err: errors.New("b")}, "a: b",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Format(test.err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCause(t *testing.T) {
	tests := map[string]string{
		"link: mapping output file failed: no space left on device":                                                                               "the disk is full",
		`go: k8s.io/api@v0.36.3: Get "https://modules.example.com/k8s.io/api/@v/v0.36.3.mod": dial tcp: lookup modules.example.com: no such host`: "the Go modules couldn't be downloaded",
		"go: sigs.k8s.io/kwok@v0.8.0: module lookup disabled by GOPROXY=off":                                                                      "Go isn't allowed to download modules (GOPROXY=off)",
		"go: github.com/a/b@v1.2.3: reading file:///w/.workshop/proxy/github.com/a/b/@v/v1.2.3.mod: no such file":                                 "the archive that this folder came from lacks a module that is needed",
		"go: go.mod requires go >= 1.26.0 (running go 1.24.1; GOTOOLCHAIN=local)":                                                                 "this Go is too old",
		"go: download go1.26.0 for linux/amd64: toolchain not available":                                                                          "this Go is too old",
		"invalid go version '1.26.0': must match format 1.23":                                                                                     "this Go is too old",
		"k8s.io/kubernetes/pkg/generated/openapi: compile: signal: killed":                                                                        "the machine ran out of memory",
		"mkdir /w/.workshop: read-only file system":                                                                                               "a folder that must be written to is read-only",
		"open /home/me/.cache/go-build/00/x: permission denied":                                                                                   "a file can't be read or written",
		"write: no space left on device; dial tcp 1.2.3.4: connect: connection refused":                                                           "the disk is full",
		"./x.go:1:1: syntax error": "",
	}
	for output, want := range tests {
		if got, known := Find(OfGo(), output); got.What != want || known != (want != "") || known != (got.Fix != "") {
			t.Errorf("%q: got %q (fix %q), want %q", output, got.What, got.Fix, want)
		}
	}
}
