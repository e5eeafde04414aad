// Faults of connections. They take everything with them that goes over the connection: with HTTP/2 that is all of a client's
// requests, writes in flight included.

package faultproxy

// CutWatches is F1: each connection that carries a watch is closed without a word, as by a load balancer that is restarted.
// The client sees an unexpected EOF. A write in flight may have been done or not. Hits: watches.
func (p *Proxy) CutWatches() *Fault {
	fault := newFault("CutWatches")
	p.cutOpen(fault)
	return fault
}

// KeepCutting is F1 again and again: what CutWatches does now, and then, until Stop, to every watch that begins. So many
// events pass before the cut comes, in place of the next one; with 0 it comes at once. Initial events, which a client asks
// for with sendInitialEvents, pass as well and don't count, else it would never get to the end of them. Hits: watches.
func (p *Proxy) KeepCutting(after int) *Fault {
	fault := newFault("KeepCutting")
	p.enforce(fault, &rule{at: begun, left: forever, act: func(x *exchange) error {
		x.doom = &doom{fault, after}
		return nil
	}})
	p.cutOpen(fault)
	return fault
}

func (p *Proxy) cutOpen(fault *Fault) {
	var carriers []*connection
	for _, w := range p.open(nil) {
		if w.connection.isOpen() {
			carriers = append(carriers, w.connection)
			fault.hit()
		}
	}
	for _, carrier := range carriers {
		carrier.Close()
	}
}

// Freeze is F6a: no byte goes over any of the present connections any more, in either direction, while both ends believe
// them open; pings get no answer. New connections work, so that a client who notices can help itself: client-go does after
// HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS (30 and 15, if they aren't set). Stop thaws them, and what
// was under way goes on. Hits: connections.
func (p *Proxy) Freeze() *Fault {
	fault := newFault("Freeze")
	var frozen []*connection
	for _, open := range p.clients.all() {
		if open.freeze() {
			frozen = append(frozen, open)
			fault.hit()
		}
	}
	fault.stop = func() {
		for _, connection := range frozen {
			connection.thaw()
		}
	}
	return fault
}
