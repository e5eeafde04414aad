// The program's TCP connections. The proxy knows them, so it can close or freeze them, whatever TLS
// and HTTP/2 do above them.

package faultproxy

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"sync"
)

type connections struct {
	mutex    sync.Mutex
	open     map[*connection]struct{}
	closed   bool
	refusing *Fault // hit by each new connection, which is closed at once; may be nil
}

func newConnections() *connections {
	return &connections{open: map[*connection]struct{}{}}
}

// add adds a connection to the set. If the set is closed, it closes the connection too.
func (c *connections) add(plain net.Conn) *connection {
	added := &connection{Conn: plain, set: c}
	added.changed = sync.NewCond(&added.mutex)
	c.mutex.Lock()
	closed, refusing := c.closed, c.refusing
	c.open[added] = struct{}{}
	c.mutex.Unlock()
	if closed || refusing != nil {
		added.Close()
	}
	if refusing != nil {
		refusing.hit()
	}
	return added
}

func (c *connections) all() []*connection {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.open))
}

// close closes all connections, even those that are added later.
func (c *connections) close() {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	for _, open := range c.all() {
		open.Close()
	}
}

// refuse lets the fault refuse all new connections. nil accepts them again.
func (c *connections) refuse(fault *Fault) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.refusing = fault
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
	set *connections

	mutex          sync.Mutex
	changed        *sync.Cond // uses mutex; signals that a field below has changed
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

// Close closes the connection below TLS, so the other side gets no close_notify.
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

// pass waits while the connection is frozen, and returns false if it was closed meanwhile.
func (c *connection) pass() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for c.frozen && !c.closed {
		c.changed.Wait()
	}
	return !c.frozen
}

// freeze stops all bytes. It returns false if the connection was frozen already.
func (c *connection) freeze() bool { return c.change(&c.frozen, true) }

func (c *connection) thaw() { c.change(&c.frozen, false) }

// change sets frozen or closed, and reports whether that changed its value.
func (c *connection) change(state *bool, to bool) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	changed := *state != to
	*state = to
	c.changed.Broadcast()
	return changed
}

type connectionKey struct{}

func withConnection(ctx context.Context, encrypted net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, encrypted.(*tls.Conn).NetConn())
}

func connectionOf(ctx context.Context) *connection {
	return ctx.Value(connectionKey{}).(*connection)
}
