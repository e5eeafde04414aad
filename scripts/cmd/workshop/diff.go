package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
)

func newDiffCommand() *cobra.Command {
	var onlyStat, tdset bool
	command := &cobra.Command{
		Use:   "diff A B",
		Short: "Show what changes from one chapter to another, the lesson first",
		Long: `Diff shows with git what changes from chapter A to chapter B, in the best order for reading: first
the files with the lesson, then the other code, and finally the manifests that both have. A chapter's own
name, as in import paths, doesn't count as a difference, and a file that chapter B has moved is compared
with the original. Tests, texts, exercises, warm-ups, go.mod and generated code are left out. To see them all,
use "git diff --no-index".

On a terminal, git starts its pager, unless you set PAGER=cat.`,
		Example: `  ./scripts/workshop diff 01 02
  ./scripts/workshop diff 02 03 --stat
  ./scripts/workshop diff --tdset 02 03`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New(`diff needs two chapters, such as "diff 01 02"`)
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			found, err := chapters.Find(theRoot(), args...)
			if err != nil {
				return err
			}
			for i := range found {
				if tdset {
					if found[i], err = solvedTDSet(found[i]); err != nil {
						return err
					}
				}
			}
			return chapters.Diff(command.Context(), os.Stdout, found[0], found[1], onlyStat)
		},
	}
	command.Flags().BoolVar(&onlyStat, "stat", false, "count the lines instead of showing them")
	addTDSetFlag(command, &tdset)
	return command
}
