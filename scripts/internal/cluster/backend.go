package cluster

// What commands and tests need of a cluster, whatever it is made of.

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Backend is a cluster on this machine: this package's Cluster, whose nodes are simulated, or package kind's, whose nodes are
// containers that run containers.
type Backend interface {
	// Name is what the user calls it.
	Name() string
	// Nodes tells what its nodes are: Simulated, or Containers.
	Nodes() Nodes
	// Kubeconfig and AuditLog are the paths of the administrator's kubeconfig, and of the API server's audit log.
	Kubeconfig() string
	AuditLog() string
	// Exists tells whether it was made here, be it up or down; Serves, whether its API server runs.
	Exists() bool
	Serves(context.Context) (bool, error)
	Status(context.Context) (Status, error)
	// Up makes it or starts what of it is down; Down ends it; Kill ends one component at once, as a crash would.
	Up(context.Context, UpOptions) (UpResult, error)
	Down(ctx context.Context, purge bool, waiting func(holder string)) (ended int, err error)
	Kill(ctx context.Context, component string) error
}

// Nodes is what a cluster's nodes are.
type Nodes string

const (
	Simulated  Nodes = "kwok" // by kwok: Pods are scheduled and become ready, and no container runs
	Containers Nodes = "kind" // by kind, Kubernetes in Docker
)

// RESTConfig is for a cluster's administrator, without a limit on the client's side: the caller may set one.
func RESTConfig(b Backend) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of cluster %q: %w", b.Name(), err)
	}
	config.QPS = -1
	return config, nil
}

// Nodes are simulated by kwok.
func (c *Cluster) Nodes() Nodes { return Simulated }

// Serves tells whether the API server's process runs.
func (c *Cluster) Serves(ctx context.Context) (bool, error) {
	if !c.Exists() {
		return false, nil
	}
	running, err := c.running(ctx)
	_, serves := running["kube-apiserver"]
	return serves, err
}
