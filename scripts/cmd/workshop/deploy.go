package main

import (
	"os"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

func newDeployCommand() *cobra.Command {
	var remove, tdset bool
	command := &cobra.Command{
		Use:   "deploy CHAPTER",
		Short: "Run a chapter's program as Pods of a kind cluster",
		Long: `Deploy builds an image of a chapter's program (a static binary and nothing else, not root), loads it onto the
node of the kind cluster, applies the chapter's manifests, and waits until the program's Pods are ready. It needs
docker, and prints each command that you would type yourself. Chapters 03 and later can be deployed. For the webhooks
of 06 and 07, deploy makes the certificate. With --remove it deletes everything again, including the CRD and its
objects. With --tdset it deploys the solution of the chapter's last exercise, TDSet (03 to 06).`,
		Example: `  ./scripts/workshop up --kind
  ./scripts/workshop deploy 03
  ./scripts/workshop deploy 03 --remove
  ./scripts/workshop deploy 03 --tdset`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			chapter, err := oneProgram(args, tdset)
			if err != nil {
				return err
			}
			p, err := program.Deployable(chapter)
			if err != nil {
				return err
			}
			c, err := ofKind()
			if err != nil {
				return err
			}
			if err := bringUp(command.Context(), c); err != nil {
				return err
			}
			d := program.Deployment{
				Program: p, Root: theRoot(), Cluster: c, Kubectl: cluster.KubectlFor(theRoot(), c),
				Out: command.OutOrStdout(), UI: ui.New(os.Stderr),
			}
			if remove {
				return d.Remove(command.Context())
			}
			return d.Install(command.Context())
		},
	}
	command.Flags().BoolVar(&remove, "remove", false, "delete it again, with the CRD and its objects")
	addTDSetFlag(command, &tdset)
	return command
}

// ofKind returns an error unless the cluster is an existing kind cluster.
func ofKind() (*kind.Cluster, error) {
	made, yes := theCluster().(*kind.Cluster)
	if !yes || !made.Exists() {
		return nil, problem.New("deploy needs a kind cluster: simulated nodes run no containers").
			ToDo("./scripts/workshop up --kind, and leave out --on kwok")
	}
	return made, nil
}
