package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
)

// fakeGo puts a shell script in go's place, for the time of the test.
func fakeGo(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// goThatBuilds answers like go: it prints a package's name and "builds" the program that it is asked
// for. The file has the platform.
const goThatBuilds = `
case "$1 $2" in
"env GOCACHE") echo "${TMPDIR:-/tmp}"; exit ;;
esac
echo some/package >&2
[ -z "$FAILS_WITH" ] || { echo "$FAILS_WITH" >&2; exit 1; }
[ -z "$HANGS" ] || { trap 'exit 1' INT; while :; do :; done; }
while [ "$1" != -o ]; do shift; done
echo "for $GOOS/$GOARCH, cgo $CGO_ENABLED" > "$2"
`

func nobody(string) {}

func TestBuildContinuesAfterAFailure(t *testing.T) {
	fakeGo(t, goThatBuilds)
	b := built(t)
	remove(t, b.stampFile(ControlPlane))
	t.Setenv("FAILS_WITH", "write /x: no space left on device")

	err := b.Build(t.Context(), ControlPlane, nobody, func(gobuild.Progress) {})
	var p *problem.Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, "building the control plane failed, since the disk is full") || p.Log != b.Log {
		t.Fatalf("got %v", err)
	}
	if log, err := os.ReadFile(b.Log); err != nil || !strings.Contains(string(log), "no space left") {
		t.Errorf("log: %q, %v", log, err)
	}
	if is, err := b.IsBuilt(ControlPlane); is || err != nil {
		t.Fatalf("after a failure it is built: %v, %v", is, err)
	}

	t.Setenv("FAILS_WITH", "")
	packages := 0
	if err := b.Build(t.Context(), ControlPlane, nobody, func(p gobuild.Progress) { packages = p.Packages }); err != nil {
		t.Fatal(err)
	}
	if is, err := b.IsBuilt(ControlPlane); !is || err != nil || packages != 1 {
		t.Errorf("it is built: %v, %v; %d packages", is, err, packages)
	}
	for _, name := range Files() {
		if _, err := os.Stat(filepath.Join(b.Bin, name)); err != nil { // links must lead somewhere
			t.Error(err)
		}
	}
}

func TestACancelledBuildLeavesNothingBehind(t *testing.T) {
	fakeGo(t, goThatBuilds)
	t.Setenv("HANGS", "yes")
	b := built(t)
	remove(t, b.binary(ControlPlane))
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Build(ctx, ControlPlane, nobody, func(gobuild.Progress) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if is, err := b.IsBuilt(ControlPlane); is || err != nil {
		t.Errorf("it is built: %v, %v", is, err)
	}
	if _, err := os.Stat(filepath.Join(b.Bin, ".new")); !os.IsNotExist(err) {
		t.Errorf("the temporary folder: %v", err)
	}
}

func TestBuildIsForTheBuildersPlatform(t *testing.T) {
	t.Setenv("GOOS", "")
	t.Setenv("GOARCH", "")
	fakeGo(t, goThatBuilds)
	for want, platform := range map[string]Platform{
		"for /, cgo 0\n":            {}, // this machine
		"for darwin/arm64, cgo 0\n": {"darwin", "arm64"},
	} {
		b := built(t)
		b.Platform = platform
		remove(t, b.stampFile(Kubectl))
		if err := b.Build(t.Context(), Kubectl, nobody, func(gobuild.Progress) {}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(b.binary(Kubectl)); err != nil || string(got) != want {
			t.Errorf("got %q, want %q (%v)", got, want, err)
		}
	}
}
