package checks

import (
	"cmp"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
)

const tdset = "exercises/5-tdset/" // the same operator in each chapter

// same are files that don't change from chapter to chapter, so that a diff shows only the lesson.
var same = []struct{ chapters, files string }{
	{"01 02", "events.go reconcile.go"},
	{"01 02 03", "desired.go merge.go pkg/apis/samplecontroller/v1alpha1/types.go"},
	{"01 02 03 04", "config.go refusal.go"},
	{"01 02 03 04 05", "manifests/foo.yaml"},
	{"01 02 03 04 05 06", "manifests/crd.yaml"},
	{"01 02 03 04 05 06 07", "test/operatortest/operatortest.go"},
	{"02 03", "read.go write.go pkg/client/foos.go"},
	{"02 03 04", "index.go watcherrors.go"},
	{"03 04", "events.go queue.go leader.go recorder.go"},
	{"03 05", "stalereads/measure.go stalereads/table.go stalereads/wire.go"},
	{"04 05", "hack/verify-codegen.sh"},
	{"05 06", "desired.go deployment.go status.go index.go"},
	{"06 07", "cmd/serving.go"},

	{"01 02", tdset + "main.go " + tdset + "reconcile.go"},
	{"01 02 03", tdset + "deployment.go " + tdset + "desired.go " + tdset + "merge.go"},
	{"01 02 03 04", tdset + "config.go"},
	{"01 02 03 04 05", tdset + "types.go " + tdset + "manifests/crd.yaml"},
	{"01 02 03 04 05 06", tdset + "clock.go " + tdset + "refusal.go " + tdset + "manifests/tdset.yaml"},
	{"02 03", tdset + "read.go " + tdset + "write.go"},
	{"02 03 04 05 06", tdset + "schedule.go"},
	{"03 04", tdset + "main.go " + tdset + "run.go " + tdset + "reconcile.go " + tdset + "handlers.go " +
		tdset + "leader.go " + tdset + "recorder.go"},
	{"04 05 06", tdset + "deployment.go " + tdset + "desired.go"},
	{"05 06", tdset + "main.go " + tdset + "read.go " + tdset + "write.go " + tdset + "recorder.go " +
		tdset + "manifests/rbac.yaml"},
}

func TestSharedFilesAreTheSame(t *testing.T) {
	for _, group := range same {
		for file := range strings.FieldsSeq(group.files) {
			var model, modelIn string
			for _, chapter := range find(t, group.chapters) {
				place := file
				if chapter.IsProject() && file == "manifests/crd.yaml" {
					place = "api/v1alpha1/testdata/crd.yaml" // which the generated CRD is compared with
				} else if chapter.IsProject() {
					place = cmp.Or(chapters.InProject[file], file)
				}
				text := comparable(chapter, read(t, chapter.Name+"/"+place))
				if modelIn == "" {
					model, modelIn = text, chapter.Name
				} else if text != model {
					t.Errorf("%s/%s should be the same as in %s", chapter.Name, place, modelIn)
				}
			}
		}
	}
}

func find(t *testing.T, numbers string) []chapters.Chapter {
	t.Helper()
	found, err := chapters.Find(root, strings.Fields(numbers)...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// untilImports matches a Go file's beginning, up to its imports, or its package clause.
var untilImports = regexp.MustCompile(`(?s)^.*?\nimport (\(.*?\n\)|[^(\n]+)\n|^package [^\n]*`)

// comparable is a file's text without the chapter's own name, and without a Go file's imports.
func comparable(chapter chapters.Chapter, text string) string {
	return untilImports.ReplaceAllString(strings.ReplaceAll(text, chapter.Name, ""), "")
}

// Some exercises continue the program of an earlier one. The code that the learner wrote there is
// given, and it is the earlier solution's, so that it makes no difference if learners paste their own.
func TestGivenFilesHaveTheEarlierSolution(t *testing.T) {
	for _, given := range []struct{ chapter, file, earlier string }{
		{"02", "schedule.go", "01"},
		{"03", "handlers.go", "02"},
		{"04", "queue.go", "03"},
		{"06", "tdset_controller.go", "05"},
	} {
		here, earlier := find(t, given.chapter)[0], find(t, given.earlier)[0]
		code := comparable(here, read(t, here.Name+"/"+tdset+given.file))
		if solution := read(t, earlier.Name+"/"+tdset+"solution.go"); !strings.Contains(solution, code) {
			t.Errorf("%s/%s%s should have the code of %s's solution.go", here.Name, tdset, given.file, earlier.Name)
		}
	}
}

// A learner starts a capstone where the chapter ends: its files are the chapter's or, for the projects
// from 06 on, those of chapter 05.
func TestCapstonesStartWithTheChaptersFiles(t *testing.T) {
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if !e.IsCapstone() {
			continue
		}
		model := e.Chapter
		if model.IsProject() {
			model = find(t, "05")[0]
		}
		files, err := filepath.Glob(filepath.Join(model.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			if chapters.Exists(e.File(name)) && read(t, e.Path(name)) != read(t, model.Name+"/"+name) {
				t.Errorf("%s should be the same as %s/%s", e.Path(name), model.Name, name)
			}
		}
	}
}
