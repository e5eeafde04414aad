package judge

// What the operator has sent.

import (
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/audit"
)

// requests returns all requests of the operator, in the order of their answers.
func (s *scenario) requests() (requests []audit.Request) {
	for _, r := range s.replicas {
		requests = append(requests, r.Proxy.Requests()...)
	}
	slices.SortStableFunc(requests, inOrder)
	return requests
}

// inOrder compares requests by the time of their answers.
func inOrder(a, b audit.Request) int { return a.Answered.Compare(b.Answered) }

// since returns the requests that were answered after that time and that include accepts.
func (s *scenario) since(when time.Time, include func(audit.Request) bool) []audit.Request {
	return answeredAfter(when, s.requests(), include)
}

// everyRequest accepts all.
func everyRequest(audit.Request) bool { return true }

// writes returns the operator's writes after that time.
func (s *scenario) writes(after time.Time) []audit.Request {
	return s.since(after, audit.Request.ChangesObjects)
}

// writes returns those of one replica.
func (r *running) writes(after time.Time) []audit.Request {
	return answeredAfter(after, r.Proxy.Requests(), audit.Request.ChangesObjects)
}

func answeredAfter(when time.Time, requests []audit.Request, include func(audit.Request) bool) []audit.Request {
	return slices.DeleteFunc(requests, func(r audit.Request) bool { return !r.Answered.After(when) || !include(r) })
}

// withoutSubresource returns foos for foos/status.
func withoutSubresource(resource string) string {
	resource, _, _ = strings.Cut(resource, "/")
	return resource
}
