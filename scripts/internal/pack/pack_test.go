package pack

// Archives of a small repository, with the real git and a fake go.

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// repository is what is committed in the tests' repository.
var repository = map[string]string{
	".gitignore":                  "/.workshop/\n",
	"go.work":                     "go 1.26.0\n\nuse (\n\t./01-first\n\t./scripts\n)\n",
	"go.work.sum":                 "as committed\n",
	"01-first/go.mod":             "module example.com/operators/01-first\n\ngo 1.26.0\n",
	"01-first/main.go":            "package main\n",
	"scripts/go.mod":              "module example.com/operators/scripts\n\ngo 1.26.0\n",
	"scripts/controlplane/go.mod": "module example.com/operators/scripts/controlplane\n\ngo 1.26.0\n",
	"scripts/workshop":            "#!/bin/sh\n",
}

// machO is the head of a program for darwin/arm64.
const machO = "\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// fakeGo fills caches like go. FAIL in the environment is a command that fails, as in `mod
// download` or "list".
const fakeGo = `#!/bin/sh
echo "$PWD: GOWORK=$GOWORK $*" >> "$CALLS"
case "$*" in *"$FAIL"*) echo "go: $FAIL@v1.0.0: Get \"https://modules.example.com\": dial tcp: no such host" >&2; exit 1 ;; esac
put() { mkdir -p "$(dirname "$1")" && echo "$2" > "$1"; }
program() { put "$1" "" && cat "$MACHO" > "$1" && echo "$2" >> "$1"; }
case "$*" in
"env GOVERSION") echo go1.26.8 ;;
"env -json GOMODCACHE GOPROXY") echo '{"GOMODCACHE": "/a cache", "GOPROXY": "https://modules.example.com"}' ;;
*golang.org/toolchain@v0.0.1-go1.26.8.darwin-arm64)
	dir=$GOMODCACHE/golang.org/toolchain
	program "$dir/bin/go" go
	program "$dir/pkg/tool/darwin_arm64/compile" compiler
	put "$dir/src/_go.mod" "module std"
	put "$dir/src/from" "$GOPROXY"
	echo "{\"Dir\": \"$dir\"}" ;;
"mod download")
	put "$GOMODCACHE/cache/download/example.com/library/@v/v1.0.0.zip" library
	put "$GOMODCACHE/cache/download/example.com/library/@v/v1.0.0.lock" ""
	put "$GOMODCACHE/cache/download/sumdb/sums/latest" 1
	put "$GOMODCACHE/cache/download/golang.org/toolchain/@v/v0.0.1-go1.26.9.linux-amd64.zip" "the go command's own" ;;
"list -m "*) echo "$PWD" ;;
"list -e "*) echo "and more" >> go.work.sum ;;
build*)
	while [ "$1" != -o ]; do shift; done
	program "$2" "the tool for $GOOS/$GOARCH, cgo $CGO_ENABLED" && chmod +x "$2" ;;
esac
`

// world is a machine to pack on.
type world struct {
	Options
	calls string // the file in which go's calls are noted
	said  *os.File
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "a repository")
	for name, content := range repository {
		put(t, filepath.Join(root, name), content)
	}
	if err := os.Chmod(filepath.Join(root, "scripts", "workshop"), 0o755); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "init", "--quiet", "--template=")
	commitAll(t, root)
	goDir := filepath.Join(dir, "bin")
	put(t, filepath.Join(goDir, "go"), fakeGo)
	if err := os.Chmod(filepath.Join(goDir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", goDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", filepath.Join(dir, "calls"))
	t.Setenv("FAIL", "nothing")
	t.Setenv("MACHO", filepath.Join(dir, "macho"))
	put(t, filepath.Join(dir, "macho"), machO)
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = said.Close() })
	return &world{Options{
		Root:     root,
		Platform: controlplane.Platform{OS: "darwin", Arch: "arm64"},
		UI:       ui.New(said),
		Build: func(_ context.Context, b *controlplane.Builder) error {
			program := filepath.Join(b.Bin, "controlplane")
			put(t, program, machO+"controlplane for "+b.Platform.String())
			put(t, filepath.Join(b.Bin, ".controlplane.stamp"), "a stamp")
			for _, name := range controlplane.Links() {
				link := filepath.Join(b.Bin, name)
				if err := errors.Join(os.RemoveAll(link), os.Symlink("controlplane", link)); err != nil {
					return err
				}
			}
			return os.Chmod(program, 0o700)
		},
	}, filepath.Join(dir, "calls"), said}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, output)
	}
	return string(output)
}

