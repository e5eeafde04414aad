package cluster

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestPortsDifferAndAreFree(t *testing.T) {
	seen := map[int]bool{}
	for _, dir := range []string{"/some/folder", "/another/folder"} {
		p, err := freePorts(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range []int{p.Etcd, p.EtcdPeer, p.APIServer, p.ControllerManager, p.Scheduler, p.Kwok} {
			if seen[port] || port < firstPort || port > firstPort+manyPorts-1 {
				t.Errorf("%s: got port %d, and before that %v", dir, port, seen)
			}
			seen[port] = true
		}
	}
}

func TestATakenPortIsNamedWithItsHolder(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := component{name: "etcd", ports: []int{listener.Addr().(*net.TCPAddr).Port}}

	c := newCluster(t)
	err = c.checkPorts(t.Context(), []component{taken}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{fmt.Sprintf("port %d, which etcd of cluster %q needs, is in use by", taken.ports[0], c.name), fmt.Sprintf("(pid %d)", os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't name %q", err, want)
		}
	}
	if err := c.checkPorts(t.Context(), []component{taken}, map[string]program{"etcd": {}}); err != nil {
		t.Errorf("a component's own port: %v", err)
	}
}
