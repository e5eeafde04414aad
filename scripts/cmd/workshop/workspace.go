package main

// Where the repository is, which cluster is meant, and getting it up: what the commands share.

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// findRoot is the repository's root: scripts/workshop says it in WORKSHOP_ROOT; otherwise it is looked for upwards.
func findRoot() (string, error) {
	if root := os.Getenv("WORKSHOP_ROOT"); root != "" {
		return root, nil
	}
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", &problem.Problem{
				What: fmt.Sprintf("%s isn't in the workshop's repository", start),
				Mend: "go to the repository, or set WORKSHOP_ROOT to where it is",
			}
		}
	}
}

func isRoot(dir string) bool {
	for _, landmark := range []string{"go.work", "scripts/controlplane/go.mod"} {
		if _, err := os.Stat(filepath.Join(dir, landmark)); err != nil {
			return false
		}
	}
	return true
}

// theCluster is the cluster that commands are about. It need not exist.
func theCluster() (*cluster.Cluster, error) {
	_, c, err := theWorkspace()
	return c, err
}

// existingCluster is theCluster, which has to be there, be it up or down.
func existingCluster() (*cluster.Cluster, error) {
	c, err := theCluster()
	if err == nil && !c.Exists() {
		err = notUp(c)
	}
	return c, err
}

// theWorkspace is the repository's root, and the cluster that commands are about.
func theWorkspace() (root string, c *cluster.Cluster, err error) {
	if root, err = findRoot(); err != nil {
		return "", nil, err
	}
	name := cmp.Or(os.Getenv("WORKSHOP_CLUSTER"), cluster.DefaultName)
	return root, cluster.New(root, controlplane.New(root).Bin, name), cluster.CheckName(name)
}

// ensureUp returns the cluster, up and ready. What is missing is built, made or started, and progress shown meanwhile.
func ensureUp(ctx context.Context) (*cluster.Cluster, error) {
	c, _, err := bringUp(ctx, 0)
	return c, err
}

// bringUp is ensureUp for a given number of nodes (0: as they are), and tells what there was to do.
func bringUp(ctx context.Context, nodes int) (*cluster.Cluster, cluster.UpResult, error) {
	c, err := theCluster()
	if err != nil {
		return nil, cluster.UpResult{}, err
	}
	show := ui.New(os.Stderr)
	if err := ensureBuilt(ctx, show); err != nil {
		return nil, cluster.UpResult{}, err
	}
	result, err := bringUpShown(ctx, show, c, nodes)
	return c, result, err
}

// bringUpShown brings a cluster up, and shows what is done.
func bringUpShown(ctx context.Context, show *ui.UI, c *cluster.Cluster, nodes int) (cluster.UpResult, error) {
	step := show.Start(fmt.Sprintf("cluster %q", c.Name))
	result, err := c.Up(ctx, cluster.UpOptions{
		Nodes:    nodes,
		Progress: func(doing string) { step.Update("%s", doing) },
	})
	switch {
	case err != nil:
		step.Fail()
	case result.Outcome == cluster.AlreadyUp:
		step.Drop()
	default:
		step.Done("cluster %q %s", c.Name, result.Outcome)
	}
	return result, err
}

// ensureBuilt builds what is missing of the control plane.
func ensureBuilt(ctx context.Context, show *ui.UI) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	return build(ctx, show, controlplane.New(root))
}

// build builds what is missing, and shows what is done.
func build(ctx context.Context, show *ui.UI, builder *controlplane.Builder) error {
	missing, err := builder.Missing()
	if err != nil || len(missing) == 0 {
		return err
	}
	step := show.Start("building the control plane")
	if len(missing) == len(controlplane.Components()) {
		step.Note("Building Kubernetes' control plane from source, once: 4 to 10 minutes on most machines.")
	}
	err = builder.Build(ctx, func(p controlplane.Progress) {
		if p.Built {
			step.Note("  %s built (%d of %d)", p.Component, p.Number, p.Of)
			return
		}
		step.Update("%s", p)
	})
	if err != nil {
		step.Fail()
		return err
	}
	step.Done("control plane built")
	return nil
}
