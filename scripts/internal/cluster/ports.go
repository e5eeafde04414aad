package cluster

// Ports: chosen when a cluster is made, kept from then on, and therefore sometimes taken by somebody else.

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"strconv"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/problem"
)

// Ports come from below the range that systems give to outgoing connections.
const firstPort, manyPorts = 20000, 10000

// releaseIn is how long a port may take to become free after its process was killed.
const releaseIn = 2 * time.Second

// freePorts chooses a port for each of kwokctl's options. Where it begins to look depends on the cluster's folder: two
// clusters that are made at once, or one that is down while another is made, should not meet.
func freePorts(dir string) (map[string]int, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	begin := int(hash.Sum32() % manyPorts)
	options := []string{"etcdPort", "etcdPeerPort", "kubeApiserverPort", "kubeControllerManagerPort", "kubeSchedulerPort", "kwokControllerPort"}
	ports := map[string]int{}
	for i := range manyPorts {
		port := firstPort + (begin+i)%manyPorts
		if !isFree(port) {
			continue
		}
		ports[options[len(ports)]] = port
		if len(ports) == len(options) {
			return ports, nil
		}
	}
	return nil, errors.New("no port is free")
}

// isFree tells whether nobody listens on the port, neither on loopback nor on all addresses.
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

// CheckPorts says if somebody else has taken a port that a component needs which is down.
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

// checkPorts looks whether the components that are to be started can have the ports that they had before. A process that
// was killed just now may hold its port a moment longer, so that is waited for.
func (c *Cluster) checkPorts(ctx context.Context, components []component, running map[string]program) error {
	for _, component := range components {
		if _, runs := running[component.Name]; runs {
			continue
		}
		for _, p := range component.Ports {
			err := wait.PollUntilContextTimeout(ctx, pollEvery, releaseIn, true, func(context.Context) (bool, error) {
				return isFree(p.Port), nil
			})
			if err != nil && ctx.Err() == nil {
				return problem.New("port %d, which %s of cluster %q needs, is taken by %s", p.Port, component.Name, c.name, portHolder(ctx, p.Port)).
					ToDo("end that program and run this again; or \"./scripts/workshop down --purge\", " +
						"and the next \"./scripts/workshop up\" makes a new cluster on ports that are free")
			}
		}
	}
	return ctx.Err()
}

// portHolder names the process that listens on a port, as far as the system tells.
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
	return "a program of another user, whose name the system doesn't tell"
}
