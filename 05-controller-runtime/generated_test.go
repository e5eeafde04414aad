// The generated code is what the generators make of the types, and who forgets to run them is told. This takes some seconds: -short
// leaves it out.

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const typesFile = "pkg/apis/samplecontroller/v1alpha1/types.go"

func TestGeneratedCodeIsUpToDate(t *testing.T) {
	t.Parallel()
	clone := cloneChapter(t)
	before := filesIn(t, clone)

	generate(t, clone)

	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
		t.Errorf("run go generate ./... in this folder. What it would change (-is +should be):\n%s", diff)
	}
}

// A check is worth something if it can fail: a type is changed, and go generate changes what is made of it, and nothing else.
func TestAChangedTypeIsNoticed(t *testing.T) {
	t.Parallel()
	clone := cloneChapter(t)
	types := filepath.Join(clone, filepath.FromSlash(typesFile))
	text, err := os.ReadFile(types)
	must(t, err)
	changed := strings.Replace(string(text), "type FooSpec struct {", "type FooSpec struct {\n\tColours []string `json:\"colours,omitempty\"`", 1)
	must(t, os.WriteFile(types, []byte(changed), 0o666))
	before := filesIn(t, clone)

	generate(t, clone)

	folder, after := "pkg/apis/samplecontroller/v1alpha1/", filesIn(t, clone)
	for file, want := range map[string]string{
		folder + "applyconfiguration/samplecontroller/v1alpha1/foospec.go": ") WithColours(",
		folder + "zz_generated.deepcopy.go":                                "in.Colours",
	} {
		if before[file] == after[file] || !strings.Contains(after[file], want) {
			t.Errorf("%s: nothing was made of the new field", file)
		}
		delete(before, file)
		delete(after, file)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("what isn't made of it has changed (-before +after):\n%s", diff)
	}
}

// cloneChapter returns a copy of this folder, without the exercises: some are changed by those who solve them.
func cloneChapter(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes more time than -short has")
	}
	dir = filepath.Join(t.TempDir(), "my clones", "foo controller") // folders are called as their owners like
	must(t, os.CopyFS(dir, os.DirFS(".")))
	must(t, os.RemoveAll(filepath.Join(dir, "exercises")))
	return dir
}

// generate runs go generate in a copy of this folder. All that it needs is in go.mod, and has been downloaded with it.
func generate(t *testing.T, dir string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "generate", "./...")
	command.Dir = dir
	command.Env = append(command.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go generate: %v\n%s", err, output)
	}
}

// filesIn returns what is in the files in dir, by their names.
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
