package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/ui"
)

func newCatchUpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "catch-up CHAPTER[/K]...",
		Short: "Fill in the solutions of exercises, and keep your work",
		Long: `Catch-up is for learners who have fallen behind in a workshop. It replaces these exercises by the course's
solutions, except those that you have passed. Your files are kept in .workshop/kept. "progress" lists the exercises as
caught up until a check passes. To start one again, use "reset".`,
		Example: `  ./scripts/workshop catch-up 02/1`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which exercise? Name it by chapter and number, such as 02/1")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			named, err := findExercises(args)
			if err != nil {
				return err
			}
			for _, e := range named {
				done, err := exercises.CatchUp(theRoot(), e, time.Now())
				if err != nil {
					return err
				}
				command.Println(ui.Wrap(fmt.Sprintf("%s %s (%s)", e.Name(), e.Title, done)))
			}
			command.Println("\nIf your editor has one of these files open, reload it.")
			all, err := exercises.All(theRoot())
			if err != nil {
				return err
			}
			next, err := exercises.Next(theRoot(), all, named[len(named)-1])
			command.Println(next)
			return err
		},
	}
}
