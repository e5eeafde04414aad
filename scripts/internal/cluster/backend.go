package cluster

// The interface that commands and tests use for any kind of cluster, and the cluster's status.

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Backend is a cluster on this machine: this package's Cluster with simulated nodes, or package
// kind's, whose nodes are containers that run containers.
type Backend interface {
	Name() string
	Nodes() Nodes
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig() string
	// AuditLog is the path of the API server's audit log.
	AuditLog() string
	// Exists reports whether the cluster was created here. It may be down.
	Exists() bool
	// Serves reports whether the API server runs.
	Serves(context.Context) (bool, error)
	Status(context.Context) (Status, error)
	// Up creates the cluster or starts the parts that are down, and returns when it can be used.
	// It calls progress with each step.
	Up(ctx context.Context, progress func(doing string)) (Outcome, error)
	Down(ctx context.Context, purge bool, waiting func(holder string)) (ended int, err error)
}

type Nodes string

const (
	Simulated  Nodes = "kwok" // by kwok: Pods are scheduled and become ready, and no container runs
	Containers Nodes = "kind" // by kind, Kubernetes in Docker
)

// RESTConfig returns an administrator's config without a client-side rate limit.
func RESTConfig(b Backend) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of cluster %q: %w", b.Name(), err)
	}
	config.QPS = -1
	return config, nil
}

func (c *Cluster) Nodes() Nodes { return Simulated }

func (c *Cluster) Serves(ctx context.Context) (bool, error) {
	if !c.Exists() {
		return false, nil
	}
	running, err := c.running(ctx)
	_, serves := running["kube-apiserver"]
	return serves, err
}

// Status is the cluster's present state.
type Status struct {
	Ready      bool   // every component runs, and the API server reports that it is ready
	Version    string // of the API server, while it answers
	Nodes      int
	NodesReady int
	Down       []string // components that don't run
}

func (c *Cluster) Status(ctx context.Context) (Status, error) {
	if !c.Exists() {
		return Status{}, nil
	}
	var status Status
	running, err := c.running(ctx)
	if err != nil {
		return status, err
	}
	components, err := c.components()
	if err != nil {
		return status, err
	}
	for _, component := range components {
		if _, runs := running[component.name]; !runs {
			status.Down = append(status.Down, component.name)
		}
	}
	status.Ready = status.Ask(ctx, c) && len(status.Down) == 0
	return status, nil
}

// Ask fills in the API server's part, and reports whether the API server is ready.
func (s *Status) Ask(ctx context.Context, b Backend) (ready bool) {
	client, err := Client(b)
	if err != nil || IsServing(ctx, client) != nil {
		return false
	}
	if version, err := client.Discovery().ServerVersion(); err == nil {
		s.Version = version.GitVersion
	}
	s.Nodes, s.NodesReady, _ = countNodes(ctx, client)
	return true
}
