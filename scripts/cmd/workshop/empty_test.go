package main

// A shell expands an unset variable to an empty name. No command takes it for "all".

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/operators/scripts/internal/testkit"
)

func TestAnEmptyNameIsAnError(t *testing.T) {
	const theExercises, noChapter = "the exercise's name is empty", `there is no chapter ""`
	for line, want := range map[string]string{
		"catch-up _":           theExercises,
		"catch-up --restore _": theExercises,
		"check _":              theExercises,
		"watch _":              theExercises,
		"hint _":               theExercises,
		"solution --spoil _":   theExercises,
		"reset _":              theExercises,
		"demo _":               noChapter,
		"run _":                noChapter,
		"deploy _":             noChapter,
		"faults _ F4a":         noChapter,
		"test _":               noChapter,
		"test --only B4 _":     noChapter,
		"docs --check _":       noChapter,
		"diff 01 _":            noChapter,
		"stored _":             "the name of a resource or an object is empty",
	} {
		t.Run(line, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{
				"01-a/exercises/1-one/exercise.go": "package one\n",
			})
			t.Setenv("WORKSHOP_ROOT", root)
			t.Setenv("PATH", "") // so that no program can be started
			args := strings.Fields(line)
			for i, arg := range args {
				args[i] = strings.TrimPrefix(arg, "_")
			}
			command := newRootCommand()
			command.SetArgs(args)
			command.SetOut(io.Discard)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // watch would run forever
			defer cancel()
			if err := command.ExecuteContext(ctx); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if made, err := filepath.Glob(filepath.Join(root, ".workshop", "*")); err != nil || len(made) > 0 {
				t.Errorf("created %q, error %v, want nothing", made, err)
			}
		})
	}
}
