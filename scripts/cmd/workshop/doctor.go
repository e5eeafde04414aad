package main

import (
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/doctor"
	"example.com/operators/scripts/internal/problem"
)

func newDoctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find what on this machine will get in the way, and how to fix it",
		Long: `Doctor checks everything on this machine that the workshop depends on. It changes nothing, and tells you what will get
in the way and how to fix it. Its exit code is 1 if it finds a problem; a warning ("!") can wait.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			bad := 0
			for _, f := range doctor.Examine(command.Context(), theRoot(), simulated()) {
				command.Printf("%s %s\n", f.State.Mark(), f.What)
				if f.Fix != "" {
					command.Printf("  %s\n", strings.ReplaceAll(f.Fix, "\n", "\n  "))
				}
				if f.State == doctor.Bad {
					bad++
				}
			}
			if bad > 0 {
				command.Printf("\n%d to fix.\n", bad)
				return problem.ErrReported
			}
			return nil
		},
	}
}
