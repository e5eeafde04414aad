package main

// What comes before a chapter's program can be started: the cluster, the objects, the program's identity, the program.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/alone"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
	"example.com/operators/scripts/internal/webhooks"
)

// prepared is all that it takes to start a program.
type prepared struct {
	cluster    cluster.Backend
	config     *rest.Config // the administrator's
	kubectl    kubectl.Kubectl
	binary     string
	kubeconfig string // the program's, with no more permissions than its manifests grant
}

// prepare brings the cluster up, applies the program's manifests and examples, and builds it. The kubeconfig is the
// caller's to remove.
func prepare(ctx context.Context, root string, p program.Program) (*prepared, error) {
	c, err := ensureUp(ctx)
	if err != nil {
		return nil, err
	}
	k := kubectl.Kubectl{Binary: filepath.Join(controlplane.New(root).Bin, "kubectl"), Kubeconfig: c.Kubeconfig()}
	if err := alone.Check(ctx, root, c, k, p.Kind, "", os.Stderr); err != nil {
		return nil, err
	}
	// What a run that was killed has left would refuse the examples.
	if err := webhooks.Delete(ctx, k); err != nil {
		return nil, err
	}
	if err := p.Apply(ctx, k); err != nil {
		return nil, err
	}
	for _, file := range p.Examples {
		if _, err := k.Run(ctx, "apply", "-f", file); err != nil {
			return nil, err
		}
	}
	state := filepath.Join(root, ".workshop")
	binary, err := buildProgram(ctx, root, p)
	if err != nil {
		return nil, err
	}
	config, err := cluster.RESTConfig(c)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(state, fmt.Sprintf("run-%s-%d.kubeconfig", p.Name, os.Getpid()))
	if err := p.WriteKubeconfig(ctx, client, config, kubeconfig); err != nil {
		return nil, err
	}
	return &prepared{c, config, k, binary, kubeconfig}, nil
}

// buildProgram builds a program, and shows how far that is: the first time may take a minute. It returns the binary's path.
func buildProgram(ctx context.Context, root string, p program.Program) (binary string, err error) {
	return withStep("building "+p.Name, func(progress func(gobuild.Progress)) (string, error) {
		p.Progress = progress
		return p.Build(ctx, filepath.Join(root, ".workshop", "bin"))
	})
}

// withStep shows what is built by build, and how far it is, and returns the file's path.
func withStep(what string, build func(progress func(gobuild.Progress)) (string, error)) (path string, err error) {
	step := ui.New(os.Stderr).Start(what)
	path, err = build(func(p gobuild.Progress) { step.Update("%s", p) })
	if err != nil {
		step.Fail()
		return "", err
	}
	step.Drop()
	return path, nil
}
