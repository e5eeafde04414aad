package kind

// Up and Down: making the cluster, starting its container again, and ending it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	kind "sigs.k8s.io/kind/pkg/cluster"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/problem"
)

// readyIn is how long a node may take until it is Ready: 15 s are usual, once its image is there.
const readyIn = 5 * time.Minute

func (c *Cluster) image() string { return cmp.Or(c.Image, DefaultImage) }

// Up makes the cluster if there is none, starts its container if that is down, and returns when it can be used. Interrupted, it
// leaves a state that the next call copes with.
func (c *Cluster) Up(ctx context.Context, options cluster.UpOptions) (cluster.UpResult, error) {
	start := time.Now()
	if options.Progress == nil {
		options.Progress = func(string) {}
	}
	if options.Nodes > 1 {
		return cluster.UpResult{}, &problem.Problem{What: "a cluster of kind has one node here", Mend: "leave --nodes out"}
	}
	if err := cluster.CheckName(c.name); err != nil {
		return cluster.UpResult{}, err
	}
	release, err := lock.Acquire(ctx, c.state, func(holder string) { options.Progress("waiting for " + holder) })
	if err != nil {
		return cluster.UpResult{}, err
	}
	defer release()
	outcome, err := c.bringUp(ctx, options.Progress)
	if err != nil {
		return cluster.UpResult{}, err
	}
	options.Progress("waiting for the API server")
	return cluster.UpResult{Outcome: outcome, Nodes: 1, Elapsed: time.Since(start)}, c.waitReady(ctx)
}

func (c *Cluster) bringUp(ctx context.Context, progress func(string)) (cluster.Outcome, error) {
	docker, err := findEngine(ctx)
	if err != nil {
		return "", err
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return "", err
	}
	id, begun := c.made()
	switch {
	case node.ID != "" && !begun, node.ID != "" && id != "" && node.ID != id:
		return "", &problem.Problem{
			What: fmt.Sprintf("there is a cluster of kind named %q, which wasn't made in this folder", c.KindName()),
			Mend: fmt.Sprintf("choose another name (WORKSHOP_CLUSTER=mine), or delete that cluster: kind delete cluster --name %s", c.KindName()),
		}
	case node.ID == "" || id == "":
		progress("kind: creating the cluster")
		return cluster.Created, c.create(ctx, docker, progress)
	case !node.Running:
		progress("starting the node")
		return cluster.Started, start(ctx, c.Node())
	default:
		return cluster.AlreadyUp, nil
	}
}

// start starts a node that was stopped, by a reboot for example.
func start(ctx context.Context, node string) error {
	_, err := docker(ctx, "start", node)
	return err
}

// create makes the cluster. What is left of one that was never finished goes first.
func (c *Cluster) create(ctx context.Context, docker engine, progress func(string)) (err error) {
	if err := c.remove(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(c.madeFile(), nil, 0o600); err != nil { // begun
		return err
	}
	log, err := os.Create(c.log())
	if err != nil {
		return err
	}
	defer log.Close()
	config, err := c.config(docker)
	if err != nil {
		return err
	}
	provider := c.provider(logger{log, progress})
	created := make(chan error, 1)
	go func() {
		created <- provider.Create(c.KindName(),
			kind.CreateWithV1Alpha4Config(config),
			kind.CreateWithKubeconfigPath(c.Kubeconfig()),
			kind.CreateWithWaitForReady(readyIn),
			kind.CreateWithRetain(true), // for its logs
		)
	}()
	select {
	case err = <-created:
	case <-ctx.Done():
		// kind can't be interrupted, but it fails once its node is gone.
		err = errors.Join(ctx.Err(), c.remove())
		<-created
		return errors.Join(err, c.remove())
	}
	if err != nil {
		fmt.Fprintln(log, err)
		logs := filepath.Join(c.state, "kind-"+c.name+"-logs")
		_ = errors.Join(os.RemoveAll(logs), provider.CollectLogs(c.KindName(), logs)) // there may be no node yet
		err = explain(err, fmt.Sprintf("kind couldn't make the cluster %q", c.KindName()), logs)
		return errors.Join(err, c.remove())
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return err
	}
	return os.WriteFile(c.madeFile(), []byte(node.ID), 0o600)
}

// waitReady waits until a first `kubectl create` would work.
func (c *Cluster) waitReady(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, readyIn, true, func(ctx context.Context) (bool, error) {
		_, last = client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return last == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		return &problem.Problem{
			What: fmt.Sprintf("the node of cluster %q runs, but its API server isn't ready after %s", c.name, readyIn),
			Mend: `"./scripts/workshop down" and "up --kind" make it anew; "docker logs ` + c.Node() + `" says more`,
			Err:  last,
		}
	}
	return err
}

// client is for this package's own questions; each is answered within seconds, or asked again.
func (c *Cluster) client() (kubernetes.Interface, error) {
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	config.UserAgent = "workshop"
	return kubernetes.NewForConfig(config)
}

// Down removes the cluster and all that is in it: kind keeps no data. It leaves one alone that wasn't made here.
func (c *Cluster) Down(ctx context.Context, _ bool, waiting func(holder string)) (ended int, err error) {
	if err := cluster.CheckName(c.name); err != nil {
		return 0, err // it names a folder that is removed
	}
	release, err := lock.Acquire(ctx, c.state, waiting)
	if err != nil {
		return 0, err
	}
	defer release()
	return c.down(ctx)
}

func (c *Cluster) down(ctx context.Context) (ended int, err error) {
	id, begun := c.made()
	if !begun {
		return 0, nil
	}
	node, err := inspect(ctx, c.Node())
	if err != nil {
		return 0, err
	}
	switch {
	case node.ID == "" || id != "" && node.ID != id: // it is gone, whatever has its name now
		return 0, os.RemoveAll(c.dir)
	default:
		return 1, c.remove()
	}
}

// remove removes the node's container, and all files.
func (c *Cluster) remove() error {
	if err := c.provider(logger{w: io.Discard}).Delete(c.KindName(), c.Kubeconfig()); err != nil {
		return explain(err, fmt.Sprintf("kind couldn't delete the cluster %q", c.KindName()), "")
	}
	return os.RemoveAll(c.dir)
}

// Purge removes all clusters that were made in the repository at root, and returns how many there were.
func Purge(ctx context.Context, root string, waiting func(holder string)) (ended int, err error) {
	all, err := All(root)
	for _, c := range all {
		one, downErr := c.Down(ctx, true, waiting)
		ended, err = ended+one, errors.Join(err, downErr)
	}
	return ended, err
}
