package main

import (
	"errors"
	"testing"

	"example.com/operators/scripts/internal/problem"
)

func TestKubeconfigFailsWithoutACluster(t *testing.T) {
	t.Setenv("WORKSHOP_ROOT", t.TempDir())
	t.Setenv("WORKSHOP_CLUSTER", "")
	command := newKubeconfigCommand()
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{})

	err := command.ExecuteContext(t.Context())

	var p *problem.Problem
	if !errors.As(err, &p) {
		t.Fatalf("the error is %v, want one with a fix", err)
	}
	if want := `cluster "workshop" isn't up`; p.What != want || p.Fix != "./scripts/workshop up" {
		t.Errorf("got %q with the fix %q, want %q", p.What, p.Fix, want)
	}
}
