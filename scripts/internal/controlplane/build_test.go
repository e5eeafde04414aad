package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// goThatBuilds answers like go, and "builds" whatever it is asked for after saying a package's name.
const goThatBuilds = `
case "$1 $2" in
"mod edit") echo '{"Require":[{"Path":"k8s.io/kubernetes","Version":"v1.36.3"}]}'; exit ;;
"env GOCACHE") echo "${TMPDIR:-/tmp}"; exit ;;
esac
echo some/package >&2
for last; do :; done
case $last in *"$FAIL_AT") echo "$FAIL_WITH" >&2; exit 1 ;; esac
while [ "$1" != -o ]; do shift; done
echo program > "$2"
`

func TestBuildGoesOnWhereItFailed(t *testing.T) {
	fakeGo(t, goThatBuilds)
	b := built(t)
	for _, c := range Components()[3:] {
		remove(t, b.stampFile(c))
	}
	t.Setenv("FAIL_AT", "cmd/kwok")
	t.Setenv("FAIL_WITH", "write /x: no space left on device")

	err := b.Build(t.Context(), func(Progress) {})
	var p *problem.Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, "building kwok failed, since the disk is full") || p.Log != b.Log {
		t.Fatalf("got %v", err)
	}
	if log, err := os.ReadFile(b.Log); err != nil || !strings.Contains(string(log), "no space left") {
		t.Errorf("log: %q, %v", log, err)
	}
	missing, _ := b.Missing()
	if names := names(missing); !slices.Equal(names, []string{"kwok", "kwokctl"}) {
		t.Fatalf("still missing: %v", names)
	}

	t.Setenv("FAIL_AT", "nothing")
	var finished []string
	if err := b.Build(t.Context(), func(p Progress) {
		if p.Built {
			finished = append(finished, p.Component)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(finished, []string{"kwok", "kwokctl"}) {
		t.Errorf("built: %v", finished)
	}
}

func TestACancelledBuildLeavesNoHalfBinary(t *testing.T) {
	fakeGo(t, strings.Replace(goThatBuilds, "echo program", `trap 'exit 1' INT; echo half > "$2"; while :; do :; done; echo program`, 1))
	b := built(t)
	remove(t, b.binary(Components()[0]))
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Build(ctx, func(p Progress) {
		if p.Packages == 1 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, _ := filepath.Glob(filepath.Join(b.Bin, ".*.new")); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

func TestBuildIsForTheBuildersPlatform(t *testing.T) {
	t.Setenv("FAIL_AT", "nothing")
	t.Setenv("GOOS", "")
	t.Setenv("GOARCH", "")
	tests := map[string]struct {
		platform Platform
		want     string
	}{
		"this machine, if none is named": {Platform{}, "for / without cgo\n"},
		"another one":                    {Platform{"darwin", "arm64"}, "for darwin/arm64 without cgo\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			fakeGo(t, strings.Replace(goThatBuilds, "echo program", `[ "$CGO_ENABLED" = 0 ] && echo "for $GOOS/$GOARCH without cgo"`, 1))
			b := built(t)
			b.Platform = test.platform
			etcd := Components()[0]
			remove(t, b.stampFile(etcd))
			if err := b.Build(t.Context(), func(Progress) {}); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(b.binary(etcd)); err != nil || string(got) != test.want {
				t.Errorf("got %q, want %q (%v)", got, test.want, err)
			}
		})
	}
}

func names(components []Component) (names []string) {
	for _, c := range components {
		names = append(names, c.Name)
	}
	return names
}
