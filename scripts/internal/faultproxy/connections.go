// The TCP connections under it all, on either side: known, so that they can be closed or frozen whatever TLS and HTTP/2
// above them are about.

package faultproxy

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
)

// connections are the open connections of one side.
type connections struct {
	mutex  sync.Mutex
	open   map[*connection]struct{}
	closed bool
}

func newConnections() *connections {
	return &connections{open: map[*connection]struct{}{}}
}

// add takes a connection in. If all is closed already, so is the new one.
func (c *connections) add(plain net.Conn) *connection {
	added := &connection{Conn: plain, set: c}
	added.changed = sync.NewCond(&added.mutex)
	c.mutex.Lock()
	closed := c.closed
	c.open[added] = struct{}{}
	c.mutex.Unlock()
	if closed {
		added.Close()
	}
	return added
}

func (c *connections) all() []*connection {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.open))
}

// close closes all connections, and those to come.
func (c *connections) close() {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	for _, open := range c.all() {
		open.Close()
	}
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	plain, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c.add(plain), nil
}

// listener returns a listener whose connections are in the set.
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

// connection is a TCP connection that can be frozen: no byte and no end gets in or out.
type connection struct {
	net.Conn
	set *connections

	mutex          sync.Mutex
	changed        *sync.Cond // with mutex: one of these is another now
	frozen, closed bool
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

// Close closes the connection at once. Closed under TLS, as here, it ends for the other side without a farewell.
func (c *connection) Close() error {
	c.set.mutex.Lock()
	delete(c.set.open, c)
	c.set.mutex.Unlock()
	c.change(&c.closed, true)
	return c.Conn.Close()
}

func (c *connection) isOpen() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return !c.closed
}

// pass waits while the connection is frozen. It returns false if the connection was closed meanwhile.
func (c *connection) pass() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.frozen && !c.closed {
		c.changed.Wait()
	}
	return !c.frozen
}

// freeze stops all bytes. It returns false if they were stopped already.
func (c *connection) freeze() bool { return c.change(&c.frozen, true) }

func (c *connection) thaw() { c.change(&c.frozen, false) }

// change sets one of the connection's states, and reports whether it was another before.
func (c *connection) change(state *bool, to bool) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	changed := *state != to
	*state = to
	c.changed.Broadcast()
	return changed
}

type connectionKey struct{}

// withConnection tells the requests on a connection which one it is.
func withConnection(ctx context.Context, encrypted net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, encrypted.(*tls.Conn).NetConn())
}

func connectionOf(ctx context.Context) *connection {
	return ctx.Value(connectionKey{}).(*connection)
}
