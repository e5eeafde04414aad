package main

import (
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
)

func newDiffCommand() *cobra.Command {
	var onlyStat, tdset bool
	command := &cobra.Command{
		Use:   "diff A B | diff --stat all",
		Short: "Show what changes from one chapter to another, the lesson first",
		Long: `Diff shows with git what changes from chapter A to chapter B, in the best order for reading: first
the files with the lesson, then the other code, and finally the manifests that both have. A chapter's own
name, as in import paths, doesn't count as a difference, and a file that chapter B has moved is compared
with the original. Tests, texts, exercises, warm-ups, go.mod and generated code are left out. To see them all,
use "git diff --no-index".

On a terminal, git starts its pager, unless you set PAGER=cat.`,
		Example: `  ./scripts/workshop diff 01 02
  ./scripts/workshop diff 02 03 --stat
  ./scripts/workshop diff --stat all
  ./scripts/workshop diff --tdset 02 03`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 || onlyStat && len(args) == 1 && args[0] == "all" {
				return nil
			}
			return errors.New(`diff needs two chapters, such as "diff 01 02" (or "diff --stat all": the sizes of all)`)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if args[0] == "all" {
				return printSizes(command, tdset)
			}
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

func printSizes(command *cobra.Command, tdset bool) error {
	all, err := chapters.All(theRoot())
	if err != nil {
		return err
	}
	if tdset {
		all = chapters.TDSets(all)
	}
	counts, err := chapters.Count(command.Context(), all)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "CHAPTER\tFILES\tCODE\tTO READ\tREMOVED\tADDED\tNEW\tGONE")
	for _, c := range counts {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n",
			c.Name, c.Files, c.Code, c.ToRead(), c.Removed, c.Added, c.New, c.Gone)
	}
	fmt.Fprint(table, `
Lines of handwritten Go, without blank lines, tests, exercises, generated code and warm-ups. TO READ is
what you read if you come from the chapter before: the lines REMOVED and ADDED in files that both chapters
have, and all lines of NEW files, with their comments. GONE are the lines of files that the chapter before
had.
`)
	return table.Flush()
}
