package cluster

// Waiting until a cluster can be used.

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/problem"
)

const (
	pollEvery = 50 * time.Millisecond
	readyIn   = 2 * time.Minute // on the slowest of machines; 3 s is usual
)

// Client has a short timeout, because all its callers retry.
func Client(b Backend) (kubernetes.Interface, error) {
	config, err := RESTConfig(b)
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	config.UserAgent = "workshop"
	return kubernetes.NewForConfig(config)
}

// condition returns nil when it is fulfilled, and otherwise an error that says why not.
type condition func(context.Context, kubernetes.Interface) error

// IsServing returns nil if the API server reports that it is ready.
func IsServing(ctx context.Context, client kubernetes.Interface) error {
	return client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// isUsable returns nil if the API server is ready, and the default ServiceAccount exists, without
// which no Pod is admitted.
func isUsable(ctx context.Context, client kubernetes.Interface) error {
	if err := IsServing(ctx, client); err != nil {
		return err
	}
	_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
	return err
}

// IsWhole returns nil if the cluster is usable, and all its nodes are Ready, so that a Pod would start.
func IsWhole(ctx context.Context, client kubernetes.Interface) error {
	if err := isUsable(ctx, client); err != nil {
		return err
	}
	all, ready, err := countNodes(ctx, client)
	if err == nil && (all == 0 || ready < all) {
		err = fmt.Errorf("%d of %d nodes are Ready", ready, all)
	}
	return err
}

// Await waits until the condition is fulfilled.
func Await(ctx context.Context, b Backend, timeout time.Duration, ready condition) error {
	client, err := Client(b)
	if err != nil {
		return err
	}
	return Retry(ctx, timeout, func(ctx context.Context) error { return ready(ctx, client) })
}

// Retry calls try until it returns nil. After the timeout, it returns the last error.
func Retry(ctx context.Context, timeout time.Duration, try func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollEvery, timeout, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("after %s: %w", timeout, last)
	}
	return err
}

// wait waits until the cluster is ready. If it never is, that component's log may say why.
func (c *Cluster) wait(ctx context.Context, component string, ready condition) error {
	err := Await(ctx, c, readyIn, ready)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return problem.New("cluster %q runs, but isn't ready", c.name).
		ToDo(`"./scripts/workshop down" and "./scripts/workshop up" restart it, with its data`).
		SeeLog(c.ComponentLog(component)).
		Because(err)
}
