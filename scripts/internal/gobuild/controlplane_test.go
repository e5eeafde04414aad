package gobuild

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// goThatBuilds answers like go: it prints a package's name and "builds" the program that it is asked
// for.
const goThatBuilds = `#!/bin/sh
[ "$1 $2" != "list -m" ] || { echo v1.37.2; exit; }
echo some/package >&2
[ -z "$FAILS_WITH" ] || { echo "$FAILS_WITH" >&2; exit 1; }
[ -z "$HANGS" ] || { trap 'exit 1' INT; while :; do :; done; }
while [ "$1" != -o ]; do shift; done
echo "cgo $CGO_ENABLED" > "$2"
`

// withFakeGo returns a control plane that isn't built yet, and puts that script in go's place.
func withFakeGo(t *testing.T) *ControlPlane {
	t.Helper()
	dir := testkit.Write(t, t.TempDir(), map[string]string{"go": goThatBuilds})
	if err := os.Chmod(filepath.Join(dir, "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	root := testkit.Write(t, t.TempDir(), map[string]string{
		"scripts/controlplane/go.mod":  "module a\nrequire k8s.io/kubernetes v1.37.2\n",
		"scripts/controlplane/main.go": "package main\n",
	})
	return NewControlPlane(root)
}

func (c *ControlPlane) mustBe(t *testing.T, built bool) {
	t.Helper()
	if is, err := c.IsBuilt(); is != built || err != nil {
		t.Errorf("it is built: %v, error %v", is, err)
	}
}

func TestBuildContinuesAfterAFailure(t *testing.T) {
	c := withFakeGo(t)
	t.Setenv("FAILS_WITH", "write /x: no space left on device")
	err := c.Build(t.Context(), nil, nil)
	var p *problem.Problem
	if want := "building the control plane failed, since the disk is full"; !errors.As(err, &p) || p.What != want {
		t.Fatalf("got %v, want %q", err, want)
	}
	c.mustBe(t, false)

	t.Setenv("FAILS_WITH", "")
	if err := c.Build(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	c.mustBe(t, true)
	for _, name := range append(links(), ControlPlaneFile) { // links must lead somewhere
		if got, err := os.ReadFile(filepath.Join(c.Bin, name)); err != nil || string(got) != "cgo 0\n" {
			t.Errorf("%s is %q, error %v", name, got, err)
		}
	}
}

func TestACancelledBuildLeavesNothingBehind(t *testing.T) {
	c := withFakeGo(t)
	t.Setenv("HANGS", "yes")
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Build(ctx, nil, func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(c.Bin); err != nil || len(left) > 0 {
		t.Errorf("left: %v, error %v", left, err)
	}
}

func TestWhatHasToBeBuiltAgain(t *testing.T) {
	for sentence, change := range map[string]struct{ file, content string }{
		"go.mod has another version": {"go.mod", "module a\nrequire k8s.io/kubernetes v1.37.3\n"},
		"main.go has changed":        {"main.go", "package main // changed\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := withFakeGo(t)
			if err := c.Build(t.Context(), nil, nil); err != nil {
				t.Fatal(err)
			}
			testkit.Write(t, c.Module, map[string]string{change.file: change.content})
			c.mustBe(t, false)
		})
	}
}
