package cluster

// The ports of a cluster, which keeps them, so another program may have taken one meanwhile.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/problem"
)

type ports struct{ Etcd, EtcdPeer, APIServer, ControllerManager, Scheduler, Kwok int }

func (c *Cluster) writePorts(p ports) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, portsFile), data, 0o600)
}

// ports returns fs.ErrNotExist if there is no cluster.
func (c *Cluster) ports() (p ports, err error) {
	data, err := os.ReadFile(filepath.Join(c.dir, portsFile))
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("reading the ports of cluster %q: %w", c.name, err)
	}
	return p, nil
}

// Ports come from below the range that systems give to outgoing connections.
const firstPort, manyPorts = 20000, 10000

// releaseIn is how long a port may take to become free after its process was killed.
const releaseIn = 2 * time.Second

// freePorts chooses the ports of a new cluster. The first candidate depends on
// the cluster's folder, so that two new clusters, or a new one and one that is down, don't collide.
func freePorts(dir string) (p ports, err error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	next := int(hash.Sum32() % manyPorts)
	last := next + manyPorts
	for _, port := range []*int{&p.Etcd, &p.EtcdPeer, &p.APIServer, &p.ControllerManager, &p.Scheduler, &p.Kwok} {
		for *port == 0 {
			if next == last {
				return p, errors.New("no port is free")
			}
			if candidate := firstPort + next%manyPorts; isFree(candidate) {
				*port = candidate
			}
			next++
		}
	}
	return p, nil
}

// isFree reports whether nobody listens on the port, neither on loopback nor on all addresses.
func isFree(port int) bool {
	for _, host := range []string{"127.0.0.1", ""} {
		listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}

// CheckPorts returns an error if another program uses the port of a component that is down.
func (c *Cluster) CheckPorts(ctx context.Context) error {
	components, err := c.components()
	if err != nil {
		return nil // no cluster, no ports
	}
	running, err := c.running(ctx)
	if err != nil {
		return err
	}
	return c.checkPorts(ctx, components, running)
}

// checkPorts waits for the ports of the components that are down, because a process that was just
// killed may hold its port for another moment.
func (c *Cluster) checkPorts(ctx context.Context, components []component, running map[string]program) error {
	for _, component := range components {
		if _, runs := running[component.name]; runs {
			continue
		}
		for _, port := range component.ports {
			err := wait.PollUntilContextTimeout(ctx, pollEvery, releaseIn, true, func(context.Context) (bool, error) {
				return isFree(port), nil
			})
			if err != nil && ctx.Err() == nil {
				return problem.New("port %d, which %s of cluster %q needs, is in use by %s", port, component.name, c.name, portHolder(ctx, port)).
					ToDo("stop that program and run this again; or \"./scripts/workshop down --purge\", " +
						"and the next \"./scripts/workshop up\" creates a new cluster on free ports")
			}
		}
	}
	return ctx.Err()
}

// portHolder names the process that listens on a port, as far as the system shows it.
func portHolder(ctx context.Context, port int) string {
	connections, _ := psnet.ConnectionsWithContext(ctx, "tcp")
	for _, connection := range connections {
		if connection.Status != "LISTEN" || int(connection.Laddr.Port) != port || connection.Pid == 0 {
			continue
		}
		name, err := (&process.Process{Pid: connection.Pid}).NameWithContext(ctx)
		if err != nil {
			name = "a process"
		}
		return fmt.Sprintf("%s (pid %d)", name, connection.Pid)
	}
	return "another user's program, whose name the system doesn't show"
}
