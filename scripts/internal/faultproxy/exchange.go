// One request's way through the proxy: the proxy parses it, applies the rules that are in force,
// sends it to the server, applies rules to the answer, and passes that on. If anything fails
// midway, the proxy closes the connection, as a server that dies does.

package faultproxy

import (
	"context"
	"net/http"
	"slices"
	"time"

	"example.com/operators/scripts/internal/audit"
)

type exchange struct {
	audit.Request
	user string // the sender, if a token names one

	connection *connection
	client     context.Context // ends when the client leaves
	ctx        context.Context // ends with client, or when a fault ends it
	end        context.CancelCauseFunc

	response *http.Response // the server's answer; nil before that
	cut      *cut           // nil, unless a fault will cut this watch
}

type exchangeKey struct{}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()

	x := parse(r, p.keepsWrites())
	x.Received = time.Now()
	x.client, x.connection = r.Context(), connectionOf(r.Context())
	x.ctx, x.end = context.WithCancelCause(context.WithValue(x.client, exchangeKey{}, x))
	defer x.end(nil)
	p.begins(x)
	defer p.ends(x)

	finished := false
	defer func() {
		// A client that gives up on a request keeps its connection.
		if !finished && x.client.Err() == nil {
			x.connection.Close()
		}
	}()
	if rule := p.take(asked, x); rule != nil {
		if rule.holds {
			rule.hit()
		}
		refusal := statusOf(rule.act(x))
		x.Code = refusal.Code
		p.record(x)
		if !rule.holds {
			rule.hit()
		}
		writeStatus(w, refusal)
	} else {
		p.forward.ServeHTTP(w, r.WithContext(x.ctx))
	}
	finished = true
}

// enter counts a handler that begins. It returns false if the proxy is closed.
func (p *Proxy) enter() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.closed {
		p.handlers.Add(1)
	}
	return !p.closed
}

// begins counts a write.
func (p *Proxy) begins(x *exchange) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if isWrite(x.Request) {
		p.writing[x] = struct{}{}
	}
}

// ends is called when a request has ended, even if nothing has answered it.
func (p *Proxy) ends(x *exchange) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.writing, x)
}

// answered is called before the client gets the server's answer. If it returns an error, the client
// gets no answer.
func (p *Proxy) answered(response *http.Response) error {
	x := response.Request.Context().Value(exchangeKey{}).(*exchange)
	x.Code = int32(response.StatusCode)
	if x.IsWrite() && x.Code < 300 && p.keepsWrites() {
		x.ResourceVersion = metadataOf(peek(&response.Body)).ResourceVersion
	}
	p.record(x)
	if x.Code >= 300 {
		return nil
	}
	if rule := p.take(read, x); rule != nil {
		x.response = response
		err := rule.act(x)
		rule.hit()
		return err
	}
	if x.Verb == "watch" {
		if rule := p.take(begun, x); rule != nil {
			rule.act(x)
		}
		response.Body = p.follow(x, response)
		return nil
	}
	rule := p.take(done, x)
	if rule == nil {
		return nil
	}
	err := rule.act(x)
	rule.hit()
	return err
}

func (p *Proxy) record(x *exchange) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	x.Answered = time.Now()
	delete(p.writing, x)
	p.requests = append(p.requests, x.Request)
	for _, do := range p.followers {
		do(x.Request)
	}
}

// KeepWrites keeps the body of each write from now on, and the resourceVersion in its answer.
func (p *Proxy) KeepWrites() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.keeping = true
}

func (p *Proxy) keepsWrites() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.keeping
}

// Follow calls do with each Request from now on. do must return soon, and must not call the Proxy.
func (p *Proxy) Follow(do func(audit.Request)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.followers = append(p.followers, do)
}

// Requests returns all requests that the server or a fault has answered, in the order of their
// answers. A watch counts as answered when it begins. A request is included before its client gets
// the answer.
func (p *Proxy) Requests() []audit.Request {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.requests)
}

// Writes returns the Requests that could change something, without Leases and Events.
func (p *Proxy) Writes() []audit.Request {
	return slices.DeleteFunc(p.Requests(), func(r audit.Request) bool { return !isWrite(r) })
}

// Writing returns how many writes are on their way: the API server may have stored them already, but
// they aren't among the Requests yet. Leases and Events don't count.
func (p *Proxy) Writing() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.writing)
}
