package main

// workshop kubectl: the pinned kubectl, on the workshop's cluster alone.

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/controlplane"
)

func newKubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ...",
		Short:              "Run the pinned kubectl on the cluster",
		Example:            `  ./scripts/workshop kubectl get pods --all-namespaces`,
		DisableFlagParsing: true, // all flags are kubectl's
		RunE: func(command *cobra.Command, args []string) error {
			root, c, err := theWorkspace()
			if err != nil {
				return err
			}
			if up, err := c.Serves(command.Context()); err != nil || !up {
				return cmp.Or(err, notUp(c))
			}
			builder := controlplane.New(root)
			kubectl := filepath.Join(builder.Bin, "kubectl")
			// kubectl takes this process's place, so that terminals, pipes and signals are its own.
			err = syscall.Exec(kubectl, append([]string{"kubectl"}, args...), kubectlEnvironment(c, builder.State))
			return fmt.Errorf("running %s: %w", kubectl, err)
		},
	}
}

// kubectlEnvironment points kubectl to the cluster, and away from what it else keeps below ~/.kube: caches, preferences.
func kubectlEnvironment(c cluster.Backend, state string) []string {
	ours := []string{
		"KUBECONFIG=" + c.Kubeconfig(),
		"KUBECACHEDIR=" + filepath.Join(state, "kubectl-cache"),
		"KUBERC=off",
	}
	theirs := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(ours, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(theirs, ours...)
}
