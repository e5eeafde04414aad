package cluster

// The ports of a cluster, which keeps them, so that its kubeconfig stays valid.

import (
	"errors"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Ports come from below the range that systems give to outgoing connections.
const lowestPort, manyPorts = 20000, 10000

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
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}
