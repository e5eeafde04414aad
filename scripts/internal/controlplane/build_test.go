package controlplane

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// goThatBuilds answers like go: it says a package's name and "builds" each package that it is asked
// for, but the one that fails.
const goThatBuilds = `
case "$1 $2" in
"env GOCACHE") echo "${TMPDIR:-/tmp}"; exit ;;
esac
echo some/package >&2
while [ "$1" != -o ]; do shift; done
dir=$2
shift 2
status=0
for package; do
	echo "$package" >&2
	case $package in
	*"$FAIL_AT") echo "$FAIL_WITH" >&2; status=1 ;;
	*/server/v3) echo program > "$dir/server" ;;
	*) echo program > "$dir/${package##*/}" ;;
	esac
done
exit $status
`

func TestBuildContinuesAfterAFailure(t *testing.T) {
	fakeGo(t, goThatBuilds)
	b := built(t)
	for _, c := range Components() {
		remove(t, b.stampFile(c))
	}
	t.Setenv("FAIL_AT", "cmd/kwok")
	t.Setenv("FAIL_WITH", "write /x: no space left on device")

	err := b.Build(t.Context(), func(Progress) {})
	var p *problem.Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, "building the control plane failed, since the disk is full") || p.Log != b.Log {
		t.Fatalf("got %v", err)
	}
	if log, err := os.ReadFile(b.Log); err != nil || !strings.Contains(string(log), "no space left") {
		t.Errorf("log: %q, %v", log, err)
	}
	missing, _ := b.Missing()
	if names := names(missing); !slices.Equal(names, []string{"kwok"}) {
		t.Fatalf("still missing: %v", names)
	}

	t.Setenv("FAIL_AT", "nothing")
	var last Progress
	if err := b.Build(t.Context(), func(p Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	if last.Packages != 2 || last.Of != 1 {
		t.Errorf("the last progress was %+v", last)
	}
	if missing, err := b.Missing(); err != nil || len(missing) > 0 {
		t.Errorf("still missing: %v, %v", missing, err)
	}
}

func TestACancelledBuildKeepsFinishedPrograms(t *testing.T) {
	const hang = "*/kwok) trap 'exit 1' INT; while :; do :; done ;;\n\t*/server/v3)"
	fakeGo(t, strings.Replace(goThatBuilds, "*/server/v3)", hang, 1))
	t.Setenv("FAIL_AT", "nothing")
	b := built(t)
	for _, name := range []string{"etcd", "kwok"} {
		remove(t, filepath.Join(b.Bin, name))
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Build(ctx, func(p Progress) {
		if strings.HasSuffix(p.Package, "/kwok") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	missing, err := b.Missing()
	if names := names(missing); err != nil || !slices.Equal(names, []string{"kwok"}) {
		t.Errorf("still missing: %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(b.Bin, ".new")); !os.IsNotExist(err) {
		t.Errorf("the temporary folder: %v", err)
	}
}

func TestProgress(t *testing.T) {
	packages := gobuild.Progress{Packages: 1200, Modules: 300}
	for want, p := range map[string]Progress{
		"waiting for workshop up":                       {Waiting: "workshop up"},
		"300 modules fetched":                           {Progress: gobuild.Progress{Modules: 300}, Of: 7},
		"1200 packages compiled":                        {Progress: packages, Of: 7},
		"1200 packages compiled, 1 of 7 programs built": {Progress: packages, Built: 1, Of: 7},
		"1200 packages compiled, 1 of 7 programs built, linking kubectl, kwok": {Progress: packages, Built: 1, Of: 7, Linking: []string{"kubectl", "kwok"}},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
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