func commitAll(t *testing.T, root string) {
	t.Helper()
	runGit(t, root, "add", "--all")
	runGit(t, root, "commit", "--quiet", "--message=a", "--date=2026-01-02T03:04:05Z")
}

// unpack reads an archive: its entries, and what is in its files.
func unpack(t *testing.T, path string) (headers []*tar.Header, contents map[string]string) {
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
	contents = map[string]string{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, header)
		if header.Typeflag == tar.TypeReg {
			contents[header.Name] = string(content)
		}
	}
}

func TestAnArchive(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.Root, "01-first", "main.go"), "package learner\n")
	put(t, filepath.Join(w.Root, "notes.txt"), "")

	result, err := Pack(t.Context(), w.Options)

	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(w.Root, ".workshop", "pack", "operators-darwin-arm64.tar.gz"); result.Path != want {
		t.Errorf("path: %s, want %s", result.Path, want)
	}
	headers, contents := unpack(t, result.Path)
	t.Run("it has the repository as committed, the programs, Go and the modules, and nothing else", func(t *testing.T) {
		want := map[string]string{
			".workshop/packed":                                  "platform darwin/arm64\ngo go1.26.8\ncommit " + strings.TrimSpace(runGit(t, w.Root, "rev-parse", "HEAD")) + "\n",
			".workshop/go/bin/go":                               machO + "go\n",
			".workshop/go/src/from":                             "file:///a%20cache/cache/download,https://modules.example.com\n",
			".workshop/go/pkg/tool/darwin_arm64/compile":        machO + "compiler\n",
			".workshop/go/src/go.mod":                           "module std\n",
			".workshop/proxy/example.com/library/@v/v1.0.0.zip": "library\n",
			".workshop/bin/workshop":                            machO + "the tool for darwin/arm64, cgo 0\n",
		}
		want[".workshop/bin/controlplane"] = machO + "controlplane for darwin/arm64"
		want[".workshop/bin/.controlplane.stamp"] = "a stamp"
		maps.Copy(want, repository)
		got := map[string]string{}
		for name, content := range contents {
			if name = strings.TrimPrefix(name, "operators/"); !strings.HasPrefix(name, ".git/") {
				got[name] = content
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
	t.Run("only programs and scripts are executable", func(t *testing.T) {
		var got []string
		for _, header := range headers {
			if header.Typeflag == tar.TypeReg && header.Mode&0o111 != 0 {
				got = append(got, strings.TrimPrefix(header.Name, "operators/"))
			}
		}
		want := []string{".workshop/bin/workshop", ".workshop/go/bin/go", ".workshop/go/pkg/tool/darwin_arm64/compile", "scripts/workshop"}
		want = append(want, ".workshop/bin/controlplane")
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("executable (-want +got):\n%s", diff)
		}
	})
	t.Run("it is complete, and has no traces of this machine", func(t *testing.T) {
		before := ""
		for _, header := range headers {
			if header.Name <= before {
				t.Errorf("%s comes after %s", header.Name, before)
			}
			before = header.Name
			if header.ModTime != headers[0].ModTime || header.Uid != 0 || header.Gid != 0 || header.Uname != "" {
				t.Errorf("%s: changed %v, owner %d:%d %q", header.Name, header.ModTime, header.Uid, header.Gid, header.Uname)
			}
		}
		for name, content := range contents {
			if strings.Contains(content, filepath.Dir(w.Root)) {
				t.Errorf("%s has this machine's path", name)
			}
		}
	})
	t.Run("it is a git repository without changes", func(t *testing.T) {
		there := t.TempDir()
		if output, err := exec.Command("tar", "-xzf", result.Path, "-C", there).CombinedOutput(); err != nil {
			t.Fatalf("tar: %v\n%s", err, output)
		}
		unpacked := filepath.Join(there, "operators")
		if changes := runGit(t, unpacked, "status", "--porcelain"); changes != "" {
			t.Errorf("changes:\n%s", changes)
		}
		if remotes := runGit(t, unpacked, "remote"); remotes != "" {
			t.Errorf("remotes: %s", remotes)
		}
	})
	t.Run("uncommitted changes are reported", func(t *testing.T) {
		said, err := os.ReadFile(w.said.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"2 changes not committed", " M 01-first/main.go", "?? notes.txt", "MiB, and 1 MiB unpacked"} {
			if !strings.Contains(string(said), want) {
				t.Errorf("%q isn't in:\n%s", want, said)
			}
		}
	})
	t.Run("the next archive is identical", func(t *testing.T) {
		again, err := Pack(t.Context(), w.Options)
		if err != nil {
			t.Fatal(err)
		}
		if again.SHA256 != result.SHA256 {
			next, _ := unpack(t, again.Path)
			t.Errorf("another archive:\n%s", cmp.Diff(headers, next))
		}
	})
}

func TestModulesAreFetchedSeparately(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.Root, "01-first", "go.mod"), "module example.com/operators/01-first\n\ngo 1.26.0\n\nrequire k8s.io/code-generator v0.37.2\n")
	commitAll(t, w.Root)

	if _, err := Pack(t.Context(), w.Options); err != nil {
		t.Fatal(err)
	}

	noted, err := os.ReadFile(w.calls)
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(w.Root, ".workshop", "pack", "source")
	for _, want := range []string{
		source + "/01-first: GOWORK=off mod download",
		source + "/01-first: GOWORK=off mod graph",
		source + "/01-first: GOWORK=off list -m -f {{.Dir}} k8s.io/code-generator",
		source + "/01-first: GOWORK=off list -deps ./cmd/... k8s.io/kube-openapi/cmd/openapi-gen",
		source + "/scripts: GOWORK=off mod download",
		source + ": GOWORK=" + source + "/go.work list -e -deps -test -tags=check,e2e ./01-first/... ./scripts/...",
	} {
		if !strings.Contains(string(noted), want+"\n") {
			t.Errorf("%q isn't in:\n%s", want, noted)
		}
	}
	if strings.Contains(string(noted), "scripts/controlplane: GOWORK=off mod download") {
		t.Error("the control plane's modules were fetched: its programs are in the archive")
	}
}

