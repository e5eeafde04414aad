package cluster

// Up finds out the cluster's state, and how to get it ready. start.go does the work.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

type Outcome string

const (
	Created   Outcome = "created"
	Started   Outcome = "started" // it existed, and a part of it was down
	AlreadyUp Outcome = "already up"
)

// Up creates the cluster or starts the parts that are down, and returns when API server,
// controllers and nodes are ready. It keeps the data, except of an unfinished cluster. Several
// callers may call it at once, and after an interrupt, the next call continues.
func (c *Cluster) Up(ctx context.Context, progress func(doing string)) (Outcome, error) {
	if err := CheckName(c.name); err != nil {
		return "", err
	}
	release, err := process.Lock(ctx, c.state, func(holder string) { progress("waiting for " + holder) })
	if err != nil {
		return "", err
	}
	defer release()
	running, err := c.running(ctx)
	if err != nil {
		return "", err
	}
	components, err := c.components()
	switch {
	case !c.Exists() || errors.Is(err, fs.ErrNotExist):
		progress("creating the cluster")
		if err := c.create(ctx, running); err != nil {
			return "", err
		}
		progress("waiting for the nodes")
		if err := c.createNodes(ctx); err != nil {
			return "", err
		}
		return Created, os.WriteFile(c.madeFile(), []byte(c.dir), 0o600)
	case err != nil:
		return "", err
	case runAll(components, running):
		progress("waiting for the API server")
		return AlreadyUp, c.wait(ctx, "kube-apiserver", IsWhole)
	default:
		progress("starting the cluster")
		if err := c.start(ctx, running, components); err != nil {
			return "", err
		}
		return Started, c.wait(ctx, "kwok-controller", IsWhole)
	}
}

// runAll reports whether every component runs, with the present executable.
func runAll(components []component, running map[string]program) bool {
	return !slices.ContainsFunc(components, func(c component) bool {
		p, runs := running[c.name]
		return !runs || p.replaced
	})
}

// UpShown starts a cluster, and shows the progress.
func UpShown(ctx context.Context, show *ui.UI, c Backend) (outcome Outcome, err error) {
	what := fmt.Sprintf("cluster %q", c.Name())
	err = show.While(what, func(step *ui.Step) (done string, err error) {
		outcome, err = c.Up(ctx, func(doing string) { step.Update("%s", doing) })
		if outcome != AlreadyUp {
			done = fmt.Sprintf("%s %s", what, outcome)
		}
		return done, err
	})
	return outcome, err
}
