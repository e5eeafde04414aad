package faultproxy

// One request's way through the proxy: the proxy parses it, applies the rules that are in force,
// sends it to the server, applies rules to the answer, and passes that on. If anything fails
// midway, the proxy closes the connection, as a server that dies does.

import (
	"context"
	"net/http"
	"slices"
	"time"

	"example.com/operators/scripts/internal/audit"
)

type exchange struct {
	audit.Request

	connection *connection
	ctx        context.Context // ends when the client leaves, or when a fault ends it
	end        context.CancelCauseFunc

	response *http.Response // the server's answer; nil before that
}

type exchangeKey struct{}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	x := parse(r)
	if !p.begin(x) {
		panic(http.ErrAbortHandler)
	}
	defer p.finish(x)
	x.Received = time.Now()
	x.connection = connectionOf(r.Context())
	x.ctx, x.end = context.WithCancelCause(context.WithValue(r.Context(), exchangeKey{}, x))
	defer x.end(nil)

	finished := false
	defer func() {
		// A client that gives up on a request keeps its connection.
		if !finished && r.Context().Err() == nil {
			x.connection.Close()
		}
	}()
	if rule := p.take(asked, x); rule != nil {
		refusal := statusOf(rule.act(x))
		x.Code = refusal.Code
		p.record(x)
		writeStatus(w, refusal)
	} else {
		p.forward.ServeHTTP(w, r.WithContext(x.ctx))
	}
	finished = true
}

// begin counts a handler that begins, and a write. It returns false if the proxy is closed.
func (p *Proxy) begin(x *exchange) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return false
	}
	p.handlers.Add(1)
	if x.ChangesObjects() {
		p.writing[x] = struct{}{}
	}
	return true
}

// finish is called when a request has ended, even if nothing has answered it.
func (p *Proxy) finish(x *exchange) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.writing, x)
	p.handlers.Done()
}

// answered is called before the client gets the server's answer. If it returns an error, the client
// gets no answer.
func (p *Proxy) answered(response *http.Response) error {
	x := response.Request.Context().Value(exchangeKey{}).(*exchange)
	x.response = response
	x.Code = int32(response.StatusCode)
	if x.IsWrite() && x.Code < 300 {
		x.ResourceVersion = metadataOf(peek(&response.Body)).ResourceVersion
	}
	p.record(x)
	if x.Code >= 300 {
		return nil
	}
	if rule := p.take(answered, x); rule != nil {
		if err := rule.act(x); err != nil {
			return err
		}
	}
	if x.Verb == "watch" {
		response.Body = p.follow(x)
	}
	return nil
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

// Writing returns how many writes are on their way: the API server may have stored them already, but
// they aren't among the Requests yet. Leases and Events don't count.
func (p *Proxy) Writing() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.writing)
}
