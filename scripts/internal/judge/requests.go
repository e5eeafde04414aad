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
	return slices.DeleteFunc(s.requests(), func(r audit.Request) bool { return !r.Answered.After(when) || !include(r) })
}

// writes returns the operator's writes after that time, without Leases, Events, and reviews, which
// store nothing.
func (s *scenario) writes(after time.Time) []audit.Request { return s.since(after, changesObjects) }

func changesObjects(r audit.Request) bool {
	switch r.Group {
	case "authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io":
		return false
	}
	return r.IsWrite() && r.Resource != "events"
}

// withoutSubresource returns foos for foos/status.
func withoutSubresource(resource string) string {
	resource, _, _ = strings.Cut(resource, "/")
	return resource
}
