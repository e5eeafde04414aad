package exercises

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func TestFindCapstone(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	_, err := FindCapstone(root, "01/1")
	if err == nil || !strings.Contains(problem.Format(err), "exercise 01/1 can't be judged, because it has no judge.yaml") {
		t.Errorf("got the error %v", err)
	}
	write(t, e.File(JudgeFile), "version: v1\n")
	if e, err = FindCapstone(root, "01/1"); err != nil || !e.HasProgram() || e.HasOwnKind() {
		t.Errorf("got %+v, error %v, want a capstone about the chapter's kind", e, err)
	}
	crd := e.File("manifests/crd.yaml")
	if err := os.Mkdir(filepath.Dir(crd), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, crd, "kind: CustomResourceDefinition\n")
	if !e.HasOwnKind() {
		t.Error("it has a CRD, but no kind of its own")
	}
}

// The result of the judge is shown in the table until a later judgement replaces it.
func TestJudgedIsRecorded(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	for _, kept := range []bool{true, false} {
		if err := RecordJudged(t.Context(), root, e, kept); err != nil {
			t.Fatal(err)
		}
		progress, err := ReadProgress(root)
		if err != nil || strings.Contains(Table([]Exercise{e}, progress, ui.NewPalette(false)), "judged") != kept {
			t.Errorf("kept %v: got\n%s\nerror %v", kept, Table([]Exercise{e}, progress, ui.NewPalette(false)), err)
		}
	}
}
