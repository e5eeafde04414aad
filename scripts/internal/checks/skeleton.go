package checks

// The skeleton: chapters that build the same operator have the same files, so that a diff between neighbours shows the
// lesson and nothing else.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

const (
	api   = "pkg/apis/samplecontroller/v1alpha1/"
	tdset = "exercises/5-tdset/" // the same operator in each chapter, so the rules are the same
)

// part is a file of the skeleton.
type part struct {
	path        string
	first, last string // the numbers of the chapters that have it
	same        bool   // it is the same file in all of them, but for the chapter's own name
}

// parts is the skeleton.
func parts() []part {
	return []part{
		{"main.go", "01", "05", false},
		{"events.go", "01", "05", false},
		{"queue.go", "03", "04", true},
		{"leader.go", "03", "04", true},
		{"silence.go", "03", "05", true},
		{"reconcile.go", "01", "05", false},
		{"write.go", "01", "05", false},
		{"read.go", "01", "05", false},
		{"desired.go", "01", "03", true},
		{"desired.go", "04", "05", true},
		{api + "types.go", "01", "03", true},
		{"manifests/crd.yaml", "01", "05", true},
		{"manifests/foo.yaml", "01", "05", true},
		{"manifests/rbac.yaml", "01", "05", false},

		{tdset + "main.go", "01", "04", true},
		{tdset + "main.go", "05", "06", true}, // with a flag set of its own
		{tdset + "types.go", "01", "03", true},
		{tdset + "types.go", "04", "05", true},
		{tdset + "clock.go", "01", "06", true},
		{tdset + "desired.go", "01", "03", true},
		{tdset + "desired.go", "04", "05", true},
		{tdset + "reconcile.go", "01", "03", true},
		{tdset + "schedule.go", "02", "06", true}, // in 01 it is what the learner writes
		{tdset + "deepcopy.go", "02", "03", true},
		{tdset + "controller.go", "01", "04", false},
		{tdset + "cluster_test.go", "01", "03", true},
		{tdset + "fakeapi_test.go", "01", "03", true},
		{tdset + "fakeapi_test.go", "04", "05", true},
		{tdset + "manifests/crd.yaml", "01", "05", true},
		{tdset + "manifests/namespace.yaml", "01", "06", true},
		{tdset + "manifests/tdset.yaml", "01", "06", true},
		{tdset + "manifests/rbac.yaml", "01", "05", false},
	}
}

// skeleton: every part is where it belongs, and the same where it should be.
func skeleton(_ context.Context, root string) ([]string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, part := range parts() {
		var model []byte
		var modelIn string
		for _, chapter := range all {
			if chapter.Number() < part.first || chapter.Number() > part.last {
				continue
			}
			content, err := os.ReadFile(filepath.Join(chapter.Dir, filepath.FromSlash(part.path)))
			if errors.Is(err, fs.ErrNotExist) {
				problems = append(problems, fmt.Sprintf("%s: has no %s, as chapters %s to %s should", chapter.Name, part.path, part.first, part.last))
				continue
			}
			if err != nil {
				return nil, err
			}
			content = bytes.ReplaceAll(content, []byte(chapter.Name), []byte("CHAPTER"))
			switch {
			case !part.same:
			case model == nil:
				model, modelIn = content, chapter.Name
			case !slices.Equal(model, content):
				problems = append(problems, fmt.Sprintf("%s/%s: should be the same as in %s", chapter.Name, part.path, modelIn))
			}
		}
	}
	for _, check := range []func([]chapters.Chapter) ([]string, error){givenSchedule, moved} {
		found, err := check(all)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// moved: what has another place in 06 is the same as in 05, but for its package and its import of the types.
func moved(all []chapters.Chapter) ([]string, error) {
	var problems []string
	for _, file := range []struct{ five, six string }{
		{"desired.go", "internal/controller/desired.go"},
		{"manifests/crd.yaml", "api/v1alpha1/testdata/crd.yaml"}, // which the generated one is compared with
	} {
		contents := map[string]string{}
		for _, chapter := range all {
			path := map[string]string{"05": file.five, "06": file.six}[chapter.Number()]
			if path == "" {
				continue
			}
			content, err := os.ReadFile(filepath.Join(chapter.Dir, filepath.FromSlash(path)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			contents[chapter.Number()] = packageOrOwnImport.ReplaceAllString(string(content), "")
		}
		if own, there := contents["06"]; there && own != contents["05"] {
			problems = append(problems, fmt.Sprintf("06's %s: should be the same as 05's %s, but for package and imports", file.six, file.five))
		}
	}
	return problems, nil
}

var packageOrOwnImport = regexp.MustCompile(`(?m)^(package .*|\t"example\.com/operators/.*")$`)

// givenSchedule: the schedule that is given in chapter 02's exercise TDSet is the one that 01's solution has.
func givenSchedule(all []chapters.Chapter) ([]string, error) {
	const given, solved = tdset + "schedule.go", tdset + "solution.go"
	contents := map[string]string{}
	for _, chapter := range all {
		file := map[string]string{"01": solved, "02": given}[chapter.Number()]
		if file == "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(chapter.Dir, filepath.FromSlash(file)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		contents[file] = string(content)
	}
	_, declarations, _ := strings.Cut(contents[given], "\n)\n") // after the imports
	if !strings.Contains(contents[solved], declarations) {
		return []string{fmt.Sprintf("02's %s: what it declares should be the same as in 01's %s", given, solved)}, nil
	}
	return nil, nil
}
