package judge

// What the operator has sent, also as evidence of a finding.

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/operators/scripts/internal/audit"
)

// since returns the operator's requests that were answered after that time and that each of include
// accepts, in the order of their answers.
func (s *scenario) since(when time.Time, include ...func(audit.Request) bool) (requests []audit.Request) {
	for _, r := range s.replicas {
		requests = append(requests, r.since(when, include...)...)
	}
	slices.SortStableFunc(requests, func(a, b audit.Request) int { return a.Answered.Compare(b.Answered) })
	return requests
}

// requests returns all of them.
func (s *scenario) requests() []audit.Request { return s.since(time.Time{}) }

// writes returns the operator's writes after that time.
func (s *scenario) writes(after time.Time) []audit.Request {
	return s.since(after, audit.Request.ChangesObjects)
}

// since returns those of one replica. Requests about the namespaces of other checks are left out: an
// operator that acts on all namespaces may still be busy there.
func (r *replica) since(when time.Time, include ...func(audit.Request) bool) []audit.Request {
	return slices.DeleteFunc(r.Proxy.Requests(), func(request audit.Request) bool {
		isLeftOut := func(accepts func(audit.Request) bool) bool { return !accepts(request) }
		return r.scenario.isAnothers(request.Namespace) || !request.Answered.After(when) || slices.ContainsFunc(include, isLeftOut)
	})
}

// writes returns those of one replica.
func (r *replica) writes(after time.Time) []audit.Request {
	return r.since(after, audit.Request.ChangesObjects)
}

// broken is a finding about an object, whose evidence is what has happened since began.
func (s *scenario) broken(began time.Time, object *unstructured.Unstructured, format string, args ...any) {
	s.found(Error, s.evidence(began, object), format, args...)
}

// evidence is what the operator has written since then, requests about this object first, and the
// object as it is.
func (s *scenario) evidence(since time.Time, object *unstructured.Unstructured) (evidence []Evidence) {
	requests := s.writes(since)
	slices.SortStableFunc(requests, func(x, y audit.Request) int { return s.distance(x, object) - s.distance(y, object) })
	if evidence = asEvidence(requests); len(requests) == 0 {
		evidence = []Evidence{noted("the operator has written nothing since then")}
	}
	return slices.Concat(evidence, s.present(object), s.crashes())
}

// present is an object as it is, or nothing if it is gone.
func (s *scenario) present(object *unstructured.Unstructured) []Evidence {
	if now := s.history.now(object); now != nil {
		return []Evidence{{time.Now(), title(now) + " now", asYAML(now)}}
	}
	return nil
}

// distance is 0 for a request about the object, and 1 for others.
func (s *scenario) distance(r audit.Request, object *unstructured.Unstructured) int {
	if r.Name == object.GetName() && r.GroupResource() == s.mapping(object).Resource.GroupResource() {
		return 0
	}
	return 1
}

// watches returns nil if the replica has begun a watch of samples after that time.
func (s *scenario) watches(r *replica, when time.Time) error {
	isNewWatch := func(r audit.Request) bool {
		isWatch := r.Verb == "watch" && r.Code < 300
		return isWatch && slices.Contains(names(s.ofSamples), r.Resource) && r.Received.After(when)
	}
	if !slices.ContainsFunc(r.Proxy.Requests(), isNewWatch) {
		return fmt.Errorf("the operator doesn't watch %s again", s.ofSamples[0].Resource)
	}
	return nil
}

// names are the names of resources, such as deployments.
func names(resources []schema.GroupVersionResource) (names []string) {
	for _, resource := range resources {
		names = append(names, resource.Resource)
	}
	return names
}

// An operator loops if it sends more than loop requests per second. On a slow machine it gets fewer
// answers, so it also loops if it never pauses for this long. One that retries with a backoff does.
const (
	loop  = 10
	pause = time.Second / 2
)

// longestPause returns the longest time between two of these things: the start, the answer to a
// request, and the end. The requests are in the order of their answers.
func longestPause(start time.Time, requests []audit.Request, end time.Time) (longest time.Duration) {
	for _, request := range requests {
		longest = max(longest, request.Answered.Sub(start))
		start = request.Answered
	}
	return max(longest, end.Sub(start))
}
