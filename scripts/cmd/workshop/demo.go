package main

import (
	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/program"
)

func newDemoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [CHAPTER]",
		Short: "Watch an operator at work: a guided tour on a real API server",
		Long: `Demo brings the cluster up, starts a chapter's program on it, and does to it what users and accidents do: create,
scale, interfere, delete. After each step it shows the objects and the API requests that the program made. It exits
with 0 only if every step held. Without a chapter it shows the first one.

It takes place in the namespace "demo" (07: "temp", the sample's), and deletes that in the end. If there are Foos or TDSets in it that
no tour has made, such as those of run, it doesn't begin.`,
		Example: `  ./scripts/workshop demo
  ./scripts/workshop demo 01`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			chapter, err := oneChapter(args)
			if err != nil {
				return err
			}
			c, err := ensureUp(command.Context())
			if err != nil {
				return err
			}
			p, err := program.OfChapter(chapter)
			if err != nil {
				return err
			}
			if _, err := buildProgram(command.Context(), p); err != nil {
				return err // the tour builds it as well, with nothing left to do
			}
			tour := demo.Demo{Root: theRoot(), Bin: controlplane.New(theRoot()).Bin, Chapter: chapter, Cluster: c, Out: command.OutOrStdout()}
			return tour.Run(command.Context())
		},
	}
}

// oneChapter returns the chapter that args name, or the first one if args is empty.
func oneChapter(args []string) (chapters.Chapter, error) {
	found, err := chapters.Find(theRoot(), args...)
	if err != nil {
		return chapters.Chapter{}, err
	}
	return found[0], nil
}
