package main

// workshop judge holds any operator to the contract.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/ui"
)

func newJudgeCommand() *cobra.Command {
	var file, output string
	var only []string
	command := &cobra.Command{
		Use:   "judge [-f judge.yaml] -- COMMAND [ARG...]",
		Short: "Judge any operator by the course's contract",
		Example: `  ./scripts/workshop judge -f judge.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}
  ./scripts/workshop judge --only quiet,drift -- ./my-operator --kubeconfig {kubeconfig}`,
		Args: func(command *cobra.Command, args []string) error {
			if command.ArgsLenAtDash() != 0 || len(args) == 0 {
				return errors.New("judge needs the operator's command after --, such as judge -f judge.yaml -- ./my-operator --kubeconfig {kubeconfig}")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			config, err := judge.Read(file)
			if err != nil {
				return err
			}
			checks, err := judge.Find(only...)
			if err != nil {
				return err
			}
			binary, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			if args[0], err = filepath.Abs(binary); err != nil {
				return err
			}
			c, err := ensureUp(command.Context())
			if err != nil {
				return err
			}
			target, err := cluster.RESTConfig(c)
			if err != nil {
				return err
			}
			show := ui.New(os.Stderr)
			results, err := judge.Run(command.Context(), judge.Options{
				Config: config, Command: args, Target: target, Kubectl: kubectlOn(c), Checks: checks,
				Progress: func(r judge.Result) {
					if r.Verdict != "" {
						show.Say("%s: %s", r.Check, r.Verdict)
					}
				},
			})
			if err != nil {
				return err
			}
			report := judge.Report{Version: "v1", Operator: filepath.Base(args[0]), Results: results}
			if output == "json" {
				encoder := json.NewEncoder(command.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(report)
			} else {
				report.WriteCard(command.OutOrStdout(), colours())
			}
			if err != nil {
				return err
			}
			if report.Count(judge.Found)+report.Count(judge.Failed) > 0 {
				return fmt.Errorf("%w", errReported)
			}
			return nil
		},
	}
	command.Flags().StringVarP(&file, "file", "f", "judge.yaml", "what the operator manages")
	command.Flags().StringVarP(&output, "output", "o", "", "json, instead of the card")
	command.Flags().StringSliceVar(&only, "only", nil, "only these checks")
	return command
}
