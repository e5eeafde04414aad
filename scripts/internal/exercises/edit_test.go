package exercises

import (
	"slices"
	"testing"
)

func TestEditCommand(t *testing.T) {
	for template, want := range map[string][]string{
		"code -g {file}:{line}": {"code", "-g", "/my course/01-a/exercise.go:12"},
		" vim  +{line} {file}":  {"vim", "+12", "/my course/01-a/exercise.go"},
		"code":                  nil,
		"":                      nil,
		"{file}":                nil,
	} {
		command, err := EditCommand(template, "/my course", "01-a/exercise.go:12")
		if want == nil && err == nil {
			t.Errorf("%q: no error", template)
		}
		if want != nil && (err != nil || !slices.Equal(command.Args, want)) {
			t.Errorf("%q: got %v, error %v, want %v", template, command, err, want)
		}
	}
}
