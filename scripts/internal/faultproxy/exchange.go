// The way of one request: it is read, it meets the rules that are in force, it goes to the server,
// the answer meets the rules as well, and the client gets it. Whatever ends midway is cut as a
// dying server cuts it: with its connection.

package faultproxy

import (
	"context"
	"net/http"
	"slices"

	"example.com/operators/scripts/internal/audit"
)

type exchange struct {
	audit.Request
	user string // the sender, if a token names one

	connection *connection
	client     context.Context // ends when the client leaves
	ctx        context.Context // ends then, and when a fault wants it to
	end        context.CancelCauseFunc

	doom *doom // of a watch that is not to last
}

type exchangeKey struct{}

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()

	x := parse(r)
	x.client, x.connection = r.Context(), connectionOf(r.Context())
	x.ctx, x.end = context.WithCancelCause(context.WithValue(x.client, exchangeKey{}, x))
	defer x.end(nil)

	finished := false
	defer func() {
		// A client that gives up a request keeps its connection.
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

// enter counts a handler that begins. It returns false when the proxy is closed.
func (p *Proxy) enter() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.closed {
		p.handlers.Add(1)
	}
	return !p.closed
}

// answered is called before the client gets the server's answer. An error keeps it from the client.
func (p *Proxy) answered(response *http.Response) error {
	x := response.Request.Context().Value(exchangeKey{}).(*exchange)
	x.Code = int32(response.StatusCode)
	p.record(x)
	if x.Code >= 300 {
		return nil
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
	p.requests = append(p.requests, x.Request)
	for _, do := range p.followers {
		do(x.Request)
	}
}

// Follow calls do with each of the coming Requests. It must return soon, and not call the Proxy.
func (p *Proxy) Follow(do func(audit.Request)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.followers = append(p.followers, do)
}

// Requests returns all requests so far that were answered, by the server or by a fault, in the
// order of the answers: a watch counts when it begins. A request is there before the client gets
// its answer.
func (p *Proxy) Requests() []audit.Request {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.requests)
}

// Writes returns those of the Requests that could change something, without Leases and Events.
func (p *Proxy) Writes() []audit.Request {
	return slices.DeleteFunc(p.Requests(), func(r audit.Request) bool { return !isWrite(r) })
}
