package main

// The commands about one exercise: hint, solution and reset.

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// aboutOneExercise completes a command that takes one exercise.
func aboutOneExercise(command *cobra.Command, do func(*cobra.Command, exercises.Exercise) error) *cobra.Command {
	command.Example = fmt.Sprintf("  ./scripts/workshop %s 01/1", command.Name())
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return errors.New("which exercise? Name one by chapter and number, such as 01/1")
		}
		return nil
	}
	command.RunE = func(command *cobra.Command, args []string) error {
		exercise, err := exercises.FindOne(theRoot(), args[0])
		if err != nil {
			return err
		}
		return do(command, exercise)
	}
	return command
}

func newHintCommand() *cobra.Command {
	return aboutOneExercise(&cobra.Command{
		Use:   "hint CHAPTER/K",
		Short: "Show the next hint for an exercise",
		Long: `Hint shows one more hint each time: first a nudge, then an approach, then nearly the answer. It remembers how
many you have seen.`,
	}, func(command *cobra.Command, exercise exercises.Exercise) error {
		hint, err := exercises.NextHint(theRoot(), exercise, colours())
		command.Print(hint)
		return err
	})
}

func newSolutionCommand() *cobra.Command {
	var spoil bool
	command := aboutOneExercise(&cobra.Command{
		Use:   "solution CHAPTER/K",
		Short: "Show the solution of an exercise that you have passed",
		Long: `Solution shows how the course's solution differs from yours. There are others, and any that passes the check
is right. Until you have passed the exercise yourself, you have to add --spoil, which prints the whole solution.`,
	}, func(command *cobra.Command, exercise exercises.Exercise) error {
		progress, err := exercises.ReadProgress(theRoot())
		if err != nil {
			return err
		}
		passing := progress.Of(exercise).Passing
		if !passing && !spoil {
			return problem.New("you haven't passed %s yet", exercise.Name()).
				ToDo("ask for a hint (./scripts/workshop hint %s); --spoil shows the solution anyway", exercise.Name())
		}
		if passing {
			diff, err := exercises.SolutionDiff(command.Context(), exercise, ui.Coloured(os.Stdout))
			if err == nil && diff != "" {
				command.Print(diff)
				return nil
			}
		}
		solution, err := exercises.Solution(exercise)
		command.Print(solution)
		return err
	})
	command.Flags().BoolVar(&spoil, "spoil", false, "show it even if you haven't passed")
	return command
}

func newResetCommand() *cobra.Command {
	return aboutOneExercise(&cobra.Command{
		Use:   "reset CHAPTER/K",
		Short: "Start an exercise again, and keep a copy of your work",
		Long: `Reset restores exercise.go from git, and keeps your version in .workshop/kept. Hints that you have seen stay
seen. You have to pass the exercise again, and a ticket asks for its cause again.`,
	}, func(command *cobra.Command, exercise exercises.Exercise) error {
		file := exercise.Path(exercises.ExerciseFile)
		changed, kept, err := exercises.Reset(command.Context(), theRoot(), exercise, time.Now())
		switch {
		case err != nil:
			return err
		case kept != "":
			command.Println(ui.Wrap(fmt.Sprintf("%s is restored, so %s isn't passed any more. Your version is kept: %s\n"+
				"Hints that you have seen stay seen.", file, exercise.Name(), kept)))
		case changed:
			command.Printf("%s was missing, and is restored.\n", file)
		default:
			command.Printf("%s hadn't been changed.\n", file)
		}
		return nil
	})
}