func TestAProgramIsForItsPlatformOnly(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range platforms {
		err := checkProgram(self, platform)
		if here := platform == (controlplane.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}); here != (err == nil) {
			t.Errorf("%s: %v", platform, err)
		}
	}
}

func TestPackErrors(t *testing.T) {
	tests := map[string]struct {
		change    func(t *testing.T, w *world)
		what, fix string
	}{
		"a platform that isn't known": {
			func(_ *testing.T, w *world) { w.Platform = controlplane.Platform{OS: "plan9", Arch: "amd64"} },
			"there is no archive for plan9/amd64", "--os linux --arch arm64",
		},
		"Windows": {
			func(_ *testing.T, w *world) { w.Platform = controlplane.Platform{OS: "windows", Arch: "amd64"} },
			"there is no archive for windows/amd64", "for WSL2 take --os linux",
		},
		"a folder for the archive that isn't there": {
			func(_ *testing.T, w *world) { w.Output = "/not there/x.tar.gz" },
			"there is no folder /not there", "create it first",
		},
		"a Go for the platform that can't be fetched": {
			func(t *testing.T, _ *world) { t.Setenv("FAIL", "golang.org/toolchain") },
			"golang.org/toolchain@v0.0.1-go1.26.8.darwin-arm64 can't be fetched, since the Go modules couldn't be downloaded", "check the network",
		},
		"a module that can't be fetched": {
			func(t *testing.T, _ *world) { t.Setenv("FAIL", "mod graph") },
			"the modules of 01-first can't be fetched, since the Go modules couldn't be downloaded", "check the network",
		},
		"a program that doesn't build": {
			func(_ *testing.T, w *world) {
				w.Build = func(context.Context, *controlplane.Builder) error {
					return &problem.Problem{What: "building the control plane for darwin/arm64 failed", Fix: "see the log"}
				}
			},
			"building the control plane for darwin/arm64 failed", "see the log",
		},
		"a program for another platform": {
			func(_ *testing.T, w *world) {
				build := w.Build
				w.Build = func(ctx context.Context, b *controlplane.Builder) error {
					return errors.Join(build(ctx, b), os.WriteFile(filepath.Join(b.Bin, "controlplane"), []byte(strings.Replace(machO, "\x0c", "\x07", 1)), 0o700))
				}
			},
			"controlplane isn't a program for darwin/arm64: it is for another processor", "pack again",
		},
		"a program that isn't a program": {
			func(_ *testing.T, w *world) {
				build := w.Build
				w.Build = func(ctx context.Context, b *controlplane.Builder) error {
					return errors.Join(build(ctx, b), os.WriteFile(filepath.Join(b.Bin, "controlplane"), []byte("\x7fELF"), 0o700))
				}
			},
			"controlplane isn't a program for darwin/arm64: ", "pack again",
		},
		"a program that wasn't built": {
			func(_ *testing.T, w *world) {
				w.Build = func(context.Context, *controlplane.Builder) error { return nil }
			},
			"etcd for darwin/arm64: lstat", "",
		},
		"a folder in another repository": {
			func(t *testing.T, w *world) {
				if err := os.RemoveAll(filepath.Join(w.Root, ".git")); err != nil {
					t.Fatal(err)
				}
				runGit(t, filepath.Dir(w.Root), "init", "--quiet")
			},
			"isn't a git repository of its own", "clone the course's repository",
		},
		"a folder that isn't in git": {
			func(t *testing.T, w *world) {
				t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(w.Root))
				if err := os.RemoveAll(filepath.Join(w.Root, ".git")); err != nil {
					t.Fatal(err)
				}
			},
			"git can't tell what is committed: fatal: not a git repository", "a fresh clone",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.change(t, w)

			_, err := Pack(t.Context(), w.Options)

			if err == nil {
				t.Fatal("got no error")
			}
			if said := problem.Format(err); !strings.Contains(said, test.what) || !strings.Contains(said, test.fix) {
				t.Errorf("got %q, want %q and %q", said, test.what, test.fix)
			}
			if left := archives(t, filepath.Join(w.Root, ".workshop", "pack")); len(left) > 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

func TestAnUnfinishedArchiveHasATemporaryName(t *testing.T) {
	tests := map[string]struct {
		write func(ctx context.Context, p *packer, output string) error
		want  error
	}{
		"interrupted by its user": {
			func(ctx context.Context, p *packer, output string) error {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				_, err := p.write(ctx, output)
				return err
			}, context.Canceled,
		},
		"interrupted by a file that is missing": {
			func(ctx context.Context, p *packer, output string) error {
				p.entries = append(p.entries, entry{tar.Header{Name: "operators/z", Typeflag: tar.TypeReg}, "/not there"})
				_, err := p.write(ctx, output)
				return err
			}, fs.ErrNotExist,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			said, err := os.Create(filepath.Join(t.TempDir(), "said"))
			if err != nil {
				t.Fatal(err)
			}
			defer said.Close()
			p := &packer{Options: Options{UI: ui.New(said)}}
			output := filepath.Join(dir, "x.tar.gz")
			put(t, output, "the one before")

			if err := p.add("a", output); err != nil {
				t.Fatal(err)
			}

			err = test.write(t.Context(), p, output)

			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if left := archives(t, dir); !slices.Equal(left, []string{"x.tar.gz"}) {
				t.Errorf("files are left: %v", left)
			}
			if content, _ := os.ReadFile(output); string(content) != "the one before" {
				t.Errorf("the archive that was there has become %q", content)
			}
		})
	}
}

// archives are the names of archives, and of parts of them, in a folder.
func archives(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".gz") || strings.HasSuffix(e.Name(), ".partial") {
			names = append(names, e.Name())
		}
	}
	return names
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsReported(t *testing.T) {
	err := writeArchive(t.Context(), full{}, []entry{{Header: tar.Header{Name: "a", Typeflag: tar.TypeDir}}}, time.Unix(1, 0), func(int64) {})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("target", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := &packer{}
	if err := p.add("", dir); err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := writeArchive(t.Context(), &written, p.entries, time.Unix(1, 0), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.tar.gz")
	if err := os.WriteFile(file, written.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if headers, _ := unpack(t, file); len(headers) != 1 || headers[0].Linkname != "target" {
		t.Errorf("got %+v", headers)
	}
}
