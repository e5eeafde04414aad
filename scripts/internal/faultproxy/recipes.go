// The faults by name, for who picks one from a list.

package faultproxy

import "net/http"

// Recipe is a fault that needs nothing but its name. F3, F5 and F7 are for those to make who run the API server and the
// program; AfterWrite helps with F5.
type Recipe struct {
	Name  string
	Does  string
	Apply func(*Proxy) *Fault
}

// Recipes returns all of them.
func Recipes() []Recipe {
	return []Recipe{
		{"F1", "every watch connection is cut, and each that follows after one event", func(p *Proxy) *Fault { return p.KeepCutting(1) }},
		{"F2a", "every watch ends, and the next is answered 410 Gone", func(p *Proxy) *Fault { return p.GoneAsResponse() }},
		{"F2b", "every watch gets an ERROR event, 410 Gone", func(p *Proxy) *Fault { return p.GoneAsEvent() }},
		{"F4a", "the next 3 writes are answered 500", func(p *Proxy) *Fault {
			return p.FailWrites(3, http.StatusInternalServerError)
		}},
		{"F4b", "the next 3 writes are answered 429, come back in a second", func(p *Proxy) *Fault {
			return p.FailWrites(3, http.StatusTooManyRequests)
		}},
		{"F4c", "the next 3 writes are answered 409 Conflict", func(p *Proxy) *Fault {
			return p.FailWrites(3, http.StatusConflict)
		}},
		{"F6a", "the connection is frozen: open, and no byte goes through", func(p *Proxy) *Fault { return p.Freeze() }},
		{"F6b", "the watches are silent: the connection lives, and no event comes", func(p *Proxy) *Fault { return p.Silence() }},
		{"F8", "Deployments are forbidden", func(p *Proxy) *Fault { return p.Forbid(Resource("deployments")) }},
	}
}
