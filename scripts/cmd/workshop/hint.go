package main

import (
	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
)

func newHintCommand() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "hint CHAPTER/K",
		Short: "Show the next hint for an exercise",
		Long: `Hint shows one hint more each time: first a nudge, then an approach, then nearly the answer. It remembers how many you
have seen.`,
		Example: `  ./scripts/workshop hint 01/1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			exercise, err := exercises.FindOne(theRoot(), args[0])
			if err != nil {
				return err
			}
			hint, err := exercises.NextHint(command.Context(), theRoot(), exercise, all, colours())
			command.Print(hint)
			return err
		},
	}
	command.Flags().BoolVar(&all, "all", false, "show all of them")
	return command
}
