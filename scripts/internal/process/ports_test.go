package process

import (
	"fmt"
	"net"
	"testing"
)

// Each call returns other ports, below those of outgoing connections.
func TestFreePorts(t *testing.T) {
	seen := map[int]bool{}
	for range 100 {
		first, err := OfOperators.Free(2)
		if err != nil || seen[first] || seen[first+1] || first < int(OfOperators) || first+1 >= int(OfOperators)+manyPorts {
			t.Fatalf("got port %d (error %v), after %d others", first, err, len(seen))
		}
		seen[first], seen[first+1] = true, true
	}
}

func TestTakenPortsAreSkipped(t *testing.T) {
	first, err := OfClusters.Free(4)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+1))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if areFree(first, 4) {
		t.Errorf("port %d counts as free, although a listener has it", first+1)
	}
}
