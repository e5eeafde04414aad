package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
)

func newProgressCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "progress",
		Short: "Show which exercises you have passed",
		Long: `Progress lists all exercises: which are passed, as of their last check, how many hints you have seen, and where the
course's solution is in place of your work ("catch-up").`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, args []string) error {
			all, err := exercises.All(theRoot())
			if err != nil {
				return err
			}
			progress, err := exercises.ReadProgress(theRoot())
			if err != nil {
				return err
			}
			overview := exercises.NewOverview(all, progress)
			if asJSON {
				encoder := json.NewEncoder(command.OutOrStdout())
				encoder.SetIndent("", "  ")
				return encoder.Encode(overview)
			}
			command.Print(overview.Text(colours()))
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "as JSON, for other programs")
	return command
}
