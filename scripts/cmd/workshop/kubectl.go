package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"
)

func newKubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ...",
		Short:              "Run the pinned kubectl on the cluster",
		Example:            `  ./scripts/workshop kubectl get pods --all-namespaces`,
		DisableFlagParsing: true, // all flags are kubectl's
		RunE: func(command *cobra.Command, args []string) error {
			c := theCluster()
			if up, err := c.Serves(command.Context()); err != nil || !up {
				return cmp.Or(err, notUp(c))
			}
			k := kubectlOn(c)
			kubectl := exec.Command(k.Binary, args...)
			kubectl.Env = append(os.Environ(), k.Environment()...)
			// kubectl takes this process's place, so that terminals, pipes and signals are its own.
			err := syscall.Exec(k.Binary, append([]string{"kubectl"}, args...), kubectl.Environ())
			return fmt.Errorf("running %s: %w", k.Binary, err)
		},
	}
}
