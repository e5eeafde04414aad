package main

import (
	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/demo"
)

func newDemoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo [CHAPTER]",
		Short: "Watch an operator at work: a guided tour on a real API server",
		Long: `Demo brings the cluster up, starts a chapter's program on it, and does what happens every day: create, scale,
interfere, delete. After each step it shows the objects and the API requests that the program sent. Its exit code is
0 if every step worked. Without a chapter it shows the first one. It uses the namespace "demo", which it deletes at
the end.`,
		Example: `  ./scripts/workshop demo
  ./scripts/workshop demo 07`,
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
			tour := demo.Demo{
				Root: theRoot(), Chapter: chapter, Cluster: c, Build: buildProgram, Out: command.OutOrStdout(),
			}
			return tour.Run(command.Context())
		},
	}
}
