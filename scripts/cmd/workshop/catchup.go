package main

// workshop catch-up puts solutions in place for learners who have fallen behind, and restores their
// own work.

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
)

// reloadAdvice is for learners whose editor would overwrite the new file with its old text.
const reloadAdvice = "If your editor has one of these files open, reload it."

func newCatchUpCommand() *cobra.Command {
	var restore bool
	command := &cobra.Command{
		Use:   "catch-up CHAPTER[/K]... | --restore [CHAPTER[/K]...]",
		Short: "Fill in the solutions of exercises, and keep a copy of your work",
		Long: `Catch-up is for learners who have fallen behind in a workshop. It replaces these exercises by the course's solutions,
except those that you have passed. Your files are kept in .workshop/kept. "progress" lists the exercises as caught up until
a check passes.

With --restore, you get your files back. If you have changed a solution, that is kept, too.`,
		Example: `  ./scripts/workshop catch-up 02/1
  ./scripts/workshop catch-up --restore`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 && !restore {
				return errors.New("which exercise? Name it by chapter and number, such as 02/1, or use --restore")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			named, err := findExercises(args)
			if err != nil {
				return err
			}
			if restore {
				return restoreKept(command, named)
			}
			return catchUp(command, named)
		},
	}
	command.Flags().BoolVar(&restore, "restore", false, "restore your own files")
	return command
}

func catchUp(command *cobra.Command, named []exercises.Exercise) error {
	for _, e := range named {
		done, err := exercises.CatchUp(theRoot(), e, time.Now())
		if err != nil {
			return err
		}
		printDone(command, e, done)
	}
	command.Println("\nTo get back your own file: ./scripts/workshop catch-up --restore\n" + reloadAdvice)
	all, err := exercises.All(theRoot())
	if err != nil {
		return err
	}
	progress, err := exercises.ReadProgress(theRoot())
	if err != nil {
		return err
	}
	if next, found := exercises.NextOpen(all, named[len(named)-1], progress); found {
		command.Printf("The next: %s %s, %s\n", next.Name(), next.Title, next.Path(exercises.ReadmeFile))
	}
	return nil
}

func restoreKept(command *cobra.Command, named []exercises.Exercise) error {
	advice := "There is nothing to restore."
	for _, e := range named {
		done, err := exercises.Restore(theRoot(), e, time.Now())
		if err != nil {
			return err
		}
		if done != "" {
			advice = "\n" + reloadAdvice
		}
		printDone(command, e, done)
	}
	command.Println(advice)
	return nil
}

func printDone(command *cobra.Command, e exercises.Exercise, done string) {
	if done != "" {
		command.Printf("%s %s (%s)\n", e.Name(), e.Title, done)
	}
}
