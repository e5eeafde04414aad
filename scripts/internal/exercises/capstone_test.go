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

// The result of the judge is shown in the table until the code changes, or a later judgement
// replaces it.
func TestJudgedIsRecorded(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, "01-a", "1-sum", nil)
	record := func(kept bool) func() error {
		return func() error {
			code := ""
			if kept {
				code = e.Code()
			}
			return RecordJudged(t.Context(), root, e, code)
		}
	}
	change := func(file, content string) func() error {
		return func() error { return os.WriteFile(e.File(file), []byte(content), 0o600) }
	}
	code, err := os.ReadFile(e.File(ExerciseFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what string
		do   func() error
		want bool
	}{
		{"it keeps every promise", record(true), true},
		{"the code changes", change(ExerciseFile, string(code)+"// not yet\n"), false},
		{"the code is as it was", change(ExerciseFile, string(code)), true},
		{"there is another test", change("more_test.go", "package sum\n"), true},
		{"there is another file", change("more.go", "package sum\n"), false},
		{"it keeps every promise with that file, too", record(true), true},
		{"it doesn't keep them any more", record(false), false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		progress, err := ReadProgress(root)
		table := Table([]Exercise{e}, progress, ui.NewPalette(false))
		if err != nil || strings.Contains(table, "judged") != step.want {
			t.Errorf("%s: got\n%s\nerror %v, want it to be marked as judged: %v", step.what, table, err, step.want)
		}
	}
}
