// This test fails if the generated code is out of date, for example because you forgot to run the
// generators. It runs the scripts in this folder, which takes a minute or two; -short skips it. It
// has a package of its own, so that Go caches its result until a file of the chapter changes.

package hack

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chapter = ".."

// wantChanges are the lines that update-codegen.sh would remove (-) and add (+), as in a diff.
var wantChanges = strings.Split(`-// pkg/apis/samplecontroller/v1alpha1/zz_generated.stale.go
+    - name: colour
+      type:
+        scalar: string
+	Colour *string `+"`json:\"colour,omitempty\"`"+`
+// WithColour sets the Colour field in the declarative configuration to the given value
+// and returns the receiver, so that objects can be built by chaining "With" function invocations.
+// If called multiple times, the Colour field is set to the value of the last call.
+func (b *FooSpecApplyConfiguration) WithColour(value string) *FooSpecApplyConfiguration {
+	b.Colour = &value
+	return b
+}
+
-// pkg/generated/stale.go`, "\n")

// Change a type and don't run the generators, in a clone with an unusual name. The clone also has
// generated code that no tag asks for any more. verify-codegen.sh runs update-codegen.sh in a copy,
// so its output must show that the latter would fix both. If update-codegen.sh would also change
// anything else, here or in exercise 5, then the chapter's generated code is out of date.
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "my clones", "foo controller")
	if err := os.CopyFS(clone, os.DirFS(chapter)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pkg/generated/stale.go", "pkg/apis/samplecontroller/v1alpha1/zz_generated.stale.go"} {
		if err := os.WriteFile(filepath.Join(clone, name), []byte("// "+name+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	types := filepath.Join(clone, "pkg/apis/samplecontroller/v1alpha1/types.go")
	text, err := os.ReadFile(types)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "type FooSpec struct {", "type FooSpec struct {\n\tColour string `json:\"colour,omitempty\"`", 1)
	if err := os.WriteFile(types, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	before := filesIn(t, clone)

	output, err := runScript(t, clone, "verify-codegen.sh")

	if err == nil {
		t.Error("verify-codegen.sh succeeded, want an error: a type has changed")
	}
	changes := slices.DeleteFunc(regexp.MustCompile(`(?m)^[+-].*$`).FindAllString(output, -1), func(line string) bool {
		return strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") // the names of the files
	})
	if diff := cmp.Diff(wantChanges, changes); diff != "" {
		t.Errorf("update-codegen.sh would make other changes (-want +got):\n%s\nThe output of verify-codegen.sh:\n%s", diff, output)
	}
	for _, want := range []string{"code in pkg is out of date: run hack/update-codegen.sh", "code in exercises/5-tdset/pkg is up to date"} {
		if !strings.Contains(output, want) {
			t.Errorf("the output of verify-codegen.sh doesn't contain %q:\n%s", want, output)
		}
	}
	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
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
