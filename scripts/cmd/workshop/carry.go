package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

func newCarryCommand() *cobra.Command {
	var undo bool
	command := aboutOneExercise(&cobra.Command{
		Use:   "carry CHAPTER/K",
		Short: "Go on with your own code from an earlier exercise",
		Long: `Some exercises (02/5 to 06/5) continue the program of an earlier one. The functions that you wrote there are given here, in a
file of their own, so that everyone can go on. This command replaces them with your own versions, if these pass the earlier
exercise. If the program doesn't compile with them, nothing changes. The solution of the exercise uses the same file, so "run
--tdset" then runs your functions, too.

--undo restores the course's version.`,
	}, func(command *cobra.Command, exercise exercises.Exercise) error {
		all, err := exercise.Carries()
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			return problem.New("%s doesn't continue an earlier exercise", exercise.Name()).ToDo("the exercises that do are 02/5 to 06/5")
		case undo:
			return undoCarry(command, exercise)
		}
		open, err := exercises.ToCarry(command.Context(), theRoot(), exercise)
		if err != nil {
			return err
		}
		isOwn := func(c exercises.Carry) bool { return c.IsOwn(command.Context(), theRoot(), exercise) }
		if len(open) == 0 && slices.ContainsFunc(all, isOwn) {
			command.Printf("%s has your code already. To restore the course's: ./scripts/workshop carry %[1]s --undo\n", exercise.Name())
			return nil
		}
		if len(open) == 0 {
			return problem.New("there is nothing to carry over to %s", exercise.Name()).ToDo("pass %s first", froms(all))
		}
		for _, c := range open {
			if err := exercises.CarryOver(command.Context(), theRoot(), exercise, c); err != nil {
				return err
			}
			command.Printf("%s now has your %s from %s.\n", exercise.Path(c.To), strings.Join(c.Take, " and "), c.From)
		}
		command.Printf("Go on: ./scripts/workshop check %s\n", exercise.Name())
		return nil
	})
	command.Flags().BoolVar(&undo, "undo", false, "restore the course's version")
	command.Example = "  ./scripts/workshop carry 02/5\n  ./scripts/workshop carry 02/5 --undo"
	return command
}

func undoCarry(command *cobra.Command, exercise exercises.Exercise) error {
	restored, err := exercises.UndoCarry(command.Context(), theRoot(), exercise)
	for _, file := range restored {
		command.Printf("%s is the course's again.\n", exercise.Path(file))
	}
	if err == nil && len(restored) == 0 {
		command.Printf("%s has only the course's files.\n", exercise.Name())
	}
	return err
}

// froms names the exercises that work is carried over from.
func froms(all []exercises.Carry) string {
	var names []string
	for _, c := range all {
		names = append(names, c.From)
	}
	return strings.Join(names, ", ")
}
