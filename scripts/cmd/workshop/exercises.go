package main

// The command progress, and what the commands about exercises share.

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/ui"
)

// findExercises returns the exercises that the argument names, or all without one.
func findExercises(args []string) ([]exercises.Exercise, error) {
	if len(args) == 0 {
		return exercises.All(theRoot())
	}
	return exercises.Find(theRoot(), args[0])
}

func colours() ui.Palette { return ui.NewPalette(ui.Coloured(os.Stdout)) }

// clusterForTests passes the cluster to the tests, if it is up and the user hasn't set another one.
func clusterForTests(ctx context.Context) []string {
	if os.Getenv("TEST_KUBECONFIG") != "" {
		return nil
	}
	c := theCluster()
	if up, err := c.Serves(ctx); err != nil || !up {
		return nil
	}
	return []string{"TEST_KUBECONFIG=" + c.Kubeconfig()}
}

func newProgressCommand() *cobra.Command {
	var everything bool
	command := &cobra.Command{
		Use:   "progress [CHAPTER]",
		Short: "Show which exercises you have passed",
		Long: `Progress lists the exercises of the core path, and the others that you have begun: which ones you had passed at
their last check, and how many hints you have seen. With a chapter, it lists all exercises of that chapter.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			all, err := findExercises(args)
			if err != nil {
				return err
			}
			progress, err := exercises.ReadProgress(theRoot())
			if err != nil {
				return err
			}
			shown := slices.DeleteFunc(slices.Clone(all), func(e exercises.Exercise) bool {
				return !everything && len(args) == 0 && !e.Core && progress.Of(e) == exercises.Record{}
			})
			command.Print(exercises.Table(shown, progress, colours()))
			if len(shown) < len(all) {
				command.Printf("All %d exercises: ./scripts/workshop progress --all\n", len(all))
			}
			return nil
		},
	}
	command.Flags().BoolVar(&everything, "all", false, "list all exercises")
	return command
}
