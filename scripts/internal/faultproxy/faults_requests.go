// Faults of single requests. Leases and Events are spared.

package faultproxy

import (
	"slices"

	"example.com/operators/scripts/internal/audit"
)

// FailWrites is F4: the next n writes that match are answered with this HTTP status code and don't reach the server. 500,
// 409 and 429 look as the server makes them; 429 asks to come back in a second, which client-go does by itself. Hits:
// answers.
func (p *Proxy) FailWrites(n, code int, matches ...Match) *Fault {
	fault := newFault("FailWrites")
	return p.enforce(fault, &rule{at: asked, matches: writes(matches), left: n, act: func(x *exchange) error {
		return failure(x, code)
	}})
}

// Forbid is F8: requests that match are answered 403, until Stop gives the permission back. As with RBAC, a watch that is
// open stays so, and a subresource is a resource of its own. Hits: answers.
func (p *Proxy) Forbid(matches ...Match) *Fault {
	fault := newFault("Forbid")
	return p.enforce(fault, &rule{at: asked, matches: but(spared, matches), left: forever, act: forbidden})
}

// AfterWrite calls do once, after the k-th write from now that matches: the server has done it, and the client learns of it
// when do returns, which it must. It is for F5, where do kills the program between two of its writes. Writes that the server
// refuses don't count. Hits: 1, when do has returned.
func (p *Proxy) AfterWrite(k int, do func(audit.Request), matches ...Match) *Fault {
	fault := newFault("AfterWrite")
	return p.enforce(fault, &rule{at: done, matches: writes(matches), skip: k - 1, left: 1, act: func(x *exchange) error {
		do(x.Request)
		return nil
	}})
}

// writes narrows a fault down to writes.
func writes(matches []Match) []Match { return slices.Concat(matches, []Match{isWrite}) }

// but narrows a fault down to what isn't so.
func but(so Match, matches []Match) []Match {
	return slices.Concat(matches, []Match{func(r audit.Request) bool { return !so(r) }})
}
