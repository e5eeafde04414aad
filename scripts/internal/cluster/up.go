package cluster

// Up finds out the cluster's state, and how to get it ready. start.go does the work.

import (
	"context"
	"fmt"

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
	release, err := process.Lock(ctx, c.state, func(holder string) { progress("waiting for " + holder) })
	if err != nil {
		return "", err
	}
	defer release()
	running, err := c.running(ctx)
	if err != nil {
		return "", err
	}
	if !c.Exists() {
		return Created, c.create(ctx, running, progress)
	}
	components, err := c.components()
	if err != nil {
		return "", err
	}
	outcome := Started
	if len(running) == len(components) {
		outcome = AlreadyUp
	}
	progress("waiting for the API server")
	if err := c.startMissing(ctx, running, components); err != nil {
		return "", err
	}
	return outcome, c.wait(ctx, "kwok-controller", IsWhole)
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
