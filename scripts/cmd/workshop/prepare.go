package main

// Everything that run and faults need before they can start a chapter's program.

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/deploy"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

type prepared struct {
	cluster    cluster.Backend
	config     *rest.Config // the administrator's
	kubectl    cluster.Kubectl
	binary     string
	dir        string   // for temporary files while the program runs; the caller removes it
	kubeconfig string   // the program's, with no more permissions than its manifests grant
	examples   []string // to apply when the program converts objects between versions
}

// prepare starts the cluster, applies the program's manifests and examples, and builds the program.
func prepare(ctx context.Context, p program.Program) (*prepared, error) {
	c, err := ensureUp(ctx)
	if err != nil {
		return nil, err
	}
	k := kubectlOn(c)
	if err := deploy.CheckOthers(ctx, c, k, p.Kind, "", os.Stderr); err != nil {
		return nil, err
	}
	// Webhooks that a killed run has left would reject the examples.
	if err := program.DeleteWebhooks(ctx, k); err != nil {
		return nil, err
	}
	if err := p.Apply(ctx, k); err != nil {
		return nil, err
	}
	var later []string
	for _, file := range p.Examples {
		switch _, err := k.Run(ctx, "apply", "-f", file); {
		case cluster.NeedsConversion(err):
			later = append(later, file)
		case err != nil:
			return nil, err
		}
	}
	binary, err := buildProgram(ctx, p)
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
	dir, err := os.MkdirTemp(filepath.Join(theRoot(), ".workshop"), "run-"+p.Name+"-")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := operator.WriteKubeconfig(ctx, client, config, p.Namespace, p.ServiceAccount, kubeconfig); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &prepared{c, config, k, binary, dir, kubeconfig, later}, nil
}

// buildProgram shows the progress, because a first build may take a minute.
func buildProgram(ctx context.Context, p program.Program) (binary string, err error) {
	err = ui.New(os.Stderr).While("building "+p.Name, func(step *ui.Step) (string, error) {
		p.Progress = func(done gobuild.Progress) { step.Update("%s", done) }
		binary, err = p.Build(ctx, filepath.Join(theRoot(), ".workshop", "bin"))
		return "", err
	})
	return binary, err
}
