// Rules: what is to happen to requests that are yet to come.

package faultproxy

import "slices"

// moment is the point in a request's way at which a rule acts.
type moment int

const (
	asked moment = iota // the request has come; act returns what to answer in the server's stead
	done                // the server has done it; an error of act keeps its answer from the client
	begun               // the server has accepted a watch
)

// rule is a fault that waits for its requests.
type rule struct {
	*Fault
	at      moment
	matches []Match
	skip    int // so many pass first
	left    int // so many are hit; negative: no end
	act     func(*exchange) error
}

// forever is for rules that act until they are stopped.
const forever = -1

// enforce puts rules in force until they are used up or the fault is stopped. All are of one fault.
func (p *Proxy) enforce(fault *Fault, rules ...*rule) *Fault {
	fault.stop = func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.rules = slices.DeleteFunc(p.rules, func(r *rule) bool { return r.Fault == fault })
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, rule := range rules {
		rule.Fault = fault
		if rule.left != 0 {
			p.rules = append(p.rules, rule)
		}
	}
	return fault
}

// take returns the rule that is to act on a request at this moment, and counts it off; nil if there is none. The rule that
// was made first goes first.
func (p *Proxy) take(at moment, x *exchange) *rule {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for i, rule := range p.rules {
		switch {
		case rule.at != at || !matchesAll(x.Request, rule.matches):
		case rule.skip > 0:
			rule.skip--
		default:
			if rule.left--; rule.left == 0 {
				p.rules = slices.Delete(p.rules, i, i+1)
			}
			return rule
		}
	}
	return nil
}

// doom is what awaits a watch: it is cut in place of the event that comes after so many others; at once, if that is 0.
type doom struct {
	*Fault
	after int
}
