package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

func newSolutionCommand() *cobra.Command {
	var spoil bool
	command := &cobra.Command{
		Use:   "solution CHAPTER/K",
		Short: "Show the solution of an exercise that you have passed",
		Long: `Solution prints one way to solve an exercise. There are others: whatever passes the check is right. Before you have passed
it yourself, it takes --spoil.`,
		Example: `  ./scripts/workshop solution 01/1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			exercise, err := exercises.FindOne(theRoot(), args[0])
			if err != nil {
				return err
			}
			progress, err := exercises.ReadProgress(theRoot())
			if err != nil {
				return err
			}
			if progress.Of(exercise).Passed == nil && !spoil {
				return problem.New("you haven't passed %s yet", exercise.Name()).
					ToDo("ask for a hint (./scripts/workshop hint %s); --spoil shows the solution all the same", exercise.Name())
			}
			solution, err := exercises.Solution(exercise)
			if err != nil {
				return err
			}
			fmt.Fprint(command.OutOrStdout(), solution)
			return nil
		},
	}
	command.Flags().BoolVar(&spoil, "spoil", false, "show it before you have passed")
	return command
}
