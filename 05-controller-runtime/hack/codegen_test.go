// This test fails if the generated code is out of date, for example because you forgot to run the
// generators. It runs verify-codegen.sh, which takes a minute or two; -short skips it. It has a
// package of its own, so that Go caches its result until a file of the chapter changes. That the
// script notices a forgotten update is tested in chapter 04, where it first appears.

package hack

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chapter = ".."

func TestGeneratedCodeIsUpToDate(t *testing.T) {
	before := filesIn(t, chapter)
	if output, err := runScript(t, chapter, "verify-codegen.sh"); err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	if diff := cmp.Diff(before, filesIn(t, chapter)); diff != "" {
		t.Errorf("verify-codegen.sh has changed files (-before +after):\n%s", diff)
	}
}

// runScript runs a script in the hack folder of a chapter, or of a copy of it, and returns its
// output. The script must remove everything that it creates on the way, its tools included.
func runScript(t *testing.T, dir, script string) (output string, err error) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || testing.Short() {
		t.Skip("needs bash, and more time than -short has")
	}
	bin, tmp := t.TempDir(), t.TempDir()
	command := exec.CommandContext(t.Context(), "bash", "hack/"+script)
	command.Dir = dir
	// The race detector needs cgo. The generators don't, and with cgo, Go would compile their
	// libraries once more.
	command.Env = append(command.Environ(), "CGO_ENABLED=0", "GOBIN="+bin, "TMPDIR="+tmp)
	printed, err := command.CombinedOutput()
	for _, dir := range []string{bin, tmp} {
		if left := filesIn(t, dir); len(left) > 0 {
			t.Errorf("%s has left files behind: %q", script, slices.Sorted(maps.Keys(left)))
		}
	}
	return string(printed), err
}

// filesIn returns the contents of the files in dir, by their names. Folders are included: their
// names end with a slash, and they have no contents.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case entry.IsDir():
			files[name+"/"] = ""
			return nil
		}
		text, err := fs.ReadFile(root, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
