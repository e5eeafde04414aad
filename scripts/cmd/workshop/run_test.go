package main

// Errors of run before it uses a cluster.

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/operators/scripts/internal/problem"
)

func TestRunTDSetInAChapterWithoutIt(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"01-a/exercises/5-tdset", "02-b/exercises/4-tdset", "07-c/exercises/1-a"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("WORKSHOP_ROOT", root)
	command := newRunCommand()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"7", "--tdset", "--", "--now", "2026-01-01T08:59:50Z"})

	err := command.ExecuteContext(t.Context())

	var p *problem.Problem
	if !errors.As(err, &p) {
		t.Fatalf("the error is %v, want one with a fix", err)
	}
	if want := "chapter 07-c has no exercise TDSet"; p.What != want {
		t.Errorf("got %q, want %q", p.What, want)
	}
	if want := "leave out --tdset, or choose one of 01 to 06"; p.Fix != want {
		t.Errorf("the fix is %q, want %q", p.Fix, want)
	}
}
