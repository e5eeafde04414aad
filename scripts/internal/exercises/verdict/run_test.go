package verdict

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

// A cancelled test must not keep running in the background, or each save would add one.
func TestACancelledCheckEndsItsTest(t *testing.T) {
	root := t.TempDir()
	pipe := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	e := writeSum(t, root, map[string]string{
		// It ignores the interrupt, and keeps the pipe open until it is killed.
		"exercise.go": "//go:build !solution\n\npackage sum\n\nimport (\n\t\"os\"\n\t\"os/signal\"\n)\n\n" +
			"func Add(a, b int) int {\n\tsignal.Ignore(os.Interrupt)\n" +
			"\t_, _ = os.OpenFile(os.Getenv(\"PIPE\"), os.O_WRONLY, 0)\n\tselect {}\n}\n",
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := Checker{Root: root, Env: func(context.Context) []string { return []string{"PIPE=" + pipe} }}.Check(ctx, e)
		ended <- err
	}()
	reader, err := os.Open(pipe) // as soon as the test has opened it
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	if _, err := io.ReadAll(reader); err != nil { // until the test has ended
		t.Error(err)
	}
	if progress, err := exercises.ReadProgress(root); err != nil || len(progress.Exercises) > 0 {
		t.Errorf("recorded %v, error %v, want nothing", progress, err)
	}
}

func TestCheckThatCannotRun(t *testing.T) {
	root := t.TempDir()
	e := writeSum(t, root, nil)
	testkit.Write(t, root, map[string]string{"01-a/go.mod": "module example.com/01-a\n\ngo 1.26\n\nnonsense\n"})
	_, err := Checker{Root: root}.Check(t.Context(), e)
	if err == nil || !strings.Contains(problem.Format(err), "go test can't run: go: errors parsing go.mod") {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(e.File("exercise.go")); err != nil {
		t.Fatal(err)
	}
	_, err = Checker{Root: root}.Check(t.Context(), e)
	if err == nil || !strings.Contains(problem.Format(err), "what to do: ./scripts/workshop reset 01/1") {
		t.Errorf("error %v", err)
	}
}

func TestFunctionName(t *testing.T) {
	for qualified, want := range map[string]string{
		"example.com/a/exercises/1-b.Follow":            "Follow",
		"example.com/a/exercises/1-b.Follow.func1.2":    "Follow",
		"example.com/a/exercises/1-b.(*Watch).Get":      "Watch.Get",
		"example.com/a/exercises/1-b.Follow-range1":     "Follow",
		"example.com/a/exercises/1-b.init.0":            "init",
		"example.com/a/exercises/1-b.(*Watch).Get.func": "Watch.Get.func",
	} {
		if got := functionName(qualified); got != want {
			t.Errorf("%s: got %s, want %s", qualified, got, want)
		}
	}
}
