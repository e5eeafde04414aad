package main

// workshop schedule builds and runs scripts/schedule, which knows chapter 07's rules.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/ui"
)

func newScheduleCommand() *cobra.Command {
	var from string
	command := &cobra.Command{
		Use:   "schedule FILE",
		Short: "Show how a TDSet will scale over a week, without a cluster",
		Long: `Schedule prints the replicas that the TDSets in a file ask for in the coming week, by chapter 07's rules: by day and hour,
with transitions and clock changes. It warns about what the author may not have meant, such as hours outside of all
windows, and names the field if a TDSet is invalid. It needs no cluster.

FILE is YAML, or - for standard input. Other objects in it are skipped.`,
		Example: `  ./scripts/workshop schedule 07-tdset-operator/config/samples/schedule_v1_tdset.yaml
  ./scripts/workshop schedule --from 2026-03-26 tdset.yaml
  ./scripts/workshop kubectl get tds -A -o yaml | ./scripts/workshop schedule -`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			binary, err := buildSchedule(command.Context())
			if err != nil {
				return err
			}
			args = []string{"--", args[0]}
			if from != "" {
				args = append([]string{"-from", from}, args...)
			}
			// It runs in the user's working directory, so that relative file names work.
			schedule := exec.CommandContext(command.Context(), binary, args...)
			schedule.Stdin, schedule.Stdout, schedule.Stderr = command.InOrStdin(), command.OutOrStdout(), command.ErrOrStderr()
			err = schedule.Run()
			var exit *exec.ExitError
			switch {
			case command.Context().Err() != nil:
				return command.Context().Err()
			case errors.As(err, &exit) && exit.Exited():
				return errReported
			}
			return err
		},
	}
	command.Flags().StringVar(&from, "from", "", "the week's first day, such as 2026-03-26 (default: today, in each TDSet's zone)")
	return command
}

func buildSchedule(ctx context.Context) (binary string, err error) {
	binary = filepath.Join(theRoot(), ".workshop", "bin", "schedule")
	return binary, ui.New(os.Stderr).While("building schedule", func(step *ui.Step) (string, error) {
		return "", gobuild.Build{
			What:     "schedule, with chapter 07's rules,",
			Dir:      filepath.Join(theRoot(), "scripts", "schedule"),
			Args:     []string{"-o", binary, "."},
			Progress: func(done gobuild.Progress) { step.Update("%s", done) },
		}.Run(ctx)
	})
}
