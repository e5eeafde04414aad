package judge

// What the operator has sent.

import (
	"slices"
	"time"

	"example.com/operators/scripts/internal/audit"
)

// since returns the operator's requests that were answered after that time and that each of include
// accepts, in the order of their answers.
func (s *scenario) since(when time.Time, include ...func(audit.Request) bool) (requests []audit.Request) {
	for _, r := range s.replicas {
		requests = append(requests, r.since(when, include...)...)
	}
	slices.SortStableFunc(requests, inOrder)
	return requests
}

// requests returns all of them.
func (s *scenario) requests() []audit.Request { return s.since(time.Time{}) }

// writes returns the operator's writes after that time.
func (s *scenario) writes(after time.Time) []audit.Request {
	return s.since(after, audit.Request.ChangesObjects)
}

// since returns those of one replica.
func (r *replica) since(when time.Time, include ...func(audit.Request) bool) []audit.Request {
	return slices.DeleteFunc(r.Proxy.Requests(), func(request audit.Request) bool {
		isLeftOut := func(accepts func(audit.Request) bool) bool { return !accepts(request) }
		return !request.Answered.After(when) || slices.ContainsFunc(include, isLeftOut)
	})
}

// writes returns those of one replica.
func (r *replica) writes(after time.Time) []audit.Request {
	return r.since(after, audit.Request.ChangesObjects)
}

// inOrder compares requests by the time of their answers.
func inOrder(a, b audit.Request) int { return a.Answered.Compare(b.Answered) }
