package main

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/watch"
)

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [CHAPTER[/K]]",
		Short: "Check an exercise each time you save it",
		Long: `Watch checks an exercise, and checks it again each time you save it. It begins with the exercise that you
name, or with the first one that you haven't passed, in all chapters or in one. Keys:

  1  to 9 answer the question of a ticket
  h  shows a hint
  l  lists all exercises
  n  goes to the next exercise that you haven't passed
  c  checks again
  q  quits`,
		Example: `  ./scripts/workshop watch
  ./scripts/workshop watch 01/1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			start, open, err := exercises.NextOpen(theRoot(), found, exercises.Exercise{})
			if err != nil {
				return err
			}
			if !open {
				start = found[0]
			}
			if len(found) == 1 { // that one first, and then all others
				if found, err = exercises.All(theRoot()); err != nil {
					return err
				}
			}
			terminal, err := watch.OpenTerminal(os.Stdin, os.Stdout, colours())
			if err != nil {
				return err
			}
			return watch.Watch{Checker: theChecker(), Terminal: terminal, Exercises: found, Start: start}.Run(command.Context())
		},
	}
}
