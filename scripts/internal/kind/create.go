package kind

// Making the cluster.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	kind "sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
)

// create makes the cluster. What is left of one that was never finished goes first.
func (c *Cluster) create(ctx context.Context, docker engine, progress func(string)) error {
	if _, err := c.remove(ctx); err != nil {
		return err
	}
	if err := c.makeFolders(); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(c.logs(), "kind.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	progress("pulling the node image")
	if err := pull(ctx, c.image()); err != nil {
		return errors.Join(err, os.RemoveAll(c.dir))
	}
	config, err := c.config(docker)
	if err != nil {
		return err
	}
	progress("kind: creating the cluster")
	provider := c.provider(logger{w: log, progress: progress})
	created := make(chan error, 1)
	go func() {
		created <- provider.Create(c.KindName(),
			kind.CreateWithV1Alpha4Config(config),
			kind.CreateWithKubeconfigPath(c.Kubeconfig()),
			kind.CreateWithRetain(true), // for its logs
		)
	}()
	select {
	case err = <-created:
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.breakOff(created))
	}
	if err != nil {
		fmt.Fprintln(log, err)
		if run := kindexec.RunErrorForError(err); run != nil {
			fmt.Fprintf(log, "%s\n", run.Output)
		}
		_ = provider.CollectLogs(c.KindName(), c.logs()) // there may be no node yet
		err = explain(err, fmt.Sprintf("kind couldn't make the cluster %q", c.KindName()), c.logs())
		_, removeErr := c.remove(context.WithoutCancel(ctx))
		return errors.Join(err, removeErr)
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return err
	}
	return os.WriteFile(c.madeFile(), []byte(node.ID), 0o600)
}

// makeFolders makes the cluster's folder, and notes there that it is begun; and an empty one for the logs.
func (c *Cluster) makeFolders() error {
	if err := os.RemoveAll(c.logs()); err != nil {
		return err
	}
	for _, dir := range []string{c.logs(), c.dir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return os.WriteFile(c.madeFile(), nil, 0o600)
}

// breakOff ends the making of a cluster. kind can't be interrupted, but fails soon after its node is gone. That has to run first: what docker is
// still making doesn't always go when it is removed. What is mounted into it stays until the end: docker would make it anew, and not as ours.
func (c *Cluster) breakOff(created <-chan error) error {
	ctx := context.Background()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		if node, _, err := c.find(ctx); err == nil && node.State.Running {
			_, _ = c.removeNode(ctx) // tried again, until kind has ended
		}
		select {
		case <-created:
			_, err := c.remove(ctx)
			return err
		case <-again.C:
		}
	}
}
