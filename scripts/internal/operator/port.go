package operator

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// Ports for operators come from below the range that systems give to outgoing connections. From that
// range, a port could be taken before the operator listens there, or while it is started again.
const lowestPort, manyPorts = 10000, 10000

// tried counts the ports that were tried, from a random one on, so that none is returned twice soon.
var tried = rand.Uint32N(manyPorts)

// FreePort returns a port of the loopback interface that nobody uses now.
func FreePort() (string, error) {
	for range manyPorts {
		port := strconv.Itoa(lowestPort + int(atomic.AddUint32(&tried, 1)%manyPorts))
		if listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			return port, listener.Close()
		}
	}
	return "", errors.New("no port is free")
}
