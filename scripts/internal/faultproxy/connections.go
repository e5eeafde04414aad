package faultproxy

// The program's TCP connections. The proxy knows them, so it can close or freeze them, whatever TLS
// and HTTP/2 do above them.

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

type connections struct {
	mutex    sync.Mutex
	open     map[*connection]struct{}
	refusing *Fault // closes each new connection until it is over; may be nil
}

// add adds a connection to the set, and closes it if a fault refuses it.
func (c *connections) add(plain net.Conn) *connection {
	added := &connection{Conn: plain, set: c}
	added.ctx, added.end = context.WithCancel(context.Background())
	c.mutex.Lock()
	refusing := c.refusing
	c.open[added] = struct{}{}
	c.mutex.Unlock()
	if refusing != nil && !refusing.isOver() {
		added.Close()
		refusing.hit()
	}
	return added
}

func (c *connections) all() []*connection {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.open))
}

// refuse closes all connections, and each new one until the fault is over.
func (c *connections) refuse(fault *Fault) {
	c.mutex.Lock()
	c.refusing = fault
	c.mutex.Unlock()
	for _, open := range c.all() {
		open.Close()
		fault.hit()
	}
}

func (c *connections) listener(plain net.Listener) net.Listener { return accepting{plain, c} }

type accepting struct {
	net.Listener
	set *connections
}

func (a accepting) Accept() (net.Conn, error) {
	plain, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return a.set.add(plain), nil
}

// connection is a TCP connection that can be frozen. Then nothing gets in or out, not even its end.
type connection struct {
	net.Conn
	set    *connections
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	frozen atomic.Pointer[Fault] // freezes it until it is over; may be nil
}

func (c *connection) Read(buffer []byte) (int, error) {
	n, err := c.Conn.Read(buffer)
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *connection) Write(buffer []byte) (int, error) {
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(buffer)
}

// pass waits while the connection is frozen, and returns false if it was closed meanwhile.
func (c *connection) pass() bool {
	if fault := c.frozen.Load(); fault != nil {
		select {
		case <-fault.ctx.Done():
		case <-c.ctx.Done():
			return false
		}
	}
	return true
}

// Close closes the connection below TLS, so the other side gets no close_notify.
func (c *connection) Close() error {
	c.set.mutex.Lock()
	delete(c.set.open, c)
	c.set.mutex.Unlock()
	c.end()
	return c.Conn.Close()
}

type connectionKey struct{}

func withConnection(ctx context.Context, encrypted net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, encrypted.(*tls.Conn).NetConn())
}

func connectionOf(ctx context.Context) *connection {
	return ctx.Value(connectionKey{}).(*connection)
}
