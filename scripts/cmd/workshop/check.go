package main

// workshop check: the tests of exercises, run once.

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/ui"
)

func newCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [CHAPTER[/K]]",
		Short: "Check your work on the exercises",
		Long: `Check runs the tests of an exercise, or of all in a chapter, and says which promise isn't kept yet, what was expected, and
where in your file to look. Without an argument it checks the first exercise that isn't passed. What you pass is
remembered ("progress"). Its exit code is 0 if all that it checked passed.

Some tests ask a cluster: they are left out while yours isn't up.`,
		Example: `  ./scripts/workshop check
  ./scripts/workshop check 01/1
  ./scripts/workshop check 01`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			root, found, err := findExercises(args)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				open, ok, err := firstOpen(root, found)
				if err != nil {
					return err
				}
				if !ok {
					command.Printf("%s\n", nothingOpen(found))
					return nil
				}
				found = []exercises.Exercise{open}
			}
			return checkAll(command, root, found)
		},
	}
}

// checkAll checks one exercise after the other and shows what came of each.
func checkAll(command *cobra.Command, root string, found []exercises.Exercise) error {
	checker := exercises.Checker{Root: root, Env: clusterForTests}
	show := ui.New(os.Stderr)
	passed := 0
	var verdict exercises.Verdict
	for i, exercise := range found {
		if i > 0 {
			command.Println()
		}
		step := show.Start("checking " + exercise.Path("exercise.go"))
		var err error
		verdict, err = checker.Check(command.Context(), exercise)
		step.Drop()
		if verdict.Exercise == exercise { // it was checked, even if that can't be remembered
			if err := verdict.Print(command.OutOrStdout(), ui.Coloured(os.Stdout)); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		if verdict.Outcome == exercises.Passed {
			passed++
		}
	}
	if len(found) > 1 {
		command.Printf("\n%d of %d passed.\n", passed, len(found))
	} else if err := advise(command, root, verdict); err != nil {
		return err
	}
	if passed < len(found) {
		return errReported
	}
	return nil
}

func advise(command *cobra.Command, root string, verdict exercises.Verdict) error {
	all, err := exercises.All(root)
	if err != nil {
		return err
	}
	advice, err := verdict.Advice(root, all)
	if err != nil {
		return err
	}
	command.Printf("\n%s\n", advice)
	return nil
}
