package main

// workshop catch-up puts solutions in place for learners who have fallen behind, and restores their
// own work.

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

// reloadAdvice is for learners whose editor would overwrite the new file with its old text.
const reloadAdvice = "These files have changed, so reload them in your editor."

func newCatchUpCommand() *cobra.Command {
	var restore bool
	var agenda string
	command := &cobra.Command{
		Use:   "catch-up CHAPTER[/K] | --restore [CHAPTER[/K]]",
		Short: "Fill in the solutions up to an exercise, and keep a copy of your work",
		Long: `Catch-up is for learners who have fallen behind in a workshop. It replaces all exercises from the first one to CHAPTER/K, or to
the last one of CHAPTER, by the course's solutions, except those that you have passed. Your files are kept in
.workshop/kept. "progress" lists these exercises as caught up, not as solved.

With --agenda, it leaves out the exercises that the workshop skips, so that you can still solve them at home.

With --restore, you get your files back. If you have changed a solution, it stays, unless you name its exercise. Then your
changed solution is kept, too.`,
		Example: `  ./scripts/workshop catch-up 02/1
  ./scripts/workshop catch-up 02/1 --agenda 1day
  ./scripts/workshop catch-up --restore`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 && !restore {
				return errors.New("up to which exercise? Name it by chapter and number, such as 02/1, or use --restore")
			}
			return cobra.MaximumNArgs(1)(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if restore {
				return restoreKept(command, args)
			}
			return catchUp(command, args, agenda)
		},
	}
	command.Flags().StringVar(&agenda, "agenda", "", "leave out exercises that this timetable (90m, 3h or 1day) doesn't have")
	command.Flags().BoolVar(&restore, "restore", false, "restore what was kept")
	return command
}

func catchUp(command *cobra.Command, args []string, agenda string) error {
	named, err := findExercises(args)
	if err != nil {
		return err
	}
	all, err := exercises.All(theRoot())
	if err != nil {
		return err
	}
	last := named[len(named)-1]
	upTo := all[:1+slices.Index(all, last)]
	if agenda != "" {
		page, err := exercises.Agenda(theRoot())
		if err != nil {
			return err
		}
		timetable, err := exercises.Timetable(page, agenda)
		if err != nil {
			return err
		}
		upTo, all = exercises.InTimetable(timetable, upTo), exercises.InTimetable(timetable, all)
		if len(upTo) == 0 {
			return problem.New("the timetable %s has no exercise up to %s", agenda, last.Name()).ToDo("see ./scripts/workshop agenda %s", agenda)
		}
		last = upTo[len(upTo)-1]
	}
	moves, err := exercises.CatchUp(command.Context(), theRoot(), upTo, time.Now())
	out := command.OutOrStdout()
	printMoves(out, moves)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nYou are caught up to %s.", last.Name())
	if has(moves, exercises.MoveSolved) {
		fmt.Fprint(out, " To get back what was there before: ./scripts/workshop catch-up --restore\n"+reloadAdvice)
	}
	progress, err := exercises.ReadProgress(theRoot())
	if err != nil {
		return err
	}
	if next, found := exercises.NextOpen(all, last, progress); found {
		fmt.Fprintf(out, "\nThe next: %s %s, %s", next.Name(), next.Title, next.Path("README.md"))
	}
	fmt.Fprintln(out)
	return nil
}

func restoreKept(command *cobra.Command, args []string) error {
	named, err := findExercises(args)
	if err != nil {
		return err
	}
	one := len(args) == 1 && len(named) == 1 // it is named, or the only one of a chapter
	moves, err := exercises.Restore(command.Context(), theRoot(), named, one, time.Now())
	out := command.OutOrStdout()
	printMoves(out, moves)
	switch {
	case err != nil:
		return err
	case len(moves) == 0:
		fmt.Fprintln(out, "There is nothing to restore.")
	case has(moves, exercises.MoveRestored):
		fmt.Fprintln(out, "\n"+reloadAdvice)
	}
	if has(moves, exercises.MoveChanged) {
		fmt.Fprintln(out, "\nTo restore yours anyway, name the exercise: ./scripts/workshop catch-up --restore CHAPTER/K")
	}
	return nil
}

func printMoves(w io.Writer, moves []exercises.Move) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, move := range moves {
		fmt.Fprintf(table, "%s\t%s\t%s\n", move.Exercise.Name(), move.Exercise.Title, move)
	}
	_ = table.Flush() // as with every print here, there is nobody to report an error to
}

func has(moves []exercises.Move, done exercises.MoveKind) bool {
	return slices.ContainsFunc(moves, func(m exercises.Move) bool { return m.Done == done })
}
