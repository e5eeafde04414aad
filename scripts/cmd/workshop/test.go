package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/suite"
	"example.com/operators/scripts/internal/ui"
)

func newTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [CHAPTER...]",
		Short: "Run everything that CI runs, for all chapters or some",
		Long: `Test checks the repository's layout, runs vet and staticcheck, all unit and integration tests with the race detector,
the behaviour contract against the chapters' built programs, and the code and commands in the texts. It makes clusters
of its own ("test", "docs") and removes them; yours isn't touched. A skipped test counts as a failure.`,
		Example: `  ./scripts/workshop test
  ./scripts/workshop test 01`,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := newSuite(command, args)
			if err != nil {
				return err
			}
			counts, err := s.Run(command.Context())
			// Alone on a line, in words that CI systems read.
			fmt.Fprintf(command.OutOrStdout(), "%d passed, %d failed\n", counts.Passed, counts.Failed+counts.Skipped)
			return err
		},
	}
}

// newSuite is a suite of the chapters that args name, or of everything, with the control plane built.
func newSuite(command *cobra.Command, args []string) (*suite.Suite, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	found, err := chapters.Find(root, args...)
	if err != nil {
		return nil, err
	}
	show := ui.New(os.Stderr)
	if err := ensureBuilt(command.Context(), show); err != nil {
		return nil, err
	}
	return &suite.Suite{Root: root, Bin: controlplane.New(root).Bin, UI: show, Chapters: found, Everything: len(args) == 0}, nil
}
