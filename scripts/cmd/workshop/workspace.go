package main

// What the commands share: the repository, the cluster, and bringing the cluster up.

import (
	"cmp"
	"context"
	"os"
	"slices"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/kind"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// theRoot is the repository's root, which scripts/workshop has found.
func theRoot() string { return os.Getenv("WORKSHOP_ROOT") }

// nodesVariable is for users who don't want to add --on to each command.
const nodesVariable = "WORKSHOP_ON"

// theNodes returns "" if the user hasn't chosen: then it is the kind cluster, if there is one.
func theNodes() cluster.Nodes { return cluster.Nodes(os.Getenv(nodesVariable)) }

func theName() string { return cmp.Or(os.Getenv("WORKSHOP_CLUSTER"), cluster.DefaultName) }

// checkSettings rejects a start without scripts/workshop, unknown kinds of nodes and invalid cluster
// names before a command begins.
func checkSettings() error {
	if theRoot() == "" {
		return problem.New("this program doesn't know where the course is").ToDo("start it with ./scripts/workshop")
	}
	if !slices.Contains([]cluster.Nodes{"", cluster.Simulated, cluster.Containers}, theNodes()) {
		return problem.New("there are no clusters on %q", theNodes()).
			ToDo("--on kwok (simulated nodes) or --on kind (containers); it may come from %s", nodesVariable)
	}
	return cluster.CheckName(theName())
}

// existingCluster returns an error if the cluster doesn't exist. It may be down.
func existingCluster() (cluster.Backend, error) {
	c := theCluster()
	if !c.Exists() {
		return nil, notUp(c)
	}
	return c, nil
}

// theCluster is the cluster that commands use. It need not exist.
func theCluster() cluster.Backend {
	containers := kind.New(theRoot(), theName())
	if theNodes() == cluster.Containers || theNodes() == "" && containers.Begun() {
		return containers
	}
	return simulated()
}

func theControlPlane() *gobuild.ControlPlane { return gobuild.NewControlPlane(theRoot()) }

// simulated returns the cluster with simulated nodes that has the selected name.
func simulated() *cluster.Cluster {
	return cluster.New(theRoot(), theName())
}

// ensureUp returns the cluster when it is ready.
func ensureUp(ctx context.Context) (cluster.Backend, error) {
	c := theCluster()
	return c, bringUp(ctx, c)
}

// bringUp builds what is missing, and starts the cluster.
func bringUp(ctx context.Context, c cluster.Backend) error {
	show := ui.New(os.Stderr)
	if err := ensureBuilt(ctx, show, c.Nodes()); err != nil {
		return err
	}
	_, err := cluster.UpShown(ctx, show, c)
	return err
}

// ensureBuilt builds the control plane, or just kubectl for kind, whose node image has the rest.
func ensureBuilt(ctx context.Context, show *ui.UI, nodes cluster.Nodes) error {
	if nodes == cluster.Containers {
		return show.While("building kubectl", func(step *ui.Step) (string, error) {
			return "", theControlPlane().BuildKubectl(ctx, func(done gobuild.Progress) { step.Update("%s", done) })
		})
	}
	return buildControlPlane(ctx, show, theControlPlane())
}

// firstBuildNote is shown during a first build. The exercise needs neither a cluster nor any module.
const firstBuildNote = `Kubernetes is built from source, once. That took eight minutes on two cores.
If you press Ctrl-C, the next command continues where the build stopped.
Meanwhile, in another terminal, in an editor or on the web:
- 2 minutes: 01-raw-watch/exercises/0-first-loop/README.md, fix your first bug
- 3 minutes: README.md, the chapters, and how to read one
- 10 minutes: 01-raw-watch/README.md, "The problem": guess the answers now, type the commands later
- 5 minutes: scripts/MUSEUM.md, how well-known operators fail`

// fewPackages are compiled within seconds.
const fewPackages = 50

func buildControlPlane(ctx context.Context, show *ui.UI, c *gobuild.ControlPlane) error {
	if built, err := c.IsBuilt(); err != nil || built {
		return err
	}
	noted := false
	return show.While("building the control plane", func(step *ui.Step) (string, error) {
		waiting := func(holder string) { step.Update("waiting for %s", holder) }
		return "the control plane built", c.Build(ctx, waiting, func(done gobuild.Progress) {
			if !noted && done.Packages > fewPackages {
				step.Note(firstBuildNote)
				noted = true
			}
			step.Update("%s", done)
		})
	})
}
