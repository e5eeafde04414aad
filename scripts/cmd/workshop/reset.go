package main

import (
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
)

func newResetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reset CHAPTER/K",
		Short: "Start an exercise again, and keep a copy of your work",
		Long: `Reset restores exercise.go as git has it. Your own is kept in .workshop/kept. Hints stay seen, and the exercise has to be
passed again.`,
		Example: `  ./scripts/workshop reset 01/1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			exercise, err := exercises.FindOne(theRoot(), args[0])
			if err != nil {
				return err
			}
			file := exercise.Path(exercises.ExerciseFile)
			changed, kept, err := exercises.Reset(command.Context(), theRoot(), exercise, time.Now())
			if err != nil {
				return err
			}
			switch {
			case kept != "":
				command.Printf("%s is as it was given. Yours is kept: %s\n", file, kept)
			case changed:
				command.Printf("%s was missing, and is restored as it was given.\n", file)
			default:
				command.Printf("%s was as it was given already.\n", file)
			}
			return nil
		},
	}
}
