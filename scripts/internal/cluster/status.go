package cluster

// A look at the cluster, for people.

import "context"

// Status is what a look at the cluster shows. Nothing is changed and nothing waited for.
type Status struct {
	Exists     bool   // it was made, be it up or down
	Ready      bool   // every component runs, and the API server says that it is ready
	Version    string // of the API server, while it answers
	Nodes      int
	NodesReady int
	Components []ComponentStatus // empty unless Exists
}

// ComponentStatus is about one program of the cluster.
type ComponentStatus struct {
	Name    string
	Running bool
	PID     int
	RSS     uint64 // resident memory, bytes
	Port    int    // where it serves, on 127.0.0.1
}

// RSS is the resident memory of all components, in bytes.
func (s Status) RSS() (sum uint64) {
	for _, component := range s.Components {
		sum += component.RSS
	}
	return sum
}

// Status looks at the cluster.
func (c *Cluster) Status(ctx context.Context) (Status, error) {
	if !c.Exists() {
		return Status{}, nil
	}
	status := Status{Exists: true, Ready: true}
	running, err := c.running(ctx)
	if err != nil {
		return status, err
	}
	components, err := c.components()
	if err != nil {
		return status, err
	}
	for _, component := range components {
		s := ComponentStatus{Name: component.Name}
		if ports := component.Ports; len(ports) > 0 {
			s.Port = ports[len(ports)-1].Port // etcd's first is for other etcds
		}
		p, runs := running[component.Name]
		if runs {
			s.Running, s.PID = true, int(p.Pid)
			if memory, err := p.MemoryInfoWithContext(ctx); err == nil {
				s.RSS = memory.RSS
			}
		}
		status.Ready = status.Ready && runs
		status.Components = append(status.Components, s)
	}
	status.Ready = status.Ask(ctx, c) && status.Ready
	return status, nil
}

// Ask fills in what only the API server knows, and reports whether that is ready. If it doesn't answer, that is the answer.
func (s *Status) Ask(ctx context.Context, b Backend) (ready bool) {
	client, err := Client(b)
	if err != nil || isReady(ctx, client) != nil {
		return false
	}
	if version, err := client.Discovery().ServerVersion(); err == nil {
		s.Version = version.GitVersion
	}
	s.Nodes, s.NodesReady, _ = CountNodes(ctx, client)
	return true
}
