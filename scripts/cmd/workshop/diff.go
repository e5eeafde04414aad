package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/ui"
)

func newDiffCommand() *cobra.Command {
	var stat, everything, plain bool
	command := &cobra.Command{
		Use:   "diff A B | diff --stat all",
		Short: "Show what changes from one chapter to another, the lesson first",
		Long: `Diff shows what changes from chapter A to chapter B, in the order in which it is best read: the lesson's file, the other
files that changed, what is gone, and at last what is new. Where a chapter says its own name, as in import paths, that
is no difference. Left out are go.mod, texts and generated code. With --all you also see tests, exercises, the lines of
what is gone, and programs that only one of the two has.

On a terminal the pager that git uses shows it.`,
		Example: `  ./scripts/workshop diff 01 02
  ./scripts/workshop diff 02 03 --stat
  ./scripts/workshop diff --stat all`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 || stat && len(args) == 1 && args[0] == "all" {
				return nil
			}
			return errors.New(`diff needs two chapters, such as "diff 01 02" (or "diff --stat all": the sizes of all)`)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if args[0] == "all" {
				args = nil
			}
			found, err := chapters.Find(theRoot(), args...)
			if err != nil {
				return err
			}
			if args == nil {
				return chapterdiff.Budgets(command.OutOrStdout(), found)
			}
			diff, err := chapterdiff.Compare(found[0], found[1], everything)
			if err != nil {
				return err
			}
			if stat {
				return diff.Stat(command.OutOrStdout())
			}
			print := func(w io.Writer) error { return diff.Print(w, ui.Coloured(os.Stdout)) }
			if plain {
				return print(os.Stdout)
			}
			return ui.Paged(os.Stdout, print)
		},
	}
	command.Flags().BoolVar(&stat, "stat", false, "count the lines instead of showing them")
	command.Flags().BoolVar(&everything, "all", false, "also tests, exercises, the lines of what is gone, and programs that only one chapter has")
	command.Flags().BoolVar(&plain, "no-pager", false, "print all at once, as PAGER=cat does")
	return command
}
