package cluster

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestPortsDifferAndAreFree(t *testing.T) {
	first, err := freePorts("/some/folder")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for option, port := range first {
		if seen[port] || port < firstPort || port > firstPort+manyPorts-1 {
			t.Errorf("%s got port %d", option, port)
		}
		seen[port] = true
	}
	second, err := freePorts("/another/folder")
	if err != nil {
		t.Fatal(err)
	}
	for option, port := range second {
		if seen[port] {
			t.Errorf("%s of another cluster got port %d as well", option, port)
		}
	}
}

func TestATakenPortIsNamedWithItsHolder(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := component{Name: "etcd"}
	taken.Ports = append(taken.Ports, struct {
		Port int `json:"port"`
	}{listener.Addr().(*net.TCPAddr).Port})

	c := newCluster(t)
	err = c.checkPorts(t.Context(), []component{taken}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{fmt.Sprintf("port %d, which etcd of cluster %q needs, is in use by", taken.Ports[0].Port, c.name), fmt.Sprintf("(pid %d)", os.Getpid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't name %q", err, want)
		}
	}
	if err := c.checkPorts(t.Context(), []component{taken}, map[string]program{"etcd": {}}); err != nil {
		t.Errorf("a component's own port: %v", err)
	}
}
