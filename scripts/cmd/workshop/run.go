package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
)

func newRunCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "run CHAPTER [-- FLAG...]",
		Short: "Run a chapter's program in the foreground, until Ctrl-C",
		Long: `Run brings the cluster up, applies the chapter's CRD, permissions and example Foo, and runs its program with no more
permissions than its rbac.yaml grants. Flags after -- are the program's.`,
		Example: `  ./scripts/workshop run 01
  ./scripts/workshop run 01 -- --trace`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return fmt.Errorf("one chapter, please; the program's own flags come after --")
			}
			return runChapter(command, args[0], args[1:])
		},
	}
}

func runChapter(command *cobra.Command, name string, flags []string) error {
	ctx := command.Context()
	root, err := findRoot()
	if err != nil {
		return err
	}
	chapter, err := oneChapter(root, []string{name})
	if err != nil {
		return err
	}
	c, err := ensureUp(ctx)
	if err != nil {
		return err
	}
	k := kubectl.Kubectl{Binary: filepath.Join(controlplane.New(root).Bin, "kubectl"), Kubeconfig: c.Kubeconfig()}
	if err := k.ApplyChapter(ctx, chapter.Manifest("")); err != nil {
		return err
	}
	if _, err := k.Run(ctx, "apply", "-f", chapter.Manifest("foo.yaml")); err != nil {
		return err
	}

	config, err := c.RESTConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	state := filepath.Join(root, ".workshop")
	kubeconfig := filepath.Join(state, fmt.Sprintf("run-%s-%d.kubeconfig", chapter.Number(), os.Getpid()))
	if err := program.WriteKubeconfig(ctx, client, config, program.Namespace, kubeconfig); err != nil {
		return err
	}
	defer os.Remove(kubeconfig)
	binary, err := program.Build(ctx, chapter, filepath.Join(state, "bin"))
	if err != nil {
		return err
	}

	fmt.Fprintf(os.Stderr, "Running %s on cluster %q as %s/%s. Ctrl-C ends it.\n", chapter.Name, c.Name, program.Namespace, program.ServiceAccount)
	running := exec.CommandContext(ctx, binary, append([]string{"--kubeconfig", kubeconfig}, flags...)...)
	running.Stdout, running.Stderr = os.Stdout, os.Stderr
	running.Cancel = func() error { return running.Process.Signal(os.Interrupt) }
	err = running.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C is how this ends
	case errors.As(err, &exit):
		return fmt.Errorf("%s ended: %w", chapter.Name, err)
	}
	return err
}
