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
	var stat, everything, plain, tdset bool
	command := &cobra.Command{
		Use:   "diff A B | diff --stat all",
		Short: "Show what changes from one chapter to another, the lesson first",
		Long: `Diff shows what changes from chapter A to chapter B, in the best order for reading: the lesson's file, the other changed
files, the deleted ones, and finally the new ones. A chapter's own name, as in import paths, doesn't count as a
difference. go.mod, texts and generated code are left out. With --all you also see tests, exercises, the lines of deleted
files, and programs that only one of the two chapters has.

With --tdset it compares the solutions of the chapters' last exercise, TDSet.

On a terminal it uses the same pager as git.`,
		Example: `  ./scripts/workshop diff 01 02
  ./scripts/workshop diff 02 03 --stat
  ./scripts/workshop diff --stat all
  ./scripts/workshop diff --tdset 02 03`,
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
			if tdset && args == nil {
				found = chapters.TDSets(found)
			} else if tdset {
				for i := range found {
					if found[i], err = solvedTDSet(found[i]); err != nil {
						return err
					}
				}
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
	command.Flags().BoolVar(&everything, "all", false, "include tests, exercises, deleted lines, and programs that only one chapter has")
	command.Flags().BoolVar(&plain, "no-pager", false, "print everything at once, as PAGER=cat does")
	addTDSetFlag(command, &tdset)
	return command
}
