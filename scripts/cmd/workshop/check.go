package main

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/exercises/watch"
	"example.com/operators/scripts/internal/ui"
)

func newCheckCommand() *cobra.Command {
	var everything bool
	command := &cobra.Command{
		Use:   "check [CHAPTER[/K]]",
		Short: "Check your work on the exercises",
		Long: `Check runs the tests of an exercise, or of every exercise in a chapter. For each test that fails it shows what was
expected, and where to look in your file. If more than three fail, it shows only the first line of each, unless you add
--all. Without an argument it checks the first exercise that you haven't passed. It remembers which exercises you have
passed ("progress"). Its exit code is 0 if everything that it checked passed.

Some tests need a cluster. They are skipped while yours isn't up.`,
		Example: `  ./scripts/workshop check
  ./scripts/workshop check 01/1
  ./scripts/workshop check 01`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				open, ok, err := firstOpen(found)
				if err != nil {
					return err
				}
				if !ok {
					command.Println(nothingOpen(found))
					return nil
				}
				found = []exercises.Exercise{open}
			}
			return checkAll(command, found, everything)
		},
	}
	command.Flags().BoolVar(&everything, "all", false, "show the whole output of each failing test")
	return command
}

func checkAll(command *cobra.Command, found []exercises.Exercise, everything bool) error {
	checker := verdict.Checker{Root: theRoot(), Env: clusterForTests}
	show := ui.New(os.Stderr)
	passed := 0
	for i, exercise := range found {
		if i > 0 {
			command.Println()
		}
		step := show.Start("checking " + exercise.Path(exercises.ExerciseFile))
		v, err := checker.Check(command.Context(), exercise)
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
		return errReported
	}
	return nil
}

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

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [CHAPTER[/K]]",
		Short: "Check an exercise each time you save it",
		Long: `Watch checks an exercise, and checks it again each time that you save it. It begins with the exercise that you name, or
with the first one that you haven't passed, in all chapters or in one. Keys: h shows a hint, l lists all exercises, n goes
to the next one that you haven't passed, c checks again, q quits.`,
		Example: `  ./scripts/workshop watch
  ./scripts/workshop watch 01/1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				command.Println(nothingOpen(found))
				return nil
			}
			start, open, err := firstOpen(found)
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
			return watch.Watch{
				Checker:   verdict.Checker{Root: theRoot(), Env: clusterForTests},
				Terminal:  terminal,
				Exercises: found,
				Start:     start,
			}.Run(command.Context())
		},
	}
}
