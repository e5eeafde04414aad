// Package project tests the files that aren't Go code: generated files, the Makefile, and the
// optional parts of config. The tests need make and bash, but no cluster and no network. -short
// skips the ones that run generators, which take some seconds.
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

	"example.com/operators/06-kubebuilder/test/utils"
)

const typesFile = "api/v1alpha1/foo_types.go"

// Generated files are what the generators make of the code, and who forgets to run them is signals.
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

// The checks above can fail: after a change of a type and two markers, make changes the files that
// are generated from them, and no others.
func TestChangesAreDetected(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate")
	change(t, clone, typesFile, "type FooSpec struct {", "type FooSpec struct {\n\t// +optional\n\tColours []string `json:\"colours,omitempty\"`")
	change(t, clone, "internal/controller/foo_controller.go", "resources=foos/finalizers,verbs=update", "resources=foos/finalizers,verbs=patch")
	change(t, clone, "internal/webhook/v1alpha1/foo_webhook.go", "path=/validate-samplecontroller-k8s-io-v1alpha1-foo", "path=/another")
	before := filesIn(t, clone)

	run(t, clone, "make", "build-installer")

	after := filesIn(t, clone)
	for file, want := range map[string][]string{
		"api/v1alpha1/applyconfiguration/api/v1alpha1/foospec.go": {") WithColours("},
		"api/v1alpha1/zz_generated.deepcopy.go":                   {"in.Colours"},
		"config/crd/bases/samplecontroller.k8s.io_foos.yaml":      {"colours:"},
		"config/rbac/role.yaml":                                   {"- foos/finalizers\n  - foos/status\n"},
		"config/webhook/manifests.yaml":                           {"path: /another"},
		"dist/install.yaml":                                       {"colours:", "- foos/finalizers\n  - foos/status\n", "path: /another"},
	} {
		for _, want := range want {
			if strings.Contains(before[file], want) || !strings.Contains(after[file], want) {
				t.Errorf("%s doesn't have the change: want %q", file, want)
			}
		}
		delete(before, file)
		delete(after, file)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("other files have changed (-before +after):\n%s", diff)
	}
}

// skipWithAddedKinds skips a test of dist if the kubebuilder CLI has added a kind, because dist
// only needs it for a release.
func skipWithAddedKinds(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectDir(t), "PROJECT"))
	must(t, err)
	if strings.Count(string(text), "\n  kind: ") > strings.Count(string(text), "\n  kind: Foo\n") {
		t.Skip("PROJECT has new kinds, which dist only needs for a release: make build-installer adds them")
	}
}

// cloneProject returns a copy of the project without the exercises, which learners change, and
// without files that aren't committed.
func cloneProject(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("this takes some seconds, and -short is set")
	}
	dir = filepath.Join(t.TempDir(), "my clones", "foo operator") // users' folders may have blanks in their names
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
