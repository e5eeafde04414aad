package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
)

// writeSum writes testkit's exercise, and returns it.
func writeSum(t *testing.T, root, name string, changes map[string]string) exercises.Exercise {
	t.Helper()
	testkit.WriteSum(t, root, "01-a", name, changes)
	e, err := exercises.FindOne(root, "01-a/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// save replaces exercise.go atomically, as many editors do.
func save(t *testing.T, e exercises.Exercise, content string) {
	t.Helper()
	testkit.Write(t, e.Dir(), map[string]string{"4913": content})
	if err := os.Rename(e.File("4913"), e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
}

// startWatch runs watch until the test ends. shows waits for a text in its output.
func startWatch(t *testing.T, root string) (shows func(string), output *process.Buffer, ended <-chan error) {
	t.Helper()
	t.Setenv("WORKSHOP_ROOT", root)
	ctx, cancel := context.WithCancel(t.Context())
	output = &process.Buffer{}
	command := newWatchCommand()
	command.SetOut(output)
	command.SetErr(output)
	command.SetArgs(nil)
	result := make(chan error, 1)
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		result <- command.ExecuteContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ran
	})
	return func(text string) {
		t.Helper()
		testkit.Await(t, time.Minute, fmt.Sprintf("%q is shown", text), func() error {
			if !strings.Contains(output.String(), text) {
				return fmt.Errorf("it shows\n%s", output)
			}
			return nil
		})
	}, output, result
}

func TestWatchGoesOnToTheNextExercise(t *testing.T) {
	root := t.TempDir()
	one, two := writeSum(t, root, "1-one", nil), writeSum(t, root, "2-two", nil)
	shows, _, ended := startWatch(t, root)
	shows("✗ 01/1 Sums: 1 of 2 tests passed")
	shows("Waiting until you save 01-a/exercises/1-one/exercise.go.")
	save(t, one, testkit.SumSolvedInPlace)
	shows("✓ 01/1 Sums: passed")
	shows("Waiting until you save 01-a/exercises/2-two/exercise.go.")
	save(t, two, testkit.SumSolvedInPlace)
	shows("✓ 01/2 Sums: passed")
	if err := <-ended; err != nil {
		t.Errorf("all are passed: got error %v, want none", err)
	}
}

func TestASaveCancelsTheRunningCheck(t *testing.T) {
	root := t.TempDir()
	hanging := "//go:build !solution\n\npackage sum\n\nfunc Add(a, b int) int { os.Create(\"started\"); select {} }\n"
	hanging = strings.Replace(hanging, "func", "import \"os\"\n\nfunc", 1)
	one := writeSum(t, root, "1-one", map[string]string{"exercise.go": hanging})
	shows, output, _ := startWatch(t, root)
	testkit.Await(t, time.Minute, "the check runs", func() error {
		_, err := os.Stat(one.File("started"))
		return err
	})
	save(t, one, testkit.SumSolvedInPlace)
	shows("✓ 01/1 Sums: passed")
	if strings.Contains(output.String(), "✗") {
		t.Errorf("it shows the canceled check:\n%s", output)
	}
}

// Editors write other files, too.
func TestSaves(t *testing.T) {
	for sentence, test := range map[string]struct {
		event fsnotify.Event
		want  bool
	}{
		"a write":           {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Write}, true},
		"a new exercise.go": {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Create}, true},
		"another Go file":   {fsnotify.Event{Name: "/a/helpers.go", Op: fsnotify.Create}, true},
		"other permissions": {fsnotify.Event{Name: "/a/exercise.go", Op: fsnotify.Chmod}, false},
		"vim's swap file":   {fsnotify.Event{Name: "/a/.exercise.go.swp", Op: fsnotify.Write}, false},
		"a backup":          {fsnotify.Event{Name: "/a/exercise.go~", Op: fsnotify.Create}, false},
		"emacs' lock":       {fsnotify.Event{Name: "/a/.#exercise.go", Op: fsnotify.Create}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := isSave(test.event); got != test.want {
				t.Errorf("counts: %v, want %v", got, test.want)
			}
		})
	}
}
