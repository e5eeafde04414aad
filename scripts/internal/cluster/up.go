package cluster

// Up finds out the cluster's state, and how to get it ready. start.go does the work.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/ui"
)

type UpOptions struct {
	Nodes    int          // simulated nodes; 0: as many as there are, or DefaultNodes in a new cluster
	Progress func(string) // called with the present step; may be nil
}

type Outcome string

const (
	Created   Outcome = "created"
	Started   Outcome = "started" // it existed, and a part of it was down
	AlreadyUp Outcome = "already up"
)

type UpResult struct {
	Outcome Outcome
	Nodes   int // all of them Ready
	Elapsed time.Duration
}

// Up creates the cluster or starts the parts that are down, and returns when API server,
// controllers and nodes are ready. It keeps the data, except of an unfinished cluster. Several
// callers may call it at once, and after an interrupt, the next call continues.
func (c *Cluster) Up(ctx context.Context, options UpOptions) (UpResult, error) {
	start := time.Now()
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	if err := errors.Join(CheckName(c.name), CheckPath(c.dir)); err != nil {
		return UpResult{}, err
	}
	release, err := lock.Acquire(ctx, c.state, func(holder string) { options.Progress("waiting for " + holder) })
	if err != nil {
		return UpResult{}, err
	}
	defer release()

	outcome, err := c.bringUp(ctx, options)
	if err != nil {
		return UpResult{}, err
	}
	nodes, err := c.bringUpNodes(ctx, options)
	if err != nil {
		return UpResult{}, err
	}
	if outcome == Created {
		if err := os.WriteFile(c.madeFile(), []byte(c.dir), 0o600); err != nil {
			return UpResult{}, err
		}
	}
	return UpResult{Outcome: outcome, Nodes: nodes, Elapsed: time.Since(start)}, nil
}

func (c *Cluster) bringUp(ctx context.Context, options UpOptions) (Outcome, error) {
	running, err := c.running(ctx)
	if err != nil {
		return "", err
	}
	components, err := c.components()
	switch {
	case !c.Exists() || errors.Is(err, fs.ErrNotExist):
		options.Progress("creating the cluster")
		return Created, c.create(ctx, running)
	case err != nil:
		return "", err
	case isWhole(running, components):
		options.Progress("waiting for the API server")
		return AlreadyUp, c.waitReady(ctx)
	default:
		options.Progress("starting the cluster")
		return Started, c.start(ctx, running, components)
	}
}

// isWhole reports whether every component runs, with the present executable.
func isWhole(running map[string]program, components []component) bool {
	return !slices.ContainsFunc(components, func(c component) bool {
		p, runs := running[c.name]
		return !runs || p.replaced
	})
}

// UpShown starts a cluster with that many nodes (0: no change), and shows the progress.
func UpShown(ctx context.Context, show *ui.UI, c Backend, nodes int) (result UpResult, err error) {
	what := fmt.Sprintf("cluster %q", c.Name())
	err = show.While(what, func(step *ui.Step) (done string, err error) {
		result, err = c.Up(ctx, UpOptions{Nodes: nodes, Progress: func(doing string) { step.Update("%s", doing) }})
		if result.Outcome != AlreadyUp {
			done = fmt.Sprintf("%s %s", what, result.Outcome)
		}
		return done, err
	})
	return result, err
}
