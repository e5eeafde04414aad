package pack

// Archives of a small repository, with the real git and a fake go.

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// committed is what is in the tests' repository.
var committed = map[string]string{
	".gitignore":                   "/.workshop/\n",
	"go.work":                      "go 1.26.0\n\nuse (\n\t./01-first\n\t./scripts\n)\n",
	"go.work.sum":                  "as committed\n",
	"01-first/go.mod":              "module a\n\ngo 1.26.0\n\nrequire k8s.io/code-generator v0.37.2\n",
	"01-first/main.go":             "package main\n",
	"scripts/go.mod":               "module b\n\ngo 1.26.0\n",
	"scripts/controlplane/go.mod":  "module c\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v1.37.2\n",
	"scripts/controlplane/main.go": "package main\n",
}

// fakeGo fills caches and builds programs like go. FAIL in the environment is a command that fails.
const fakeGo = `#!/bin/sh
echo "$PWD: GOWORK=$GOWORK $*" >> "$CALLS"
case "$*" in *"$FAIL"*) echo "go: a@v1.0.0: Get \"https://modules.example.com\": dial tcp: no such host" >&2; exit 1 ;; esac
put() { mkdir -p "$(dirname "$1")" && echo "$2" > "$1"; }
case "$*" in
"env GOVERSION") echo go1.26.8 ;;
"env GOCACHE") echo /tmp ;;
"env GOMODCACHE GOPROXY") echo "/a cache"; echo https://modules.example.com ;;
*golang.org/toolchain@v0.0.1-go1.26.8.darwin-arm64)
	put "$GOMODCACHE/go/bin/go" go
	put "$GOMODCACHE/go/pkg/tool/compile" compiler
	put "$GOMODCACHE/go/src/_go.mod" "module std"
	put "$GOMODCACHE/go/src/from" "$GOPROXY"
	echo "{\"Dir\": \"$GOMODCACHE/go\"}" ;;
"mod download")
	put "$GOMODCACHE/cache/download/example.com/library/@v/v1.0.0.zip" library
	put "$GOMODCACHE/cache/download/golang.org/toolchain/@v/v0.0.1-go1.26.9.linux-amd64.zip" "the go command's own" ;;
"list -m "*) echo "$PWD" ;;
"list -e "*) echo "and more" >> go.work.sum ;;
build*)
	while [ "$1" != -o ]; do shift; done
	put "$2" "a program for $GOOS/$GOARCH" && chmod +x "$2" ;;
esac
`

// newOptions returns a repository to pack for macOS, and the file in which go's calls are noted.
func newOptions(t *testing.T) (o Options, calls string) {
	t.Helper()
	dir := testkit.Write(t, t.TempDir(), map[string]string{"bin/go": fakeGo, "calls": ""})
	if err := os.Chmod(filepath.Join(dir, "bin", "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	root := testkit.Write(t, filepath.Join(dir, "a repository"), committed)
	runGit(t, root, "init", "--quiet", "--template=")
	runGit(t, root, "add", "--all")
	runGit(t, root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=a")
	calls = filepath.Join(dir, "calls")
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", calls)
	t.Setenv("FAIL", "nothing")
	return Options{Root: root, OS: "darwin", Arch: "arm64", UI: ui.New(os.Stderr)}, calls
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	output, err := process.Git(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(output)
}

func TestAnArchive(t *testing.T) {
	o, calls := newOptions(t)
	testkit.Write(t, o.Root, map[string]string{"01-first/main.go": "package learner\n", "notes.txt": ""})

	path, err := Pack(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	unpacked, executable := unpack(t, path)
	t.Run("it has the repository as committed, the programs, Go and the modules", func(t *testing.T) {
		const program = "a program for darwin/arm64\n"
		want := maps.Clone(committed)
		maps.Copy(want, map[string]string{
			".workshop/packed":                                  "",
			".workshop/bin/workshop":                            program,
			".workshop/bin/controlplane":                        program,
			".workshop/bin/kubectl":                             program, // a link
			".workshop/go/bin/go":                               "go\n",
			".workshop/go/pkg/tool/compile":                     "compiler\n",
			".workshop/go/src/go.mod":                           "module std\n",
			".workshop/go/src/from":                             "file:///a%20cache/cache/download,https://modules.example.com\n",
			".workshop/proxy/example.com/library/@v/v1.0.0.zip": "library\n",
		})
		for name, content := range want {
			if got, err := os.ReadFile(filepath.Join(unpacked, name)); err != nil || string(got) != content {
				t.Errorf("%s is %q, error %v, want %q", name, got, err, content)
			}
		}
		for _, name := range []string{".workshop/proxy/golang.org/toolchain", "notes.txt"} {
			if _, err := os.Stat(filepath.Join(unpacked, name)); err == nil {
				t.Errorf("it has %s", name)
			}
		}
	})
	t.Run("only programs are executable", func(t *testing.T) {
		want := []string{".workshop/bin/controlplane", ".workshop/bin/workshop", ".workshop/go/bin/go", ".workshop/go/pkg/tool/compile"}
		if diff := cmp.Diff(want, executable); diff != "" {
			t.Errorf("executable (-want +got):\n%s", diff)
		}
	})
	t.Run("it is a git repository without changes, and without a remote", func(t *testing.T) {
		if got := runGit(t, unpacked, "status", "--porcelain") + runGit(t, unpacked, "remote"); got != "" {
			t.Errorf("got:\n%s", got)
		}
	})
	t.Run("modules are fetched for each module, the workspace and the generators", func(t *testing.T) {
		noted, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		source := filepath.Join(o.Root, ".workshop", "pack", "new", "operators")
		for _, want := range []string{
			source + "/01-first: GOWORK=off mod download",
			source + "/01-first: GOWORK=off mod graph",
			source + "/01-first: GOWORK=off list -deps ./cmd/... k8s.io/kube-openapi/cmd/openapi-gen",
			source + "/scripts: GOWORK=off mod download",
			source + ": GOWORK=" + source + "/go.work list -e -deps -test -tags=check,e2e ./01-first/... ./scripts/...",
		} {
			if !strings.Contains(string(noted), want+"\n") {
				t.Errorf("%q isn't in:\n%s", want, noted)
			}
		}
	})
}

func TestAModuleThatCantBeFetched(t *testing.T) {
	o, _ := newOptions(t)
	t.Setenv("FAIL", "mod graph")
	_, err := Pack(t.Context(), o)
	var p *problem.Problem
	if !errors.As(err, &p) || !strings.Contains(p.What, "the Go modules couldn't be downloaded") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(o.Root, ".workshop", "pack")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, error %v", left, err)
	}
}

// unpack unpacks an archive, and returns the repository and the executable files in it.
func unpack(t *testing.T, path string) (root string, executable []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(executable)
			return filepath.Join(dir, "operators"), executable
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil || header.Uid != 0 || header.Uname != "" {
			t.Fatalf("%s: owner %d %q, error %v", header.Name, header.Uid, header.Uname, err)
		}
		name := filepath.Join(dir, header.Name)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(name, 0o700)
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, name)
		default:
			err = os.WriteFile(name, content, header.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg && header.Mode&0o111 != 0 {
			executable = append(executable, strings.TrimPrefix(header.Name, "operators/"))
		}
	}
}
