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
	"slices"

	"example.com/operators/scripts/internal/chapters"
)

const api = "pkg/apis/samplecontroller/v1alpha1/"

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
		{"queue.go", "03", "04", false},
		{"leader.go", "03", "04", false},
		{"reconcile.go", "01", "05", false},
		{"write.go", "01", "05", false},
		{"read.go", "01", "04", false},
		{"desired.go", "01", "03", true},
		{api + "types.go", "01", "03", true},
		{"manifests/crd.yaml", "01", "05", true},
		{"manifests/foo.yaml", "01", "05", true},
		{"manifests/rbac.yaml", "01", "05", false},
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
	return problems, nil
}
