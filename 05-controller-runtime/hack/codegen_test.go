// This test fails if the generated code is out of date, for example because you forgot to run the
// generators. It runs verify-codegen.sh, which takes a minute or two; -short skips it. It has a
// package of its own, so that Go caches its result until a file of the chapter changes. That the
// script notices a forgotten update is tested in chapter 04, where it first appears.

package hack

import (
	"os"
	"os/exec"
	"testing"
)

func TestGeneratedCodeIsUpToDate(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || testing.Short() {
		t.Skip("needs bash, and more time than -short has")
	}
	// Go doesn't see what the script reads. But it sees what this copies.
	clone := t.TempDir()
	if err := os.CopyFS(clone, os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", "hack/verify-codegen.sh")
	command.Dir = clone
	// The race detector needs cgo. The generators don't, and with cgo, Go would compile their
	// libraries once more.
	command.Env = append(command.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
}
