package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func newCheckCommand() *cobra.Command {
	var everything bool
	var cause int
	command := &cobra.Command{
		Use:   "check [CHAPTER[/K]]",
		Short: "Check your work on the exercises",
		Long: `Check runs the tests of an exercise, or of every exercise in a chapter. For each test that fails it shows
what was expected, and where to look in your file. If many fail, it shows the first few, so that you can take one step
at a time. --all shows all of them in full. Without an argument it checks the first exercise that you haven't passed.
It remembers which exercises you have passed ("progress"). Its exit code is 0 if everything that it checked passed.

Some tests need a cluster. They are skipped while yours isn't up.

A ticket is an exercise that begins with a symptom. Check first asks for the cause. Once you have named it with --cause,
check runs the tests of your fix.`,
		Example: `  ./scripts/workshop check
  ./scripts/workshop check 01/1
  ./scripts/workshop check 01
  ./scripts/workshop check 03/7 --cause 2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				open, ok, err := exercises.NextOpen(theRoot(), found, exercises.Exercise{})
				if err != nil {
					return err
				}
				if !ok {
					command.Println(ui.Wrap(fmt.Sprintf("No exercise is open: all %d are passed. "+
						"To check one again, name it, such as 01/1.", len(found))))
					return nil
				}
				found = []exercises.Exercise{open}
			}
			if command.Flags().Changed("cause") {
				if err := nameCause(command, found, cause); err != nil {
					return err
				}
			}
			return checkAll(command.Context(), command, found, everything)
		},
	}
	command.Flags().BoolVar(&everything, "all", false, "show the whole output of each failing test")
	command.Flags().IntVar(&cause, "cause", 0, "the number of your answer to a ticket's question")
	return command
}

// nameCause answers a ticket's question, and says why the answer is right or wrong.
func nameCause(command *cobra.Command, found []exercises.Exercise, number int) error {
	if len(found) > 1 {
		return problem.New("--cause answers the question of one ticket").ToDo("name the ticket as well, such as 03/7")
	}
	answer, err := exercises.NameCause(theRoot(), found[0], number)
	if err != nil {
		return err
	}
	if !answer.Right {
		command.Println(ui.Wrap("That isn't the cause. " + answer.Because))
		return problem.ErrReported
	}
	command.Println(ui.Wrap("Yes. "+answer.Because) + "\n")
	return nil
}

func theChecker() verdict.Checker { return verdict.Checker{Root: theRoot(), Env: clusterForTests} }

func checkAll(ctx context.Context, command *cobra.Command, found []exercises.Exercise, everything bool) error {
	show := ui.New(os.Stderr)
	passed := 0
	for i, exercise := range found {
		if i > 0 {
			command.Println()
		}
		step := show.Start("checking " + exercise.Path(exercises.ExerciseFile))
		checker := theChecker()
		checker.Compiling = func(packages int) { step.Update("%s", verdict.Left(packages)) }
		v, err := checker.Check(ctx, exercise)
		step.Drop()
		if v.Exercise == exercise { // it was checked, even if that can't be remembered
			command.Print(v.Text(colours(), everything))
		}
		if err == nil && len(found) == 1 {
			err = advise(command, v)
		}
		if err != nil {
			return err
		}
		if v.Outcome == verdict.Passed {
			passed++
		}
	}
	if len(found) > 1 {
		command.Printf("\n%d of %d passed.\n", passed, len(found))
	}
	if passed < len(found) {
		return problem.ErrReported
	}
	return nil
}

// advise says what to do next.
func advise(command *cobra.Command, v verdict.Verdict) error {
	all, err := exercises.All(theRoot())
	if err != nil {
		return err
	}
	advice, err := v.Advice(theRoot(), all)
	if err != nil {
		return err
	}
	command.Printf("\n%s\n", advice)
	return nil
}
