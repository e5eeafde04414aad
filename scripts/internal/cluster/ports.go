package cluster

// The ports of a cluster, which keeps them, so another program may have taken one meanwhile.

import (
	"context"
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

// Ports come from below the range that systems give to outgoing connections.
const lowestPort, manyPorts = 20000, 10000

// releaseIn is how long a port may take to become free after its process was killed.
const releaseIn = 2 * time.Second

// firstPort returns fs.ErrNotExist if there is no cluster.
func (c *Cluster) firstPort() (int, error) {
	content, err := os.ReadFile(filepath.Join(c.dir, portFile))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(content))
}

// freePorts returns the first of as many free ports as a new cluster needs. The first candidate
// depends on the cluster's folder, so that two new clusters, or a new one and one that is down, don't
// collide.
func freePorts(dir string) (first int, err error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	const groups = manyPorts / portsPerCluster
	start := int(hash.Sum32() % groups)
	for i := range groups {
		if first := lowestPort + (start+i)%groups*portsPerCluster; areFree(first) {
			return first, nil
		}
	}
	return 0, errors.New("no port is free")
}

func areFree(first int) bool {
	for port := first; port < first+portsPerCluster; port++ {
		if !isFree(port) {
			return false
		}
	}
	return true
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
				holder := portHolder(ctx, port)
				return problem.New("port %d, which %s of cluster %q needs, is in use by %s", port, component.name, c.name, holder).
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
		if connection.Status == "LISTEN" && int(connection.Laddr.Port) == port && connection.Pid != 0 {
			name, _ := (&process.Process{Pid: connection.Pid}).NameWithContext(ctx)
			return fmt.Sprintf("%s (pid %d)", name, connection.Pid)
		}
	}
	return "another user's program, whose name the system doesn't show"
}
