package faultproxy

// The faults. A connection fault hits everything on the connection. With HTTP/2, that is all of a
// client's requests, writes in flight included. A watch fault leaves the connection and its other
// requests alone. A fault that fails single requests spares Leases and Events.

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/audit"
)

// KeepCutting closes each connection that carries a watch, as a load balancer does that restarts.
// Until Stop, it passes on one event of each new watch, and cuts the connection instead of the next
// one. The client sees an unexpected EOF. A write in flight may or may not be done. Initial events
// (sendInitialEvents) always pass and don't count, because otherwise a client would never get all of
// them. Hits: watches.
func (p *Proxy) KeepCutting() *Fault {
	fault := newFault("KeepCutting")
	p.mutex.Lock()
	p.cutting = fault
	p.mutex.Unlock()
	for _, w := range p.open() {
		if w.connection.ctx.Err() == nil {
			defer w.connection.Close() // last, because other watches may be on it
			fault.hit()
		}
	}
	return fault
}

// Freeze lets no byte pass over any present connection, in either direction, and pings get no
// answer, but both ends believe that it is open. New connections work, so a client that notices can
// reconnect. client-go notices after HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS
// (by default 30 and 15). Stop thaws the connections, and their requests continue. Hits:
// connections.
func (p *Proxy) Freeze() *Fault {
	fault := newFault("Freeze")
	for _, open := range p.clients.all() {
		open.frozen.Store(fault)
		fault.hit()
	}
	return fault
}

// Down is an API server that is down, as the client sees it: all connections are closed, and new
// ones too, until Stop. Hits: connections.
func (p *Proxy) Down() *Fault {
	fault := newFault("Down")
	p.clients.refuse(fault)
	return fault
}

// GoneAsEvent sends each open watch that matches an ERROR event with a 410 Status, and ends it. From
// then on, a client that resumes such a watch without a new list is answered 410. Hits: watches.
func (p *Proxy) GoneAsEvent(matches ...Match) *Fault {
	watches := p.open(matches...)
	forgotten := sets.New[string]() // safe without a mutex, because take calls one Match at a time
	for _, w := range watches {
		forgotten.Insert(path(w.Request))
	}
	hasNoHistory := func(r audit.Request) bool {
		if startsWithObjects(r) {
			forgotten.Delete(path(r))
		}
		return r.Verb == "watch" && forgotten.Has(path(r))
	}
	p.enforce(newFault("GoneAsEvent, afterwards"), &rule{at: asked, matches: []Match{hasNoHistory}, act: expired})

	fault := newFault("GoneAsEvent")
	for _, w := range watches {
		if w.ctx.Err() == nil {
			w.end(errGone)
			fault.hit()
		}
	}
	return fault
}

// startsWithObjects reports whether the client asks for all objects, so that it needs no history.
func startsWithObjects(r audit.Request) bool {
	return r.Verb == "list" ||
		r.Verb == "watch" && (resourceVersion(r) == "" || r.Query().Get("sendInitialEvents") == "true")
}

// Delay delays each event of all watches, present and future. The events stay in order, and a delay
// doesn't add to the one before. Initial events and all other requests are on time. Stop lets the
// waiting events through. Hits: events, as they come from the server.
func (p *Proxy) Delay(by time.Duration) *Fault {
	return p.enforce(newFault("Delay"), &rule{at: sent, delay: by})
}

// Hang lets requests that match get no response until Stop, or until the client gives up. The
// connection and its other requests work. Hits: requests.
func (p *Proxy) Hang(matches ...Match) *Fault {
	fault := newFault("Hang")
	return p.enforce(fault, &rule{at: asked, matches: matches, act: func(x *exchange) error {
		select {
		case <-fault.ctx.Done():
		case <-x.ctx.Done():
		}
		return failure(x, http.StatusGatewayTimeout)
	}})
}

// FailWrites answers all writes with this HTTP status code until Stop, and they don't reach the
// server. 500, 409 and 429 look like the server's own. 429 asks the client to retry in a second,
// which client-go does by itself. Hits: writes.
func (p *Proxy) FailWrites(code int) *Fault {
	fails := func(x *exchange) error { return failure(x, code) }
	return p.enforce(newFault("FailWrites"), &rule{at: asked, matches: []Match{changesObjects}, act: fails})
}

// Forbid answers requests that match with 403 until Stop. As with RBAC, a watch that is open stays
// open, and a subresource is a separate resource. Hits: requests.
func (p *Proxy) Forbid(matches ...Match) *Fault {
	notSpared := func(r audit.Request) bool { return !r.IsHousekeeping() }
	matches = slices.Concat(matches, []Match{notSpared})
	return p.enforce(newFault("Forbid"), &rule{at: asked, matches: matches, act: forbidden})
}

// AfterWrite calls do once, after the server has done the k-th matching write from now. The client
// gets its answer when do returns, which it must. do may kill the program between two of its writes.
// Writes that the server refuses don't count. Hits: 1.
func (p *Proxy) AfterWrite(k int, do func(), matches ...Match) *Fault {
	isKth := func(audit.Request) bool { // asked only about requests that match otherwise
		k--
		return k == 0
	}
	matches = slices.Concat(matches, []Match{changesObjects, isKth})
	return p.enforce(newFault("AfterWrite"), &rule{at: answered, matches: matches, act: func(*exchange) error {
		do()
		return nil
	}})
}

// Hide answers as if the API server didn't know this API group, until Stop: 404 for its objects, and
// a discovery without it. Hits: answers.
func (p *Proxy) Hide(group string) *Fault {
	fault := newFault("Hide")
	root := "/apis/" + group
	return p.enforce(fault,
		&rule{at: asked, matches: []Match{func(r audit.Request) bool {
			return path(r) == root || strings.HasPrefix(path(r), root+"/")
		}}, act: func(x *exchange) error {
			return failure(x, http.StatusNotFound)
		}},
		&rule{at: answered, matches: []Match{func(r audit.Request) bool {
			return strings.TrimSuffix(path(r), "/") == "/apis" // the discovery
		}}, act: func(x *exchange) error {
			return withoutGroup(x.response, group)
		}})
}

// withoutGroup removes a group from the answer to /apis, an APIGroupDiscoveryList.
func withoutGroup(response *http.Response, group string) error {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(peek(&response.Body), &list); err != nil {
		return err
	}
	list.Items = slices.DeleteFunc(list.Items, func(item apidiscoveryv2.APIGroupDiscovery) bool {
		return item.Name == group
	})
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	response.ContentLength = int64(len(content))
	response.Header.Del("Content-Length")
	response.Header.Del("Etag") // it is that of the whole list
	return nil
}
