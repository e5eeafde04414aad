// Package project has the tests of what is no Go code: the files that make generates, the Makefile,
// and what config has to offer beside what is installed. They need make and bash, and neither a
// cluster nor the network. Those that run generators take some seconds: -short leaves them out.
package project

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/operators/07-tdset-operator/test/utils"
)

// Generated files are what the generators make of the code, and if you forget to run them, this
// test tells you.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	before := filesIn(t, clone)

	run(t, clone, "make", "manifests", "generate")

	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
		t.Errorf("generated files are out of date: run make manifests generate (-old +new):\n%s", diff)
	}
}

// dist has the manifests that users install.
func TestDistIsUpToDate(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	skipWithAddedKinds(t)
	before := filesIn(t, clone)

	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate")

	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
		t.Errorf("dist is out of date: run make build-installer (-old +new):\n%s", diff)
	}
}

// skipWithAddedKinds skips a test of dist if the kubebuilder CLI has added a kind, because dist
// only needs it for a release. The chart's templates are written by hand, so they need an addition
// for each new kind.
func skipWithAddedKinds(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectDir(t), "PROJECT"))
	must(t, err)
	if strings.Count(string(text), "\n  kind: ") > strings.Count(string(text), "\n  kind: TDSet\n") {
		t.Skip("PROJECT has new kinds, which dist only needs for a release: make build-installer adds them to dist/install.yaml, and the chart needs templates for them")
	}
}

// cloneProject returns a copy of the project without the exercises, which learners change, and
// without files that aren't committed.
func cloneProject(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("this takes some seconds, and -short is set")
	}
	dir = filepath.Join(t.TempDir(), "my clones", "tdset operator") // users' folders may have blanks in their names
	must(t, os.CopyFS(dir, os.DirFS(projectDir(t))))
	for _, name := range []string{"exercises", "bin", "cover.out"} {
		must(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	return dir
}

// change replaces the first occurrence of a text in a file.
func change(t *testing.T, dir, file, old, new string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(file))
	text, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o666))
}

// run runs a command in dir, and returns its standard output. Its tools are in go.mod, so they have
// been downloaded already.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	return runWith(t, dir, "", name, args...)
}

// runWith is run with a text for the command's standard input.
func runWith(t *testing.T, dir, input, name string, args ...string) string {
	t.Helper()
	output, err := tryRun(t, dir, input, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// tryRun is runWith for a command that may fail.
func tryRun(t *testing.T, dir, input, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	// Ignore an image that is set in the terminal, or in the make that has started this test. The race
	// detector needs cgo. The tools don't, and with cgo, Go would compile their libraries once more.
	environment := slices.DeleteFunc(command.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "IMG=") })
	command.Env = append(environment, "CGO_ENABLED=0", "GOWORK=off", "GOPROXY=off", "MAKEFLAGS=", "MAKELEVEL=")
	command.Stdin = strings.NewReader(input)
	var printed strings.Builder
	command.Stderr = &printed
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(command.Args, " "), err, output, printed.String())
	}
	return string(output), nil
}

// filesIn returns the contents of the files in dir, by name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := os.DirFS(dir)
	must(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		files[name] = string(text)
		return err
	}))
	return files
}

func projectDir(t *testing.T) string {
	t.Helper()
	dir, err := utils.ProjectDir()
	must(t, err)
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
