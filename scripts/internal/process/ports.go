package process

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// Ports is the lowest port of a range below the one that systems give to outgoing connections. From
// that range, a port could be taken before a program listens there, or while it is started again. A
// cluster that is down keeps its ports, so operators have others.
type Ports int

const (
	OfOperators Ports = 10000
	OfClusters  Ports = 20000

	manyPorts = 10000 // in each range
)

// tried counts the ports that were tried, from a random one on, so that none is returned twice soon.
var tried = rand.Uint32N(manyPorts)

// Free returns the first of so many consecutive ports of the loopback interface that nobody uses now.
func (lowest Ports) Free(count int) (first int, err error) {
	for range manyPorts {
		first := int(lowest) + int(atomic.AddUint32(&tried, uint32(count))%uint32(manyPorts-count))
		if areFree(first, count) {
			return first, nil
		}
	}
	return 0, errors.New("no port is free")
}

func areFree(first, count int) bool {
	for port := first; port < first+count; port++ {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}
