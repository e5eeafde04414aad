package cluster

// The files that kwokctl and the cluster's users read, and the ports. A cluster keeps the ports
// that it was created with, so another program may have taken one.

import (
	"context"
	_ "embed"
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
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/operators/scripts/internal/problem"
)

//go:embed kwokctl.yaml
var kwokctlConfig string

// AuditPolicy is the API server's audit.k8s.io/v1 Policy, in YAML.
//
//go:embed audit-policy.yaml
var AuditPolicy []byte

// writeConfig writes the files that `kwokctl create cluster` reads, and returns their paths.
func (c *Cluster) writeConfig() (config, policy string, err error) {
	ports, err := freePorts(c.dir)
	if err != nil {
		return "", "", err
	}
	data := os.Expand(kwokctlConfig, func(option string) string { return strconv.Itoa(ports[option]) })
	config = filepath.Join(c.dir, "kwokctl.yaml")
	policy = filepath.Join(c.dir, "audit-policy.yaml")
	return config, policy, errors.Join(os.WriteFile(config, []byte(data), 0o600), os.WriteFile(policy, AuditPolicy, 0o600))
}

// component is kwokctl's record of a program.
type component struct {
	Name  string `json:"name"`
	Ports []struct {
		Port int `json:"port"`
	} `json:"ports"`
}

func (c *Cluster) components() ([]component, error) {
	f, err := os.Open(filepath.Join(c.kwok(), "kwok.yaml"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var record struct {
		Components []component `json:"components"`
	}
	// The cluster is the first of several documents.
	if err := yaml.NewYAMLOrJSONDecoder(f, 4096).Decode(&record); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return record.Components, nil
}

// ensureKubeconfig copies kwokctl's kubeconfig, with the cluster's name and the certificates
// inside.
func (c *Cluster) ensureKubeconfig() error {
	if _, err := os.Stat(c.Kubeconfig()); err == nil {
		return nil // other programs may be reading it
	}
	made, err := clientcmd.LoadFromFile(filepath.Join(c.kwok(), "kubeconfig.yaml"))
	if err != nil {
		return err
	}
	if err := clientcmdapi.FlattenConfig(made); err != nil {
		return err
	}
	context := made.Contexts[made.CurrentContext]
	if context == nil {
		return fmt.Errorf("kwokctl's kubeconfig for cluster %q has no current context", c.name)
	}
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{c.name: made.Clusters[context.Cluster]},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{c.name: made.AuthInfos[context.AuthInfo]},
		Contexts:       map[string]*clientcmdapi.Context{c.name: {Cluster: c.name, AuthInfo: c.name}},
		CurrentContext: c.name,
	}, c.Kubeconfig())
}

// Ports come from below the range that systems give to outgoing connections.
const firstPort, manyPorts = 20000, 10000

// releaseIn is how long a port may take to become free after its process was killed.
const releaseIn = 2 * time.Second

// freePorts chooses a port for each of kwokctl's options. The first candidate depends on the
// cluster's folder, so that two new clusters, or a new one and one that is down, don't collide.
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
		if _, runs := running[component.Name]; runs {
			continue
		}
		for _, p := range component.Ports {
			err := wait.PollUntilContextTimeout(ctx, pollEvery, releaseIn, true, func(context.Context) (bool, error) {
				return isFree(p.Port), nil
			})
			if err != nil && ctx.Err() == nil {
				return problem.New("port %d, which %s of cluster %q needs, is in use by %s", p.Port, component.Name, c.name, portHolder(ctx, p.Port)).
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
