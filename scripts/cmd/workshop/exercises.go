package main

// The command progress, and what the commands about exercises share.

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/ui"
)

// findExercises returns the exercises that the argument names, or all without an argument.
func findExercises(args []string) ([]exercises.Exercise, error) {
	if len(args) == 0 {
		return exercises.All(theRoot())
	}
	return exercises.Find(theRoot(), args[0])
}

func firstOpen(all []exercises.Exercise) (exercises.Exercise, bool, error) {
	progress, err := exercises.ReadProgress(theRoot())
	if err != nil {
		return exercises.Exercise{}, false, err
	}
	open, found := exercises.FirstOpen(all, progress)
	return open, found, nil
}

func nothingOpen(all []exercises.Exercise) string {
	if len(all) == 0 {
		return "There are no exercises yet."
	}
	return fmt.Sprintf("No exercise is open: all %d are passed or caught up. To check one again, name it, such as 01/1.", len(all))
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
	var address string
	command := &cobra.Command{
		Use:   "progress",
		Short: "Show which exercises you have passed",
		Long: `Progress lists all exercises: which ones you had passed at their last check, how many hints you have seen, and which ones
have the course's solution instead of your work ("catch-up").

--serve is for the instructor of a workshop. It opens a room: a page that shows who works on which exercise, and what
passes, for everybody who adds --room to their check or watch. It prints the page's address, which contains a code, and what
learners type. Everything else in the workshop listens on this machine alone. A room opens a port to your network, so you
have to name the address: 0.0.0.0:8090 for all of this machine's addresses, or 127.0.0.1:8090 to try it out. It stores
nothing. Ctrl-C closes the room, and then everything in it is gone.`,
		Example: `  ./scripts/workshop progress
  ./scripts/workshop progress --serve 0.0.0.0:8090`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("serve") {
				return serveRoom(command.Context(), command, address)
			}
			all, err := exercises.All(theRoot())
			if err != nil {
				return err
			}
			progress, err := exercises.ReadProgress(theRoot())
			if err != nil {
				return err
			}
			command.Print(exercises.Table(all, progress, colours()))
			return nil
		},
	}
	command.Flags().StringVar(&address, "serve", "", "open a workshop's room on this `ADDRESS`, such as 0.0.0.0:8090")
	return command
}
